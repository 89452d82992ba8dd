package vnfd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// check finds what does not fit together in a descriptor. References to nothing,
// lists of step deltas of the wrong length and scale levels out of range are
// errors. Instantiation levels that differ from the formula, or that leave the
// limits of vdu_profile, are warnings: many VNFDs in use are so, and Counts says
// what comes of it. It draws from the budget of r, and takes positions from it, unless r is nil.
func check(d *vnfm.Descriptor, r *reader) vnfm.Problems {
	c := &checker{r: r}
	if r != nil {
		c.at = r.places
	}
	for i := range d.Flavours {
		c.f = &indexed{Flavour: &d.Flavours[i]}
		c.problems.During(ruleFlavour, c.references)
		c.problems.During(ruleAspects, c.aspects)
		c.problems.During(ruleLevels, c.levels)
	}
	return c.problems
}

type checker struct {
	r        *reader
	f        *indexed
	at       places
	problems vnfm.Problems
	// by are the aspects that scale each VDU.
	by map[string][]*vnfm.ScalingAspect
}

// steps draws steps of the budget, if there is one.
func (c *checker) steps(n int) {
	if c.r != nil {
		c.r.steps(n)
	}
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
		c.add(vnfm.SeverityWarning, nil, "add one: an instance of the flavour has nothing that runs", "the deployment flavour %q has no VDU", f.ID)
	}
	storages, links := map[string]bool{}, map[string]bool{}
	for _, s := range f.Storages {
		storages[s.ID] = true
	}
	for _, l := range f.VirtualLinks {
		links[l.ID] = true
	}
	vduList := "the VDUs are " + f.vduNames()
	names := map[string]string{}
	for _, v := range f.VDUs {
		for _, s := range v.StorageIDs {
			if !storages[s] {
				c.add(vnfm.SeverityError, []string{"vdu", v.ID, "storage", s}, "name a storage of the flavour", "the VDU %s requires the storage %q, which does not exist", v.ID, s)
			}
		}
		if other, twice := names[v.Name]; twice {
			c.add(vnfm.SeverityWarning, []string{"vdu", v.ID}, "give each its own properties.name", "the VDUs %s and %s have the same name %q", other, v.ID, v.Name)
		}
		names[v.Name] = v.ID
	}
	for _, cp := range f.ConnectionPoints {
		if cp.VDUID != "" && f.VDU(cp.VDUID) == nil {
			//findings:says name one of the VDUs of the flavour
			c.add(vnfm.SeverityError, []string{"cp", cp.ID, "vdu"}, vduList, "the connection point %s is bound to %q, which is not a VDU", cp.ID, cp.VDUID)
		}
		if cp.VirtualLinkID != "" && !links[cp.VirtualLinkID] {
			c.add(vnfm.SeverityError, []string{"cp", cp.ID, "link"}, "name a VnfVirtualLink of the flavour", "the connection point %s requires the virtual link %q, which does not exist", cp.ID, cp.VirtualLinkID)
		}
	}
	for _, a := range f.Aspects {
		for _, d := range slices.Sorted(maps.Keys(a.Deltas)) {
			for _, v := range slices.Sorted(maps.Keys(a.Deltas[d])) {
				if f.VDU(v) == nil {
					//findings:says name one of the VDUs of the flavour
					c.add(vnfm.SeverityError, []string{"aspect", a.ID, "delta", d, v}, vduList, "the delta %s of the scaling aspect %s targets %q, which is not a VDU", d, a.ID, v)
				}
			}
		}
	}
	for _, l := range f.Levels {
		for _, v := range slices.Sorted(maps.Keys(l.Counts)) {
			if f.VDU(v) == nil {
				//findings:says name one of the VDUs of the flavour
				c.add(vnfm.SeverityError, []string{"level", l.ID, "target", v}, vduList, "the instances at the instantiation level %s are given for %q, which is not a VDU", l.ID, v)
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
			c.add(vnfm.SeverityWarning, key, "name its deltas in step_deltas", "the scaling aspect %s has no step_deltas, so scaling it changes nothing", a.ID)
		case n != 1 && n != a.MaxLevel:
			c.add(vnfm.SeverityError, append(key, "steps"), "give one delta for all steps, or one for each",
				"the scaling aspect %s has %d step_deltas for %d steps", a.ID, n, a.MaxLevel)
		}
		for j, d := range a.StepDeltas {
			c.steps(j)
			if len(a.Deltas[d]) == 0 && !slices.Contains(a.StepDeltas[:j], d) {
				c.add(vnfm.SeverityWarning, append(key, "steps"), "add the policy, or the step changes nothing", "no VduScalingAspectDeltas policy gives the delta %s of the scaling aspect %s", d, a.ID)
			}
		}
		for _, d := range slices.Sorted(maps.Keys(a.Deltas)) {
			c.steps(len(a.StepDeltas))
			if !slices.Contains(a.StepDeltas, d) {
				c.add(vnfm.SeverityWarning, append(key, "delta", d), "name it there, or remove it", "the delta %s is not among the step_deltas of the scaling aspect %s", d, a.ID)
			}
		}
		for _, v := range c.scaled(a) {
			c.steps(1 + len(a.StepDeltas))
			if v.InitialDelta == nil {
				c.add(vnfm.SeverityWarning, []string{"vdu", v.ID}, fmt.Sprintf("min_number_of_instances, %d, is used instead", v.MinInstances),
					"the scaling aspect %s scales the VDU %s, which has no initial delta", a.ID, v.ID)
			}
			if n := formulaBase(v) + stepsTo(a, v.ID, a.MaxLevel); v.MaxInstances > 0 && n > v.MaxInstances {
				c.add(vnfm.SeverityWarning, append(key, "steps"), fmt.Sprintf("vdu_profile allows %d at most", v.MaxInstances),
					"the scaling aspect %s at its highest level %d gives the VDU %s %s", a.ID, a.MaxLevel, v.ID, instancesText(n))
			}
		}
	}
}

