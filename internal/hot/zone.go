package hot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Place is what an availability zone is asked for: a VNFC of a VDU by its number, or with
// the number -1 all of them at once, as in a group, whose members are alike.
type Place struct {
	VDUID  string
	Number int
}

// AllVNFCs is the number of a place that is all VNFCs of a VDU.
const AllVNFCs = -1

// String is the name of the VNFC in the stack, or of the VDU.
func (p Place) String() string {
	if p.Number == AllVNFCs {
		return p.VDUID
	}
	return numbered(p.VDUID, p.Number)
}

// MarshalText implements encoding.TextMarshaler.
func (p Place) MarshalText() ([]byte, error) {
	return []byte(p.VDUID + "/" + strconv.Itoa(p.Number)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Place) UnmarshalText(text []byte) error {
	i := strings.LastIndexByte(string(text), '/')
	if i < 0 {
		return fmt.Errorf("reading a place of servers: %q has no number", text)
	}
	number, err := strconv.Atoi(string(text[i+1:]))
	if err != nil {
		return fmt.Errorf("reading a place of servers: %w", err)
	}
	p.VDUID, p.Number = string(text[:i]), number
	return nil
}

// Zone is the availability zone of a place.
type Zone struct {
	// Name is empty where the choice is Nova's.
	Name string
	// Fixed says that the request gives it below nfv, and Secret that it does so in secret.
	Fixed, Secret bool
}

func asksZone(l *leaf) bool {
	return l.section() == "VDU" && (l.key() == "locationConstraints" || l.key() == "zone")
}

// AsksZone reports whether the templates ask for the availability zone of a VDU.
func (s *Source) AsksZone(r Request) bool {
	leaves := s.leaves()
	return slices.ContainsFunc(leaves, func(l leaf) bool {
		key, ok := demandKey(r.Flavour, l.name)
		return ok && key.Storage == "" && asksZone(&l)
	})
}

// zoneOf is the zone of the servers of a VDU, or of the one with a number. Heat and Nova take
// an empty one for none.
func (b *builder) zoneOf(key DemandKey, number int) answer {
	if b.offline() || b.r.Zone == nil || key.Storage != "" {
		return answer{value: ""}
	}
	return answer{value: b.r.Zone(Place{key.VDUID, number})}
}

// zones are those of the parameter nfv as it was computed.
func (b *builder) zones(leaves []leaf, computed map[string]any) map[Place]Zone {
	out := map[Place]Zone{}
	for i := range leaves {
		l := &leaves[i]
		key, ok := demandKey(b.r.Flavour, l.name)
		if !ok || key.Storage != "" || !asksZone(l) {
			continue
		}
		var zone Zone
		name, _ := lookUp(computed, l.path)
		zone.Name = textOf(name)
		for _, path := range [][]any{l.path, l.plain().path} {
			_, given := lookUp(b.r.NFV, path)
			_, secret := lookUp(b.r.Secrets[nfv], path)
			zone.Fixed, zone.Secret = zone.Fixed || given, zone.Secret || secret
		}
		out[Place{key.VDUID, l.number}] = zone
	}
	return out
}
