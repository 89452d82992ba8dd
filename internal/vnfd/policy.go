package vnfd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// policy is one policy of a flavour.
type policy struct {
	entry
	kind kind
}

// policies lists the policies of a document with what their types derive from.
func (r *reader) policies(d *document) []policy {
	if d.asked {
		return d.policies
	}
	d.asked = true
	var list []policy
	for _, e := range d.section("policies") {
		if !e.isMap() {
			e.key.errorf("%s must be a mapping, not %s", e.path, describe(e.value))
			continue
		}
		e.wantMaps("properties")
		typ := e.get("type")
		if !typ.ok() {
			//findings:says add type, such as tosca.nodes.nfv.Vdu.Compute at a node or tosca.policies.nfv.ScalingAspects at a policy
			e.key.errorf("%s has no type", e.path)
			continue
		}
		name := typ.str()
		k := r.types.kindOf(d.scope, name)
		if missing, ok := r.types.missing(d.scope, name); ok && r.readsImports() {
			typ.errorf("%s", missing.text(name, "policy "+e.name))
			k = missing.kind()
		} else if k == kindUnknown {
			typ.warnf("the type %s of the policy %s is neither defined in the package nor one of ETSI's; the policy is ignored", name, e.name)
		}
		list = append(list, policy{e, k})
	}
	d.policies = list
	return list
}

func (r *reader) readPolicies(f *indexed, t *template) {
	list := r.policies(t.doc)
	of := func(k kind) []policy {
		return slices.DeleteFunc(slices.Clone(list), func(p policy) bool { return p.kind != k })
	}
	declared := len(of(kindLevels)) > 0
	for _, step := range []struct {
		rule string
		kind kind
		read func(p policy)
	}{
		{ruleAspects, kindScalingAspects, func(p policy) { r.readAspects(f, p) }},
		{ruleDeltas, kindScalingDeltas, func(p policy) { r.readDeltas(f, t, p) }},
		{ruleInitialDelta, kindInitialDelta, func(p policy) { r.readInitialDelta(f, t, p) }},
		{ruleLevels, kindLevels, func(p policy) { r.readLevels(f, p) }},
		{ruleVDULevels, kindVDULevels, func(p policy) { r.readVDULevels(f, t, p, declared) }},
		{ruleTackerScaling, kindTackerScaling, func(p policy) { r.readTackerScaling(f, t, p) }},
	} {
		for _, p := range of(step.kind) {
			r.problems.During(step.rule, func() { step.read(p) })
		}
	}
	if f.DefaultLevelID == "" && len(f.Levels) == 1 {
		f.DefaultLevelID = f.Levels[0].ID
	}
	for _, p := range list {
		switch p.kind {
		case kindAffinity, kindAntiAffinity:
			r.problems.During(ruleAffinity, func() { r.readAffinity(f, t, p) })
		case kindSecurityRule:
			r.problems.During(ruleSecurityGroup, func() { r.readSecurityRule(f, t, p) })
		default:
		}
	}
}

func (r *reader) readAspects(f *indexed, p policy) {
	aspects := p.at("properties", "aspects").entries()
	if len(aspects) == 0 {
		//findings:says list the scaling aspects in properties.aspects, or remove the policy
		p.key.warnf("the policy %s declares no aspects", p.name)
	}
	for _, e := range aspects {
		if !e.isMap() {
			e.key.errorf("%s must be a mapping, not %s", e.path, describe(e.value))
			continue
		}
		if f.Aspect(e.name) != nil {
			//findings:says give each aspect a name of its own, or remove one of them
			e.key.errorf("the scaling aspect %q is defined twice", e.name)
			continue
		}
		a := vnfm.ScalingAspect{
			ID:          e.name,
			Name:        e.get("name").str(),
			Description: e.get("description").str(),
			StepDeltas:  e.get("step_deltas").texts(),
			Deltas:      map[string]map[string]int{},
		}
		highest := e.get("max_scale_level")
		if n, ok := highest.count(); ok {
			a.MaxLevel = n
		} else if !highest.ok() {
			//findings:says add max_scale_level, the number of steps from level 0 to the highest
			e.key.errorf("the scaling aspect %s has no max_scale_level", e.name)
		}
		r.places.add(e.key, "flavour", f.ID, "aspect", a.ID)
		r.places.add(e.get("step_deltas"), "flavour", f.ID, "aspect", a.ID, "steps")
		f.Aspects = append(f.Aspects, a)
	}
}

