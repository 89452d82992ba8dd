package vnfd

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// legacyFlavourID is the deployment flavour of a VNFD of the form that OpenStack
// Tacker had before SOL001, which knows none.
const legacyFlavourID = "default"

// legacy tells whether a template is of that form: Tacker's VDUs, neither a VNF
// node nor a substitution.
func (t *template) legacy() bool {
	return len(t.of(kindTackerVDU)) > 0 && t.vnf() == nil && !t.topo.get("substitution_mappings").ok()
}

// legacyIdentity takes the identity from the metadata, else from the name of the file.
func (r *reader) legacyIdentity(d *vnfm.Descriptor, entry *document) {
	meta := entry.root.get("metadata")
	name := meta.get("template_name").str()
	if name == "" {
		name = strings.TrimSuffix(path.Base(entry.file), path.Ext(entry.file))
	}
	d.ID, d.ProductName = name, name
	d.Provider, d.Version = meta.get("template_author").str(), meta.get("template_version").str()
	d.SoftwareVersion = d.Version
	r.places.add(meta, "id")
}

// readLegacy reads a VDU.Tacker: a service in front of it and a container for each
// entry of vnfcs.
func readLegacy(w *vnfm.Workload, v *vnfm.VDU, n *node) {
	w.Namespace = n.property("namespace").str()
	w.Labels = readLabels(n.property("labels"))
	for _, e := range n.property("vnfcs").entries() {
		if !e.isMap() {
			e.key.errorf("%s must be a mapping, not %s", e.path, describe(e.value))
			continue
		}
		c := legacyContainer(e)
		v.CPUs += float64(c.Resources.CPURequest) / 1000
		v.MemoryBytes += c.Resources.MemoryRequest
		w.Containers = append(w.Containers, c)
	}
	ports := n.property("mapping_ports")
	if list := mappedPorts(ports); len(list) > 0 {
		w.Services = append(w.Services, vnfm.Service{Type: readServiceType(n.property("service_type")), Ports: list, Place: ports.written()})
	}
}

// legacyKeys are what an entry of vnfcs can have.
var legacyKeys = map[string]bool{
	"num_cpus": true, "mem_size": true, "image": true, "config": true, "command": true, "args": true, "ports": true,
}

func legacyContainer(e entry) vnfm.Container {
	for _, field := range e.entries() {
		if !legacyKeys[field.name] {
			field.key.errorf("%s is not known; a container has args, command, config, image, mem_size, num_cpus and ports", field.path)
		}
	}
	cpus := int64(math.Round(e.get("num_cpus").number() * 1000))
	memory := e.get("mem_size").bytes()
	return vnfm.Container{
		ID:      e.name,
		Name:    e.name,
		Image:   e.get("image").str(),
		Command: e.get("command").texts(),
		Args:    e.get("args").texts(),
		Ports:   readPorts(e.get("ports")),
		Config:  readConfig(e.get("config")),
		Resources: vnfm.Resources{
			CPURequest: cpus, CPULimit: cpus, MemoryRequest: memory, MemoryLimit: memory,
		},
		Place: e.key.written(),
	}
}

