package vnfd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Check finds what does not fit together in a descriptor. References to nothing,
// lists of step deltas of the wrong length and scale levels out of range are
// errors. Instantiation levels that differ from the formula, or that leave the
// limits of vdu_profile, are warnings: many VNFDs in use are so, and Counts says
// what comes of it. Read and Parse report the same with positions.
func Check(d *vnfm.Descriptor) vnfm.Problems {
	return check(d, nil)
}

func check(d *vnfm.Descriptor, at places) vnfm.Problems {
	c := &checker{at: at}
	for i := range d.Flavours {
		c.f = &d.Flavours[i]
		c.references()
		c.aspects()
		c.levels()
	}
	return c.problems
}

type checker struct {
	f        *vnfm.Flavour
	at       places
	problems vnfm.Problems
}

// add appends a problem that stands at the part of the flavour with these keys.
func (c *checker) add(severity vnfm.Severity, keys []string, detail, format string, args ...any) {
	p := c.at.find(append([]string{"flavour", c.f.ID}, keys...)...)
	c.problems = append(c.problems, vnfm.Problem{
		Severity: severity, File: p.file, Line: p.line, Column: p.column,
		Summary: fmt.Sprintf(format, args...), Detail: detail,
	})
}

func (c *checker) references() {
	f := c.f
	if len(f.VDUs) == 0 {
		c.add(vnfm.SeverityWarning, nil, "", "the deployment flavour %q has no VDU", f.ID)
	}
	storages, links := map[string]bool{}, map[string]bool{}
	for _, s := range f.Storages {
		storages[s.ID] = true
	}
	for _, l := range f.VirtualLinks {
		links[l.ID] = true
	}
	vduList := "the VDUs are " + quoted(vduIDs(f))
	names := map[string]string{}
	for _, v := range f.VDUs {
		for _, s := range v.StorageIDs {
			if !storages[s] {
				c.add(vnfm.SeverityError, []string{"vdu", v.ID, "storage", s}, "", "the VDU %s requires the storage %q, which does not exist", v.ID, s)
			}
		}
		if other, twice := names[v.Name]; twice {
			c.add(vnfm.SeverityWarning, []string{"vdu", v.ID}, "", "the VDUs %s and %s have the same name %q", other, v.ID, v.Name)
		}
		names[v.Name] = v.ID
	}
	for _, cp := range f.ConnectionPoints {
		if cp.VDUID != "" && f.VDU(cp.VDUID) == nil {
			c.add(vnfm.SeverityError, []string{"cp", cp.ID, "vdu"}, vduList, "the connection point %s is bound to %q, which is no VDU", cp.ID, cp.VDUID)
		}
		if cp.VirtualLinkID != "" && !links[cp.VirtualLinkID] {
			c.add(vnfm.SeverityError, []string{"cp", cp.ID, "link"}, "", "the connection point %s requires the virtual link %q, which does not exist", cp.ID, cp.VirtualLinkID)
		}
	}
	for _, a := range f.Aspects {
		for _, d := range slices.Sorted(maps.Keys(a.Deltas)) {
			for _, v := range slices.Sorted(maps.Keys(a.Deltas[d])) {
				if f.VDU(v) == nil {
					c.add(vnfm.SeverityError, []string{"aspect", a.ID, "delta", d, v}, vduList, "the delta %s of the scaling aspect %s targets %q, which is no VDU", d, a.ID, v)
				}
			}
		}
	}
	for _, l := range f.Levels {
		for _, v := range slices.Sorted(maps.Keys(l.Counts)) {
			if f.VDU(v) == nil {
				c.add(vnfm.SeverityError, []string{"level", l.ID, "target", v}, vduList, "the instances at the instantiation level %s are given for %q, which is no VDU", l.ID, v)
			}
		}
	}
}

