package vnfd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Names of the arguments that Counts and scaleStatus find fault with.
const (
	attrScaleLevels = "scale_levels"
	attrLevelID     = "instantiation_level_id"
)

// scaleStatus returns the scale level of each aspect: scale_info of the
// instantiation level (0 for an aspect that it leaves out) with scale merged over
// it. An empty levelID stands for the flavour's default level.
func scaleStatus(f *vnfm.Flavour, levelID string, scale map[string]int) (map[string]int, vnfm.Problems) {
	level, problems := levelOrDefault(f, levelID)
	status := make(map[string]int, len(f.Aspects))
	highest := make(map[string]int, len(f.Aspects))
	for i := range f.Aspects {
		a := &f.Aspects[i]
		highest[a.ID], status[a.ID] = a.MaxLevel, 0
		if level != nil {
			status[a.ID] = level.ScaleInfo[a.ID]
		}
	}
	for _, id := range slices.Sorted(maps.Keys(scale)) {
		most, known := highest[id]
		if !known {
			problems = append(problems, vnfm.Problem{
				Attribute: attrScaleLevels, Key: id,
				Summary: fmt.Sprintf("the deployment flavour %q has no scaling aspect %q", f.ID, id),
				Detail:  "it has " + quoted(f.AspectIDs()),
			})
			continue
		}
		if n := scale[id]; n < 0 || n > most {
			problems = append(problems, vnfm.Problem{
				Attribute: attrScaleLevels, Key: id,
				Summary: fmt.Sprintf("the scale level %d of the aspect %q is out of range", n, id),
				Detail:  fmt.Sprintf("it goes from 0 to %d", most),
			})
			continue
		}
		status[id] = scale[id]
	}
	return status, problems
}

// Counts returns the number of VNFCs of each VDU at an instantiation level with
// scale levels merged over it. An empty levelID stands for the flavour's default level.
//
// N is the count that a VduInstantiationLevels policy gives the VDU at the level,
// plus the deltas between the level's scale_info and the wanted scale levels.
// Without such a count N is the formula of SOL001: the initial delta plus the
// deltas from 0 to the wanted scale levels; a VDU without an initial delta starts
// from min_number_of_instances.
//
// An unknown level or aspect, a scale level out of range, and a count outside
// vdu_profile are errors; the counts are returned all the same.
func Counts(f *vnfm.Flavour, levelID string, scale map[string]int) (map[string]int, vnfm.Problems) {
	status, problems := scaleStatus(f, levelID, scale)
	counts, more := countsAt(f, levelID, status, len(scale) > 0)
	return counts, append(problems, more...)
}

// Scaled returns what scaleStatus does and, where that finds no fault, what Counts does.
func Scaled(f *vnfm.Flavour, levelID string, scale map[string]int) (status, counts map[string]int, problems vnfm.Problems) {
	if status, problems = scaleStatus(f, levelID, scale); problems.HasErrors() {
		return status, nil, problems
	}
	counts, problems = countsAt(f, levelID, status, len(scale) > 0)
	return status, counts, problems
}

// countsAt are the counts at scale levels, which are given or those of the instantiation level.
func countsAt(f *vnfm.Flavour, levelID string, status map[string]int, given bool) (map[string]int, vnfm.Problems) {
	var problems vnfm.Problems
	level, _ := levelOrDefault(f, levelID)
	counts := make(map[string]int, len(f.VDUs))
	for i := range f.VDUs {
		v := &f.VDUs[i]
		n := baseOf(f, v, level)
		for j := range f.Aspects {
			a := &f.Aspects[j]
			n += stepsTo(a, v.ID, status[a.ID])
		}
		counts[v.ID] = n
		if p, bad := outside(v, n); bad {
			p.Attribute = attrScaleLevels
			if !given {
				p.Attribute = attrLevelID
			}
			switch text := levelsText(f, status); {
			case text != "":
				p.Summary += fmt.Sprintf(" at the scale levels %s", text)
			case level != nil:
				p.Summary += fmt.Sprintf(" at the instantiation level %s", level.ID)
			}
			problems = append(problems, p)
		}
	}
	return counts, problems
}