// readLabels reads labels: a mapping, or a list of texts "key: value".
func readLabels(v value) map[string]string {
	if v.isMap() {
		return readTexts(v)
	}
	var labels map[string]string
	for _, item := range v.items() {
		key, text := "", ""
		if item.isMap() {
			for _, e := range item.entries() {
				key, text = e.name, e.str()
			}
		} else {
			line, ok := item.text()
			if !ok {
				continue
			}
			key, text, ok = strings.Cut(line, ":")
			if !ok {
				item.errorf("%s must be a key and a value, as in \"key: value\", not %q", item.path, line)
				continue
			}
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[strings.TrimSpace(key)] = strings.TrimSpace(text)
	}
	return labels
}

// tackerScaling are the numbers of a tosca.policies.tacker.Scaling.
type tackerScaling struct {
	lowest, highest, start, step int
	// percent is the target for the load of the CPUs; 0 for none.
	percent int
}

// level is the scale level that the VDUs start at, base how many VNFCs they have at level 0.
func (s *tackerScaling) level() int { return (s.start - s.lowest) / s.step }
func (s *tackerScaling) base() int  { return s.start - s.level()*s.step }

// readTackerNumbers reads the properties of a scaling policy; ok is false when they contradict each other.
func readTackerNumbers(p policy) (s tackerScaling, ok bool) {
	number := func(name string, fallback int) int {
		if n, ok := p.at("properties", name).count(); ok {
			return n
		}
		return fallback
	}
	s.lowest = number("min_instances", 1)
	s.highest = number("max_instances", 0)
	s.start = number("default_instances", s.lowest)
	s.step = number("increment", 1)
	s.percent = number("target_cpu_utilization_percentage", 0)
	props := p.get("properties")
	switch {
	case !props.get("max_instances").ok():
		//findings:says add max_instances, the most instances that a target can have
		p.key.errorf("the policy %s has no max_instances", p.name)
	case s.highest < s.lowest || s.highest == 0:
		//findings:says raise max_instances to 1 or more and to min_instances, or lower min_instances
		props.get("max_instances").errorf("the policy %s allows %d at most (max_instances) and %d at least (min_instances)", p.name, s.highest, s.lowest)
	case s.start < s.lowest || s.start > s.highest:
		//findings:says choose default_instances from min_instances to max_instances
		props.get("default_instances").errorf("the policy %s starts with %d (default_instances), which is not between %d and %d", p.name, s.start, s.lowest, s.highest)
	case s.step == 0:
		//findings:says set increment to 1 or more, or leave it out for 1
		props.get("increment").errorf("the policy %s adds nothing: increment is 0", p.name)
	case s.percent == 0 && props.get("target_cpu_utilization_percentage").ok():
		//findings:says set target_cpu_utilization_percentage to 1 or more, or leave it out to scale without an autoscaler
		props.get("target_cpu_utilization_percentage").errorf("the policy %s has a target of 0 percent", p.name)
	default:
		return s, true
	}
	return s, false
}

// readTackerScaling reads a tosca.policies.tacker.Scaling. With a target for the
// load of the CPUs an autoscaler decides between its limits; without one the policy
// is a scaling aspect of its name, whose step is the increment.
func (r *reader) readTackerScaling(f *indexed, t *template, p policy) {
	s, ok := readTackerNumbers(p)
	if !ok {
		return
	}
	steps := map[string]int{}
	for _, target := range t.expand(p.get("targets")) {
		v := f.VDU(target.name)
		switch {
		case v == nil:
			target.at.errorf("the policy %s targets %q, which is not a VDU of the flavour; its VDUs are %s", p.name, target.name, f.vduNames())
			continue
		case r.scaledAlready(f, v):
			//findings:says keep the VDU in the targets of one scaling policy
			target.at.errorf("the policy %s scales the VDU %s, which another policy scales already", p.name, target.name)
			continue
		}
		if byLoad := s.scale(v, p); !byLoad {
			steps[v.ID] = s.step
		}
	}
	if len(steps) == 0 {
		return
	}
	aspect := vnfm.ScalingAspect{
		ID: p.name, Name: p.name, Description: p.get("description").str(),
		MaxLevel: (s.highest - s.base()) / s.step, StepDeltas: []string{"step"}, Deltas: map[string]map[string]int{"step": steps},
	}
	r.places.add(p.key, "flavour", f.ID, "aspect", aspect.ID)
	f.Aspects = append(f.Aspects, aspect)
	if s.level() > 0 {
		legacyLevel(f).ScaleInfo[aspect.ID] = s.level()
	}
}

// scale gives a VDU the limits and the first number of a scaling policy, and tells whether an autoscaler decides on it by load.
func (s *tackerScaling) scale(v *vnfm.VDU, p policy) (byLoad bool) {
	if v.MaxInstances == 0 {
		v.MinInstances, v.MaxInstances = s.lowest, s.highest
	}
	byLoad = s.percent > 0 && v.Workload != nil
	first := s.base()
	if byLoad {
		first = s.start
		v.Workload.Autoscaling = &vnfm.Autoscaling{Min: s.lowest, Max: s.highest, CPUPercent: s.percent, Place: p.key.written()}
	}
	if v.InitialDelta == nil {
		v.InitialDelta = &first
	}
	return byLoad
}

func (r *reader) scaledAlready(f *indexed, v *vnfm.VDU) bool {
	r.steps(len(f.Aspects))
	return v.Workload != nil && v.Workload.Autoscaling != nil ||
		slices.ContainsFunc(f.Aspects, func(a vnfm.ScalingAspect) bool { return scales(&a, v.ID) })
}

// legacyLevel returns the instantiation level that the default_instances of all
// scaling policies make up together.
func legacyLevel(f *indexed) *vnfm.InstantiationLevel {
	const id = "default"
	if l := f.Level(id); l != nil {
		return l
	}
	f.Levels = append(f.Levels, vnfm.InstantiationLevel{ID: id, ScaleInfo: map[string]int{}, Counts: map[string]int{}})
	f.DefaultLevelID = cmp.Or(f.DefaultLevelID, id)
	return &f.Levels[len(f.Levels)-1]
}