func (c *checker) aspects() {
	f := c.f
	for i := range f.Aspects {
		a := &f.Aspects[i]
		key := []string{"aspect", a.ID}
		switch n := len(a.StepDeltas); {
		case n == 0:
			c.add(vnfm.SeverityWarning, key, "", "the scaling aspect %s has no step_deltas, so scaling it changes nothing", a.ID)
		case n != 1 && n != a.MaxLevel:
			c.add(vnfm.SeverityError, append(key, "steps"), "give one delta for all steps, or one for each",
				"the scaling aspect %s has %d step_deltas for %d steps", a.ID, n, a.MaxLevel)
		}
		for j, d := range a.StepDeltas {
			if len(a.Deltas[d]) == 0 && !slices.Contains(a.StepDeltas[:j], d) {
				c.add(vnfm.SeverityWarning, append(key, "steps"), "", "no VduScalingAspectDeltas policy gives the delta %s of the scaling aspect %s", d, a.ID)
			}
		}
		for _, d := range slices.Sorted(maps.Keys(a.Deltas)) {
			if !slices.Contains(a.StepDeltas, d) {
				c.add(vnfm.SeverityWarning, append(key, "delta", d), "", "the delta %s is not among the step_deltas of the scaling aspect %s", d, a.ID)
			}
		}
		for j := range f.VDUs {
			v := &f.VDUs[j]
			if !scales(a, v.ID) {
				continue
			}
			if v.InitialDelta == nil {
				c.add(vnfm.SeverityWarning, []string{"vdu", v.ID}, fmt.Sprintf("min_number_of_instances, %d, is taken instead", v.MinInstances),
					"the scaling aspect %s scales the VDU %s, which has no initial delta", a.ID, v.ID)
			}
			if n := formulaBase(v) + stepsTo(a, v.ID, a.MaxLevel); v.MaxInstances > 0 && n > v.MaxInstances {
				c.add(vnfm.SeverityWarning, append(key, "steps"), fmt.Sprintf("vdu_profile allows %d at most", v.MaxInstances),
					"the scaling aspect %s at its highest level %d gives the VDU %s %s", a.ID, a.MaxLevel, v.ID, instancesText(n))
			}
		}
	}
}

func (c *checker) levels() {
	f := c.f
	switch {
	case f.DefaultLevelID != "" && f.Level(f.DefaultLevelID) == nil:
		c.add(vnfm.SeverityError, []string{"default"}, "the levels are "+quoted(levelIDs(f)), "the default level %q does not exist", f.DefaultLevelID)
	case f.DefaultLevelID == "" && len(f.Levels) > 1:
		c.add(vnfm.SeverityWarning, []string{"levels"}, "each instance has to name its level", "the deployment flavour %q has several instantiation levels and no default_level", f.ID)
	}
	for i := range f.Levels {
		level := &f.Levels[i]
		for _, id := range slices.Sorted(maps.Keys(level.ScaleInfo)) {
			key := []string{"level", level.ID, "aspect", id}
			a := f.Aspect(id)
			switch {
			case a == nil && len(f.Aspects) == 0:
				c.add(vnfm.SeverityWarning, key, "", "the instantiation level %s sets the scaling aspect %q, but there is no ScalingAspects policy", level.ID, id)
			case a == nil:
				c.add(vnfm.SeverityError, key, "the aspects are "+quoted(aspectIDs(f)), "the instantiation level %s sets the scaling aspect %q, which does not exist", level.ID, id)
			case level.ScaleInfo[id] > a.MaxLevel:
				c.add(vnfm.SeverityError, key, fmt.Sprintf("its max_scale_level is %d", a.MaxLevel), "the instantiation level %s sets the scaling aspect %s to level %d", level.ID, id, level.ScaleInfo[id])
			}
		}
		for j := range f.VDUs {
			c.levelOfVDU(level, &f.VDUs[j])
		}
	}
}

// levelOfVDU compares the count of a level with the formula and the limits.
func (c *checker) levelOfVDU(level *vnfm.InstantiationLevel, v *vnfm.VDU) {
	key := []string{"level", level.ID, "count", v.ID}
	formula := formulaBase(v)
	for i := range c.f.Aspects {
		formula += stepsTo(&c.f.Aspects[i], v.ID, level.ScaleInfo[c.f.Aspects[i].ID])
	}
	n, given := level.Counts[v.ID]
	if !given {
		n = formula
	}
	if p, bad := outside(v, n); bad {
		c.add(vnfm.SeverityWarning, key, p.Detail, "%s at the instantiation level %s", p.Summary, level.ID)
	}
	if given && v.InitialDelta != nil && n != formula {
		c.add(vnfm.SeverityWarning, key, "the number of VduInstantiationLevels is taken, and scaling starts from it",
			"the VDU %s has %s at the instantiation level %s, but %d by its initial delta and scaling deltas", v.ID, instancesText(n), level.ID, formula)
	}
}