// MaxCounts returns the greatest number of VNFCs that each VDU can have, at any instantiation level and any scale levels, within
// vdu_profile.
func MaxCounts(f *vnfm.Flavour) map[string]int {
	counts := make(map[string]int, len(f.VDUs))
	for i := range f.VDUs {
		v := &f.VDUs[i]
		n := formulaBase(v)
		for j := range f.Levels {
			n = max(n, baseOf(f, v, &f.Levels[j]))
		}
		for j := range f.Aspects {
			n += stepsTo(&f.Aspects[j], v.ID, f.Aspects[j].MaxLevel)
		}
		if v.MaxInstances > 0 {
			n = min(n, v.MaxInstances)
		}
		counts[v.ID] = n
	}
	return counts
}

// outside says when a number of instances is outside vdu_profile.
func outside(v *vnfm.VDU, n int) (vnfm.Problem, bool) {
	switch {
	case n < v.MinInstances:
		return vnfm.Problem{
			Summary: fmt.Sprintf("the VDU %s would have %s", v.ID, instancesText(n)),
			Detail:  fmt.Sprintf("vdu_profile allows %d at least", v.MinInstances),
		}, true
	case v.MaxInstances > 0 && n > v.MaxInstances:
		return vnfm.Problem{
			Summary: fmt.Sprintf("the VDU %s would have %s", v.ID, instancesText(n)),
			Detail:  fmt.Sprintf("vdu_profile allows %d at most", v.MaxInstances),
		}, true
	}
	return vnfm.Problem{}, false
}

func instancesText(n int) string {
	if n == 1 {
		return "1 instance"
	}
	return fmt.Sprintf("%d instances", n)
}

// levelOrDefault returns the level of that id, or the default level for an empty
// one; nil when the flavour has no levels.
func levelOrDefault(f *vnfm.Flavour, id string) (*vnfm.InstantiationLevel, vnfm.Problems) {
	var problems vnfm.Problems
	wanted := id
	id = cmp.Or(id, f.DefaultLevelID)
	if level := f.Level(id); level != nil {
		return level, nil
	}
	switch {
	case wanted != "":
		problems = append(problems, vnfm.Problem{
			Attribute: attrLevelID,
			Summary:   fmt.Sprintf("the deployment flavour %q has no instantiation level %q", f.ID, wanted),
			Detail:    "it has " + quoted(f.LevelIDs()),
		})
	case len(f.Levels) > 0:
		problems = append(problems, vnfm.Problem{
			Attribute: attrLevelID,
			Summary:   fmt.Sprintf("the deployment flavour %q has no default instantiation level", f.ID),
			Detail:    "name one of " + quoted(f.LevelIDs()),
		})
	}
	return nil, problems
}

// delta is the number of instances that the step from scale level i to i+1 adds.
func delta(a *vnfm.ScalingAspect, vdu string, i int) int {
	switch {
	case len(a.StepDeltas) == 0:
		return 0
	case i >= len(a.StepDeltas):
		// Uniform deltas; a list of another length is an error of the VNFD.
		i = len(a.StepDeltas) - 1
	}
	return a.Deltas[a.StepDeltas[i]][vdu]
}

// stepsTo is the sum of the deltas from scale level 0 to the given one.
func stepsTo(a *vnfm.ScalingAspect, vdu string, level int) int {
	n := 0
	listed := min(level, len(a.StepDeltas))
	for i := range listed {
		n += delta(a, vdu, i)
	}
	if level > listed {
		n += (level - listed) * delta(a, vdu, listed)
	}
	return n
}

// formulaBase is the number of instances with all aspects at scale level 0.
func formulaBase(v *vnfm.VDU) int {
	if v.InitialDelta != nil {
		return *v.InitialDelta
	}
	return v.MinInstances
}

// baseOf is what is left of a level's count with all aspects at scale level 0; it
// equals formulaBase in a VNFD whose policies agree.
func baseOf(f *vnfm.Flavour, v *vnfm.VDU, level *vnfm.InstantiationLevel) int {
	if level == nil {
		return formulaBase(v)
	}
	n, given := level.Counts[v.ID]
	if !given {
		return formulaBase(v)
	}
	for i := range f.Aspects {
		a := &f.Aspects[i]
		n -= stepsTo(a, v.ID, level.ScaleInfo[a.ID])
	}
	return n
}

// scales tells whether the aspect changes the number of instances of the VDU.
func scales(a *vnfm.ScalingAspect, vdu string) bool {
	return slices.ContainsFunc(a.StepDeltas, func(d string) bool { return a.Deltas[d][vdu] > 0 })
}