func (r *reader) readDeltas(f *indexed, t *template, p policy) {
	name := p.at("properties", "aspect")
	id, ok := name.text()
	if !ok {
		if !name.ok() {
			//findings:says add properties.aspect with the name of a scaling aspect
			p.key.errorf("the policy %s names no aspect", p.name)
		}
		return
	}
	a := f.Aspect(id)
	if a == nil {
		name.errorf("the policy %s is for the scaling aspect %q, which does not exist; known are %s", p.name, id, f.aspectNames())
		return
	}
	targets := t.expand(p.get("targets"))
	if len(targets) == 0 {
		//findings:says list the VDUs that the deltas apply to in targets
		p.key.warnf("the policy %s has no targets", p.name)
	}
	for _, e := range p.at("properties", "deltas").entries() {
		n, ok := instances(e)
		if !ok {
			continue
		}
		if a.Deltas[e.name] == nil {
			a.Deltas[e.name] = map[string]int{}
		}
		r.steps(len(targets))
		for _, target := range targets {
			if _, twice := a.Deltas[e.name][target.name]; twice {
				//findings:says keep the VDU in the targets of one of these policies
				target.at.errorf("the delta %s of the scaling aspect %s is given twice for the VDU %s", e.name, id, target.name)
				continue
			}
			a.Deltas[e.name][target.name] = n
			r.places.add(target.at, "flavour", f.ID, "aspect", id, "delta", e.name, target.name)
		}
		r.places.add(e.key, "flavour", f.ID, "aspect", id, "delta", e.name)
	}
	if len(a.StepDeltas) == 0 && len(a.Deltas) == 1 {
		for d := range a.Deltas {
			a.StepDeltas = []string{d}
			p.key.warnf("the scaling aspect %s has no step_deltas; its only delta %s is used for each step", id, d)
		}
	}
}

// instances reads {number_of_instances: n}.
func instances(e entry) (int, bool) {
	if !e.ok() {
		//findings:says write the delta or the level as a mapping, for example {number_of_instances: 1}
		e.key.errorf("%s is missing", e.path)
		return 0, false
	}
	if !e.isMap() {
		e.key.errorf("%s must be a mapping with number_of_instances, not %s", e.path, describe(e.value))
		return 0, false
	}
	n := e.get("number_of_instances")
	if !n.ok() {
		//findings:says add number_of_instances, for example {number_of_instances: 1}
		e.key.errorf("%s has no number_of_instances", e.path)
		return 0, false
	}
	return n.count()
}

func (r *reader) readInitialDelta(f *indexed, t *template, p policy) {
	delta := p.at("properties", "initial_delta")
	n, ok := instances(entry{name: p.name, key: p.key, value: delta})
	if !ok {
		return
	}
	for _, target := range t.expand(p.get("targets")) {
		v := f.VDU(target.name)
		switch {
		case v == nil:
			target.at.errorf("the policy %s targets %q, which is not a VDU of the flavour; its VDUs are %s", p.name, target.name, f.vduNames())
		case v.InitialDelta != nil:
			//findings:says keep the VDU in the targets of one VduInitialDelta policy
			target.at.errorf("the policy %s gives the VDU %s another initial delta", p.name, target.name)
		default:
			v.InitialDelta = &n
			r.places.add(target.at, "flavour", f.ID, "vdu", v.ID, "initial")
		}
	}
}

func (r *reader) readLevels(f *indexed, p policy) {
	levels := p.at("properties", "levels").entries()
	if len(levels) == 0 {
		//findings:says list the instantiation levels in properties.levels, or remove the policy
		p.key.warnf("the policy %s declares no levels", p.name)
	}
	for _, e := range levels {
		if f.Level(e.name) != nil {
			//findings:says give each level a name of its own, or remove one of them
			e.key.errorf("the instantiation level %q is defined twice", e.name)
			continue
		}
		level := vnfm.InstantiationLevel{ID: e.name, ScaleInfo: map[string]int{}, Counts: map[string]int{}}
		if e.ok() && !e.isMap() {
			e.errorf("%s must be a mapping, not %s", e.path, describe(e.value))
			continue
		}
		level.Description = e.get("description").str()
		r.places.add(e.key, "flavour", f.ID, "level", e.name)
		for _, s := range e.get("scale_info").entries() {
			if !s.isMap() {
				s.key.errorf("%s must be a mapping with scale_level, not %s", s.path, describe(s.value))
				continue
			}
			number := s.get("scale_level")
			if !number.ok() {
				//findings:says add scale_level, a number from 0 to the max_scale_level of the aspect
				s.key.errorf("%s has no scale_level", s.path)
				continue
			}
			if n, ok := number.count(); ok {
				level.ScaleInfo[s.name] = n
				r.places.add(s.key, "flavour", f.ID, "level", e.name, "aspect", s.name)
			}
		}
		f.Levels = append(f.Levels, level)
	}
	def := p.at("properties", "default_level")
	if id, ok := def.text(); ok {
		f.DefaultLevelID = id
		r.places.add(def, "flavour", f.ID, "default")
	}
	r.places.add(p.key, "flavour", f.ID, "levels")
}