// scaled returns the VDUs that an aspect scales, in the order of the flavour.
func (c *checker) scaled(a *vnfm.ScalingAspect) []*vnfm.VDU {
	seen := map[*vnfm.VDU]bool{}
	for i, d := range a.StepDeltas {
		if i > 0 && d == a.StepDeltas[i-1] {
			continue
		}
		c.steps(len(a.Deltas[d]))
		for id, n := range a.Deltas[d] {
			if v := c.f.VDU(id); v != nil && n > 0 {
				seen[v] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b *vnfm.VDU) int { return cmp.Compare(c.f.vdus.byID[a.ID], c.f.vdus.byID[b.ID]) })
}

func (c *checker) levels() {
	f := c.f
	c.by = map[string][]*vnfm.ScalingAspect{}
	for i := range f.Aspects {
		for _, v := range c.scaled(&f.Aspects[i]) {
			c.by[v.ID] = append(c.by[v.ID], &f.Aspects[i])
		}
	}
	switch {
	case f.DefaultLevelID != "" && f.Level(f.DefaultLevelID) == nil:
		c.add(vnfm.SeverityError, []string{"default"}, "the levels are "+f.levelNames(), "the default level %q does not exist", f.DefaultLevelID)
	case f.DefaultLevelID == "" && len(f.Levels) > 1:
		c.add(vnfm.SeverityWarning, []string{"levels"}, "each instance must name its level", "the deployment flavour %q has several instantiation levels and no default_level", f.ID)
	}
	for i := range f.Levels {
		level := &f.Levels[i]
		for _, id := range slices.Sorted(maps.Keys(level.ScaleInfo)) {
			key := []string{"level", level.ID, "aspect", id}
			a := f.Aspect(id)
			switch {
			case a == nil && len(f.Aspects) == 0:
				c.add(vnfm.SeverityWarning, key, "add the policy, or remove the aspect from scale_info", "the instantiation level %s sets the scaling aspect %q, but there is no ScalingAspects policy", level.ID, id)
			case a == nil:
				c.add(vnfm.SeverityError, key, "the aspects are "+f.aspectNames(), "the instantiation level %s sets the scaling aspect %q, which does not exist", level.ID, id)
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
	c.steps(1)
	for _, a := range c.by[v.ID] {
		c.steps(1 + len(a.StepDeltas))
		formula += stepsTo(a, v.ID, level.ScaleInfo[a.ID])
	}
	n, given := level.Counts[v.ID]
	if !given {
		n = formula
	}
	if p, bad := outside(v, n); bad {
		c.add(vnfm.SeverityWarning, key, p.Detail+"; correct the level or vdu_profile", "%s at the instantiation level %s", p.Summary, level.ID)
	}
	if given && v.InitialDelta != nil && n != formula {
		c.add(vnfm.SeverityWarning, key, "the number of VduInstantiationLevels is used, and scaling starts from it",
			"the VDU %s has %s at the instantiation level %s, but %d by its initial delta and scaling deltas", v.ID, instancesText(n), level.ID, formula)
	}
}
