package heat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// zoning chooses the availability zones of the servers of a stack. A server that is there stays where it is, whatever is asked for: with
// another zone Heat would replace it. A new one goes to the first zone of the request that has a place for it.
type zoning struct {
	// wanted are the zones of the request.
	wanted []string
	// chosen are the zones as far as they were asked for, or were noted with the stack.
	chosen map[hot.Place]string
	// stands are the places that a server has already.
	stands map[hot.Place]bool
	// refused are the zones that had no place for a server, in the order of the tries.
	refused map[hot.Place][]refusal
}

// refusal is what came of a try to make a server in a zone.
type refusal struct{ zone, answer string }

// newZoning starts with the zones of the servers that there are. One that is to be replaced leaves a zone that is not wanted any more.
func newZoning(wanted []string, noted map[hot.Place]string, there []*component) *zoning {
	z := &zoning{wanted: wanted, chosen: map[hot.Place]string{}, stands: map[hot.Place]bool{}, refused: map[hot.Place][]refusal{}}
	for _, c := range there {
		if !c.wasMade() {
			continue
		}
		places := []hot.Place{{VDUID: c.vdu, Number: hot.AllVNFCs}}
		if n, ok := numberOf(c.root); ok {
			places = append(places, hot.Place{VDUID: c.vdu, Number: n})
		}
		for _, p := range places {
			z.stands[p], z.chosen[p] = true, noted[p]
			moves := p.Number != hot.AllVNFCs && (c.resource.Failed() || c.broken() != "")
			if moves && len(wanted) > 0 && !slices.Contains(wanted, noted[p]) {
				delete(z.chosen, p)
			}
		}
	}
	return z
}

// createFailed is the status of a resource that Heat could not make.
const createFailed = "CREATE_FAILED"

// wasMade reports whether Nova has, or had, a server that came up.
func (c *component) wasMade() bool {
	if c.resource.PhysicalID == "" {
		return false
	}
	return c.resource.Status != createFailed || c.server != nil && c.server.Status != openstack.ServerError
}

// of is the zone of a place.
func (z *zoning) of(p hot.Place) string {
	zone, ok := z.chosen[p]
	if !ok && len(z.wanted) > 0 {
		zone = z.wanted[0]
	}
	z.chosen[p] = zone
	return zone
}

// noteOf are the zones to be noted with a stack. A secret is not among them.
func noteOf(zones map[hot.Place]hot.Zone) map[hot.Place]string {
	out := map[hot.Place]string{}
	for p, zone := range zones {
		if !zone.Secret {
			out[p] = zone.Name
		}
	}
	return out
}

// shortage is a server for which there was no place.
type shortage struct {
	vdu    string
	number int
	answer string
}

// noPlace are the words of Nova for a server that it has no place for: of its scheduler, of its conductor when all hosts have tried, and
// of its API for a zone that is not there.
var noPlace = lazyregexp.New(`No valid host was found|Exceeded maximum number of retries|requested availability zone is not available`)

// faultMessage is the fault of a server as Heat repeats it.
var faultMessage = lazyregexp.New(`Message: (.*?)[\s.,]*, Code: `)

// answerIn is what Nova said, without the words of Heat around it.
func answerIn(reason string) string {
	if found := faultMessage.FindStringSubmatch(reason); found != nil {
		return found[1]
	}
	if i := strings.Index(reason, "The requested availability zone"); i >= 0 {
		answer, _, _ := strings.Cut(reason[i:], " (HTTP ")
		return answer
	}
	return strings.TrimRight(reason, " .")
}

// shortages are the servers that Heat could not make for want of a place. A server that runs and finds none for a new size is not among
// them: it runs on.
func (s *session) shortages(err error) []shortage {
	var failed *stackError
	if !errors.As(err, &failed) {
		return nil
	}
	var out []shortage
	for _, c := range s.components(&live{stack: failed.stack, resources: failed.resources}) {
		r := c.resource
		if r.Status != createFailed || !noPlace.MatchString(r.Reason) || !slices.Contains(failed.culprits, r) {
			continue
		}
		short := shortage{vdu: c.vdu, number: hot.AllVNFCs, answer: answerIn(r.Reason)}
		if n, ok := numberOf(c.root); ok {
			short.number = n
		}
		out = append(out, short)
	}
	return out
}

// next moves the servers without a place to the next zone that they have not tried, and says in a line what it has moved. It moves none when
// one of them has no zone left, and none to which the template or the request gives a zone.
func (z *zoning) next(asked map[hot.Place]hot.Zone, short []shortage) string {
	if z == nil || len(z.wanted) == 0 {
		return ""
	}
	var lines []string
	spent, seen, next := false, map[hot.Place]bool{}, map[hot.Place]string{}
	for _, one := range short {
		p := hot.Place{VDUID: one.vdu, Number: one.number}
		if _, own := asked[p]; !own {
			p.Number = hot.AllVNFCs
		}
		if zone, asks := asked[p]; !asks || zone.Fixed || seen[p] {
			continue
		}
		seen[p] = true
		from := z.chosen[p]
		if !z.tried(p, from) {
			z.refused[p] = append(z.refused[p], refusal{from, one.answer})
		}
		at := slices.IndexFunc(z.wanted, func(zone string) bool { return !z.tried(p, zone) })
		if at < 0 || p.Number == hot.AllVNFCs && z.stands[p] {
			spent = true
			continue
		}
		next[p] = z.wanted[at]
		lines = append(lines, fmt.Sprintf("%s goes to %s, since %s has no place for it", p, zoneText(next[p]), zoneText(from)))
	}
	if spent {
		return ""
	}
	maps.Copy(z.chosen, next)
	return strings.Join(lines, "; ")
}

