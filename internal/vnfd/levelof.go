package vnfd

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// maxSearch bounds the combinations of scale levels that LevelOf tries.
const maxSearch = 1_000_000

// LevelOf returns the smallest scale level of the aspect at which the VDUs that
// it scales have the given numbers of instances, and whether there is one. VDUs
// that counts leave out are not looked at. When another aspect scales the same
// VDU, there must be a level of that one too which explains the numbers.
//
// In a VNFD whose policies disagree the numbers depend on the instantiation level
// from which the instance came: the default level is tried first, then the
// formula of initial delta and deltas, then the other levels.
func LevelOf(f *vnfm.Flavour, aspect string, counts map[string]int) (int, bool) {
	if f.Aspect(aspect) == nil {
		return 0, false
	}
	bases := []*vnfm.InstantiationLevel{f.Level(f.DefaultLevelID), nil}
	for i := range f.Levels {
		bases = append(bases, &f.Levels[i])
	}
	s := newSearch(f, aspect, counts)
	if len(s.vdus) == 0 {
		return 0, false
	}
	for i, level := range bases {
		if i == 0 && level == nil {
			continue
		}
		if n, ok := s.run(level); ok {
			return n, true
		}
	}
	return 0, false
}

// search looks for scale levels of the aspects that share VDUs.
type search struct {
	f *vnfm.Flavour
	// aspects starts with the one that is asked for.
	aspects []*vnfm.ScalingAspect
	vdus    []*vnfm.VDU
	counts  map[string]int
	tries   int
}

// newSearch collects the VDUs with known counts that the aspect scales, and the
// aspects and VDUs that hang together with them.
func newSearch(f *vnfm.Flavour, aspect string, counts map[string]int) *search {
	s := &search{f: f, counts: counts, aspects: []*vnfm.ScalingAspect{f.Aspect(aspect)}}
	for i := 0; i < len(s.aspects); i++ {
		for j := range f.VDUs {
			v := &f.VDUs[j]
			if _, known := counts[v.ID]; !known || slices.Contains(s.vdus, v) || !scales(s.aspects[i], v.ID) {
				continue
			}
			s.vdus = append(s.vdus, v)
			for k := range f.Aspects {
				if a := &f.Aspects[k]; scales(a, v.ID) && !slices.Contains(s.aspects, a) {
					s.aspects = append(s.aspects, a)
				}
			}
		}
	}
	return s
}

// scales tells whether the aspect changes the number of instances of the VDU.
func scales(a *vnfm.ScalingAspect, vdu string) bool {
	return slices.ContainsFunc(a.StepDeltas, func(d string) bool { return a.Deltas[d][vdu] > 0 })
}

func (s *search) run(level *vnfm.InstantiationLevel) (int, bool) {
	left := make([]int, len(s.vdus))
	for i, v := range s.vdus {
		if left[i] = s.counts[v.ID] - baseOf(s.f, v, level); left[i] < 0 {
			return 0, false
		}
	}
	return s.step(0, left)
}

// step tries the levels of the i-th aspect upwards; left is what the aspects from
// there on must still add to each VDU. It returns the level of the i-th aspect.
func (s *search) step(i int, left []int) (int, bool) {
	if i == len(s.aspects) {
		return 0, !slices.ContainsFunc(left, func(n int) bool { return n != 0 })
	}
	a := s.aspects[i]
	left = slices.Clone(left)
	for n := 0; ; n++ {
		if s.tries++; s.tries > maxSearch {
			return 0, false
		}
		if _, ok := s.step(i+1, left); ok {
			return n, true
		}
		if n >= a.MaxLevel {
			return 0, false
		}
		for j, v := range s.vdus {
			if left[j] -= delta(a, v.ID, n); left[j] < 0 {
				return 0, false
			}
		}
	}
}
