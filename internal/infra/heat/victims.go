package heat

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// leaving are the VNFCs that a scale takes away, by VDU: those that the user names, then
// those that failed already, then the newest. More names than go are an error before
// anything is done; one that is not there has gone already, with a scale that is continued.
func (s *session) leaving(l *live) (map[string][]*component, error) {
	byVDU := map[string][]*component{}
	for _, c := range s.components(l) {
		byVDU[c.vdu] = append(byVDU[c.vdu], c)
	}
	out := map[string][]*component{}
	var problems vnfm.Problems
	for _, id := range slices.Sorted(maps.Keys(byVDU)) {
		all := byVDU[id]
		surplus := len(all) - s.request.Counts[id]
		if surplus <= 0 {
			continue
		}
		named := 0
		rank := func(c *component) int {
			switch {
			case slices.Contains(s.target.ScaleInVNFCIDs, c.id()):
				return 0
			case c.resource.Failed():
				return 1
			default:
				return 2
			}
		}
		for _, c := range all {
			if rank(c) == 0 {
				named++
			}
		}
		if named > surplus {
			problems = append(problems, vnfm.Problem{
				Attribute: "scale_in_vnfc_ids",
				Summary:   fmt.Sprintf("%d VNFCs of VDU %q are named, but the scale-in removes %d", named, id, surplus),
				Detail:    "name at most as many as the scale-in removes",
			})
		}
		slices.Reverse(all)
		slices.SortStableFunc(all, func(a, b *component) int { return rank(a) - rank(b) })
		out[id] = all[:surplus]
	}
	return out, problems.Err()
}

// Leaving implements vnfm.InfraDriver.
func (d *Driver) Leaving(ctx context.Context, t *vnfm.Target) ([]string, error) {
	if t.Part.Empty() {
		return nil, nil
	}
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	stack, err := s.find(ctx)
	if err != nil || stack == nil {
		return nil, err
	}
	l, err := s.readLive(ctx, stack)
	if err != nil {
		return nil, err
	}
	leaving, err := s.leaving(l)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(leaving)) {
		for _, c := range leaving[id] {
			out = append(out, c.id())
		}
	}
	return out, nil
}

// numberOf is the number in the name of a copy.
func numberOf(resource string) (int, bool) {
	_, text, ok := cutLast(resource, "-")
	n := 0
	if _, err := fmt.Sscanf(text, "%d", &n); !ok || err != nil {
		return 0, false
	}
	return n, true
}

// mark has Heat replace the servers that are gone or in ERROR, and take away those of a
// group that leave: a group lets go of what is unhealthy first. A server that Heat knows
// itself to have failed needs no mark.
func (s *session) mark(ctx context.Context, l *live, leaving map[string][]*component) (bool, error) {
	var unhealthy []*component
	for _, c := range s.components(l) {
		grouped := s.source.VDUs[c.vdu].Form == hot.Grouped
		leaves := slices.ContainsFunc(leaving[c.vdu], func(other *component) bool { return other.id() == c.id() })
		switch {
		case c.resource.PhysicalID == "" || c.resource.Failed():
		case leaves && grouped, !leaves && c.broken() != "":
			unhealthy = append(unhealthy, c)
		}
	}
	for _, c := range unhealthy {
		reason := cmp.Or(c.broken(), "it is removed by a scale-in")
		if c.broken() != "" {
			if err := s.freeRoot(ctx, c); err != nil {
				return false, err
			}
		}
		if err := s.replace(ctx, l, c, reason); err != nil {
			return false, err
		}
	}
	lost, err := s.repairLost(ctx, l)
	return lost || len(unhealthy) > 0, err
}

// replace marks a VNFC. The member of a group that it is, or is in, is marked as well: a
// group looks at its members alone.
func (s *session) replace(ctx context.Context, l *live, c *component, reason string) error {
	if err := s.client.MarkUnhealthy(ctx, c.resource, reason); err != nil {
		return err
	}
	if s.source.VDUs[c.vdu].Form != hot.Grouped {
		return nil
	}
	group := l.nested(c.root)
	for r := c.resource; r != nil && group != ""; r = l.holder(r.StackID()) {
		if r.StackID() == group {
			if r == c.resource {
				return nil
			}
			return s.client.MarkUnhealthy(ctx, r, reason)
		}
	}
	return nil
}

// nested is the id of the stack that a resource of the top-level stack is.
func (l *live) nested(root string) string {
	for i := range l.resources {
		if r := &l.resources[i]; r.Name == root && r.StackID() == l.stack.ID {
			return r.PhysicalID
		}
	}
	return ""
}

// broken says what is wrong with a VNFC; empty when nothing is that a replacement cures.
func (c *component) broken() string {
	switch {
	case c.resource.PhysicalID == "":
		return ""
	case c.server == nil:
		return "its server no longer exists"
	case c.server.Status == openstack.ServerError:
		return "its server is in ERROR"
	default:
		return ""
	}
}