func (r *reader) readVDULevels(f *indexed, t *template, p policy, declared bool) {
	targets := t.expand(p.get("targets"))
	for _, e := range p.at("properties", "levels").entries() {
		n, ok := instances(e)
		if !ok {
			continue
		}
		level := f.Level(e.name)
		switch {
		case level == nil && declared:
			e.key.errorf("the policy %s is for the instantiation level %q, which does not exist; known are %s", p.name, e.name, f.levelNames())
			continue
		case level == nil:
			//findings:says add the level to the levels of an InstantiationLevels policy
			e.key.warnf("no InstantiationLevels policy declares the instantiation level %q of the policy %s", e.name, p.name)
			f.Levels = append(f.Levels, vnfm.InstantiationLevel{ID: e.name, ScaleInfo: map[string]int{}, Counts: map[string]int{}})
			level = &f.Levels[len(f.Levels)-1]
			r.places.add(e.key, "flavour", f.ID, "level", e.name)
		}
		r.steps(len(targets))
		for _, target := range targets {
			if first, twice := level.Counts[target.name]; twice {
				target.at.warnf("the policy %s repeats the number of instances of the VDU %s at the instantiation level %s; the first number, %d, is used",
					p.name, target.name, e.name, first)
				continue
			}
			level.Counts[target.name] = n
			r.places.add(e.key, "flavour", f.ID, "level", e.name, "count", target.name)
			r.places.add(target.at, "flavour", f.ID, "level", e.name, "target", target.name)
		}
	}
}

func (r *reader) readAffinity(f *indexed, t *template, p policy) {
	rule := vnfm.AffinityRule{
		ID:      p.name,
		Anti:    p.kind == kindAntiAffinity,
		Scope:   p.at("properties", "scope").str(),
		Targets: p.get("targets").texts(),
		Place:   p.key.written(),
	}
	if rule.Scope == "" {
		//findings:says add properties.scope: nfvi_node, zone, zone_group or nfvi_pop
		p.key.warnf("the policy %s has no scope", p.name)
	}
	for _, target := range p.get("targets").items() {
		name := target.str()
		if members, ok := t.groups[name]; ok {
			if rule.Groups == nil {
				rule.Groups = map[string][]string{}
			}
			rule.Groups[name] = members
			continue
		}
		if name != "" && t.byName[name] == nil {
			//findings:says name a VDU, a storage, a virtual link or a placement group of the flavour in targets
			target.warnf("the policy %s targets %q, which is neither a node nor a group of the flavour", p.name, name)
		}
	}
	f.AffinityRules = append(f.AffinityRules, rule)
}

// packageChanges reads the VnfPackageChange policies of a document (SOL001 6.10.13).
// Selectors that lead to different VNFDs become package changes of their own.
func (r *reader) packageChanges(d *document) []vnfm.PackageChange {
	var list []vnfm.PackageChange
	for _, p := range r.policies(d) {
		if p.kind != kindPackageChange {
			continue
		}
		props := p.get("properties")
		var mappings []vnfm.ComponentMapping
		for _, m := range props.get("component_mappings").items() {
			if !m.isMap() {
				m.errorf("%s must be a mapping, not %s", m.path, describe(m))
				continue
			}
			mappings = append(mappings, vnfm.ComponentMapping{
				ComponentType: m.get("component_type").str(),
				SourceID:      m.get("source_id").str(),
				DestinationID: m.get("destination_id").str(),
			})
		}
		first := len(list)
		for _, s := range props.get("selector").items() {
			if !s.isMap() {
				s.errorf("%s must be a mapping, not %s", s.path, describe(s))
				continue
			}
			destination := s.get("destination_descriptor_id").str()
			r.steps(len(list) - first)
			i := slices.IndexFunc(list[first:], func(c vnfm.PackageChange) bool { return c.DestinationDescriptorID == destination })
			if i < 0 {
				list = append(list, vnfm.PackageChange{
					DestinationDescriptorID: destination,
					DestinationFlavourID:    props.get("destination_flavour_id").str(),
					Mappings:                mappings,
				})
				i = len(list) - 1 - first
			}
			c := &list[first+i]
			r.steps(len(c.SourceDescriptorIDs) + len(c.SourceFlavourIDs))
			c.SourceDescriptorIDs = appendNew(c.SourceDescriptorIDs, s.get("source_descriptor_id").str())
			c.SourceFlavourIDs = appendNew(c.SourceFlavourIDs, s.get("source_flavour_id").str())
		}
		if len(list) == first {
			//findings:says add properties.selector with source_descriptor_id and destination_descriptor_id
			p.key.errorf("the policy %s has no selector", p.name)
		}
	}
	return list
}

func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// levelsText renders scale levels for a message, in the order of the aspects.
func levelsText(f *vnfm.Flavour, levels map[string]int) string {
	var list []string
	for _, a := range f.Aspects {
		list = append(list, fmt.Sprintf("%s=%d", a.ID, levels[a.ID]))
	}
	return strings.Join(list, ", ")
}
