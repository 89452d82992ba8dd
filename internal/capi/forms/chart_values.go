package forms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// chartValues collects the values for arguments. An argument without a value in the chart is a problem.
type chartValues struct {
	chart string
	in    *helm.Inputs
	// lenient sets arguments even if the chart does not know their values.
	lenient bool
	values  map[string]any
	ps      *vnfm.Problems
}

// values returns the values of the user, overridden by the arguments of the cluster; nil after an error.
func (f chart) values(loaded *helm.Chart, spec *vnfm.ClusterSpec, ps *vnfm.Problems) map[string]any {
	in, err := loaded.Inputs()
	if err != nil {
		*ps = append(*ps, vnfm.Problem{Attribute: attributeChart, Summary: "the values of the chart cannot be read", Detail: err.Error() + "; correct the values.yaml of the chart"})
		return nil
	}
	v := &chartValues{chart: loaded.Describe().Name, in: in, lenient: !f.hasKubelets(), values: map[string]any{}, ps: ps}
	v.cluster("kubernetes_version", WithoutV(spec.KubernetesVersion))
	v.cluster("labels", texts(spec.Labels))
	v.cluster("annotations", texts(spec.Annotations))
	v.network(spec.Network)
	if cloud := spec.OwnCredential(); cloud != nil {
		v.cluster("openstack.application_credential", cloud.SecretName)
		if v.lenient || v.in.Takes("cloudName") {
			v.values["cloudName"] = cloud.CloudName
		}
	}
	v.controlPlane(spec)
	groups := map[string]map[string]any{}
	for name := range spec.NodeGroups {
		groups[name] = v.nodeGroup(spec, name)
	}
	v.refuseOnce()
	if ps.HasErrors() {
		return nil
	}
	if !f.isEmbedded() {
		v.keepOff(f.Values, groups)
	}
	var list []any
	for _, name := range SortedKeys(groups) {
		list = append(list, groups[name])
	}
	Set(v.values, "nodeGroups", list)
	return vnfm.MergeValues(f.Values, v.values)
}

// cluster sets the value for an argument of the cluster, unless the argument is empty.
func (v *chartValues) cluster(argument string, value any) {
	v.set(v.values, chartPlaces[argument], value, "", func(string) any { return value }, vnfm.Problem{Attribute: argument})
}

// set sets an argument in a map under the name that the chart knows. The prefix is the path of the map in the values of the chart;
// value returns the value for a name.
func (v *chartValues) set(into map[string]any, place chartPlace, given any, prefix string, value func(name string) any, at vnfm.Problem) {
	probe := map[string]any{}
	if Set(probe, "given", given); len(probe) == 0 {
		return
	}
	known := func(name string) bool {
		if prefix != groupsPrefix {
			return v.in.Takes(prefix + name)
		}
		return v.in.Takes("nodeGroupDefaults."+name) || v.in.Takes("nodeGroups.[]."+name)
	}
	name := place.find(known)
	if name == "" && v.lenient {
		name = place.values[len(place.values)-1]
	}
	if name != "" {
		setAt(into, name, value(name))
		return
	}
	at.Summary = fmt.Sprintf("the chart %s has no value for %s", v.chart, argumentOf(at))
	at.Detail = fmt.Sprintf("neither its values.yaml nor its values.schema.json has %s; leave the argument out, or set in chart.values what the chart has instead",
		strings.Join(prefixed(prefix, place.values), " or "))
	*v.ps = append(*v.ps, at)
}

// groupsPrefix is the prefix of values of node groups. The chart may know them in nodeGroupDefaults or in the elements of nodeGroups.
const groupsPrefix = "nodeGroups."

func prefixed(prefix string, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, prefix+name)
	}
	return out
}

// argumentOf returns the displayed path of an argument.
func argumentOf(at vnfm.Problem) string {
	if at.Key == "" {
		return at.Attribute
	}
	return fmt.Sprintf("%s[%q].%s", at.Attribute, at.Key, at.Field)
}

// refuseOnce drops repeated problems of the same argument.
func (v *chartValues) refuseOnce() {
	var out vnfm.Problems
	for _, p := range *v.ps {
		if !slices.ContainsFunc(out, func(o vnfm.Problem) bool {
			return o.Summary == p.Summary && o.Attribute == p.Attribute && o.Key == p.Key
		}) {
			out = append(out, p)
		}
	}
	*v.ps = out
}

// setAt sets the value at a path of names.
func setAt(into map[string]any, path string, value any) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		into = Child(into, name)
	}
	into[names[len(names)-1]] = value
}

// machines sets the values of arguments that control plane and node groups share.
type machines struct {
	v *chartValues
	// into is the map to set, prefix its path in the values of the chart.
	into   map[string]any
	prefix string
	at     vnfm.Problem
	more   map[string]chartPlace
}

func (m machines) set(argument string, value any) {
	m.setBy(argument, value, func(string) any { return value })
}

func (m machines) setBy(argument string, given any, value func(name string) any) {
	place, ok := machinePlaces[argument]
	if !ok {
		place = m.more[argument]
	}
	at := m.at
	switch {
	case argument == argumentRolloutAfter:
		at = vnfm.Problem{Attribute: argument}
	case at.Key != "":
		at.Field, _, _ = strings.Cut(argument, ".")
	default:
		at.Attribute += "." + argument
	}
	m.v.set(m.into, place, given, m.prefix, value, at)
}

func (m machines) setInt(argument string, value *int64) {
	if value != nil {
		m.set(argument, *value)
	}
}

func (m machines) place(p *vnfm.MachinePlace) {
	m.set("root_volume", chartVolume(p.RootVolume))
	m.set("networks", chartPorts(p.Networks))
}