func (z *zoning) tried(p hot.Place, zone string) bool {
	return slices.ContainsFunc(z.refused[p], func(r refusal) bool { return r.zone == zone })
}

func zoneText(zone string) string {
	if zone == "" {
		return "the zone that Nova chooses"
	}
	return "availability zone " + strconv.Quote(zone)
}

// explained adds to an error which zones had no place for which servers, and what each of them answered.
func (z *zoning) explained(err error) error {
	if z == nil || len(z.refused) == 0 {
		return err
	}
	var lines []string
	advice := ""
	for _, p := range z.places() {
		left := slices.ContainsFunc(z.wanted, func(zone string) bool { return !z.tried(p, zone) })
		switch {
		case p.Number == hot.AllVNFCs && z.stands[p]:
			lines = append(lines, fmt.Sprintf("a new VNFC of VDU %s found no place in the availability zone that all VNFCs of the VDU share: %s", p, z.answers(p)))
			advice = "free capacity there, and apply again"
		case left && z.tried(p, z.chosen[p]):
			lines = append(lines, fmt.Sprintf("%s found no place yet: %s", p, z.answers(p)))
		case !left && z.tried(p, z.chosen[p]):
			lines = append(lines, fmt.Sprintf("%s found no place in any of its availability zones: %s", p, z.answers(p)))
			advice = fmt.Sprintf("free capacity there or add a zone to %s, and apply again", vnfm.AttributeZones)
		default:
			lines = append(lines, fmt.Sprintf("%s went to %s: %s", p, zoneText(z.chosen[p]), z.answers(p)))
		}
	}
	if advice != "" {
		lines = append(lines, advice)
	}
	return fmt.Errorf("%w\n%s", err, strings.Join(lines, "\n"))
}

// answers are what the zones said that had no place for a server.
func (z *zoning) answers(p hot.Place) string {
	var out []string
	for _, r := range z.refused[p] {
		out = append(out, fmt.Sprintf("%s answered %q", zoneText(r.zone), r.answer))
	}
	return strings.Join(out, ", ")
}

func (z *zoning) places() []hot.Place {
	return slices.SortedFunc(maps.Keys(z.refused), func(a, b hot.Place) int { return strings.Compare(a.String(), b.String()) })
}

// moves are lines for the user, one for each server that is not in the zone that was tried first.
func (z *zoning) moves() []string {
	var out []string
	for _, p := range z.places() {
		out = append(out, fmt.Sprintf("%s is in %s: %s", p, zoneText(z.chosen[p]), z.answers(p)))
	}
	return out
}

// warnOfMoves tells, once for all that an operation has moved, in which zones the servers are.
func (s *session) warnOfMoves() {
	if len(s.moves) == 0 || s.target.Warn == nil {
		return
	}
	var names []string
	for _, line := range s.moves {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	s.target.Warn(vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeZones,
		Summary: fmt.Sprintf("VNFCs of %q went to another availability zone: %s", s.target.Instance.Name, strings.Join(names, ", ")),
		Detail:  strings.Join(s.moves, "\n") + "\nThey stay there",
	})
}

// checkZones finds zones of the request that Nova does not have. Who may not list them learns it from the apply.
func (s *session) checkZones(ctx context.Context) (ps vnfm.Problems, _ error) {
	if len(s.target.AvailabilityZones) == 0 {
		return nil, nil
	}
	zones, err := s.client.AvailabilityZones(ctx)
	if openstack.IsForbidden(err) || openstack.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(zones))
	for _, zone := range zones {
		names = append(names, zone.Name)
	}
	for i, name := range s.target.AvailabilityZones {
		p := vnfm.Problem{Attribute: fmt.Sprintf("%s.%d", vnfm.AttributeZones, i)}
		switch at := slices.Index(names, name); {
		case at < 0:
			p.Summary = fmt.Sprintf("VIM %q has no availability zone %q", s.target.VIM.Name, name)
			p.Detail = "its zones are " + vnfm.QuotedNames(names)
			if like := vnfm.Nearest(name, names); like != "" {
				p.Detail = fmt.Sprintf("did you mean %q? %s", like, p.Detail)
			}
		case !zones[at].State.Available:
			p.Severity = vnfm.SeverityWarning
			p.Summary = fmt.Sprintf("availability zone %q of VIM %q is not available at present", name, s.target.VIM.Name)
			p.Detail = "new servers go to the next zone of the list"
		default:
			continue
		}
		ps = append(ps, p)
	}
	return ps, nil
}