func (m machines) healthCheck(h *vnfm.HealthCheck) {
	if h == nil {
		return
	}
	m.set("health_check.enabled", h.Enabled)
	m.set("health_check.max_unhealthy", intOrPercent(h.MaxUnhealthy))
	if h.NodeStartupTimeout > 0 {
		m.set("health_check.node_startup_timeout", inSeconds(h.NodeStartupTimeout))
	}
	if h.UnhealthyTimeout > 0 {
		timeout := inSeconds(h.UnhealthyTimeout)
		m.setBy("health_check.unhealthy_timeout", timeout, func(name string) any {
			if name != valueUnhealthyConditions {
				return timeout
			}
			return []any{
				map[string]any{"type": "Ready", "status": "Unknown", "timeout": timeout},
				map[string]any{"type": "Ready", "status": "False", "timeout": timeout},
			}
		})
	}
}

func (m machines) deletion(d *vnfm.MachineDeletion) {
	if d == nil {
		return
	}
	for name, limit := range map[string]*time.Duration{
		"node_drain_timeout": d.NodeDrainTimeout, "node_volume_detach_timeout": d.NodeVolumeDetachTimeout, "node_deletion_timeout": d.NodeDeletionTimeout,
	} {
		if limit != nil {
			m.set("deletion."+name, inSeconds(*limit))
		}
	}
}

func (v *chartValues) controlPlane(spec *vnfm.ClusterSpec) {
	cp := &spec.ControlPlane
	m := machines{v: v, into: map[string]any{}, prefix: "controlPlane.", at: vnfm.Problem{Attribute: "control_plane"}, more: controlPlanePlaces}
	m.setInt("replicas", cp.Replicas)
	m.set("flavor", cp.Flavor)
	m.set(argumentRolloutAfter, spec.RolloutAfter)
	m.healthCheck(cp.HealthCheck)
	m.deletion(cp.Deletion)
	m.set("labels", texts(cp.Labels))
	m.place(&cp.MachinePlace)
	if domains := cp.FailureDomains; len(domains) > 0 {
		// The chart ignores failure domains while omitFailureDomain lets the cloud choose.
		if m.set("failure_domains", listed(domains)); v.lenient || v.in.Takes("controlPlane.omitFailureDomain") {
			m.into["omitFailureDomain"] = false
		}
	}
	Set(v.values, "controlPlane", m.into)
}

// nodeGroup returns the element of nodeGroups for a group.
func (v *chartValues) nodeGroup(spec *vnfm.ClusterSpec, name string) map[string]any {
	g := spec.NodeGroups[name]
	m := machines{v: v, into: map[string]any{"name": name}, prefix: groupsPrefix, at: vnfm.Problem{Attribute: vnfm.AttributeNodeGroups, Key: name}, more: groupPlaces}
	if g.Autoscaled() {
		m.into["autoscale"] = true
		m.setInt("min_replicas", g.MinReplicas)
		m.setInt("max_replicas", g.MaxReplicas)
	} else {
		m.setInt("replicas", g.Replicas)
	}
	m.set("flavor", g.Flavor)
	m.set("failure_domain", g.FailureDomain)
	m.set("labels", texts(g.Labels))
	m.set(argumentRolloutAfter, spec.RolloutAfter)
	m.setBy("taints", taints(g.Taints), func(name string) any {
		if name != valueNodeTaints {
			return registrationTaints(g.Taints)
		}
		return taints(g.Taints)
	})
	m.healthCheck(g.HealthCheck)
	m.deletion(g.Deletion)
	m.place(&g.MachinePlace)
	if r := g.Rollout; r != nil {
		m.set("rollout.type", r.Type)
		m.set("rollout.max_surge", intOrPercent(r.MaxSurge))
		m.set("rollout.max_unavailable", intOrPercent(r.MaxUnavailable))
	}
	return m.into
}

// registrationTaints returns taints in the form of kubelet's registration.
func registrationTaints(list []vnfm.NodeTaint) []any {
	var out []any
	for _, t := range list {
		entry := map[string]any{"key": t.Key, "effect": t.Effect}
		Set(entry, "value", t.Value)
		out = append(out, entry)
	}
	return out
}

// keepOff preserves values of groups that are false or zero. Charts of capi-helm-charts overwrite such values from nodeGroupDefaults.
// Therefore the value becomes the default, and the other groups get the former default.
func (v *chartValues) keepOff(given map[string]any, groups map[string]map[string]any) {
	for _, name := range SortedKeys(groups) {
		for _, path := range offValues("", groups[name]) {
			before := valueAt(given, "nodeGroupDefaults."+path)
			before = cmp.Or(before, v.in.Default("nodeGroupDefaults."+path))
			if before == nil || isOff(before) {
				continue
			}
			setAt(v.values, "nodeGroupDefaults."+path, valueAt(groups[name], path))
			for _, other := range groups {
				if valueAt(other, path) == nil {
					setAt(other, path, before)
				}
			}
		}
	}
}

// offValues returns the paths of all values in a map that are false or zero, in order.
func offValues(prefix string, values map[string]any) []string {
	var out []string
	for _, key := range SortedKeys(values) {
		switch value := values[key].(type) {
		case map[string]any:
			out = append(out, offValues(prefix+key+".", value)...)
		default:
			if isOff(value) {
				out = append(out, prefix+key)
			}
		}
	}
	return out
}

func isOff(value any) bool {
	switch v := value.(type) {
	case bool:
		return !v
	case int:
		return v == 0
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// valueAt returns the value at a path of names; nil if there is none.
func valueAt(values map[string]any, path string) any {
	var value any = values
	for _, name := range strings.Split(path, ".") {
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	return value
}
