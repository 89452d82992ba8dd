package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// workloadKinds are the kinds that a VDU can be by its name alone, in the order
// in which they are preferred.
var workloadKinds = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "StatefulSet"},
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "apps", Kind: "ReplicaSet"},
	{Kind: "Pod"},
}

// scaling says who decides on the replicas of a workload and how many it starts with.
type scaling struct {
	// vdu is the VDU that the workload is; empty when only an autoscaler decides.
	vdu string
	// path is where the object holds its replicas.
	path []string
	// count is the number of replicas that the VDU asks for, or that the manifest
	// of an autoscaled workload starts with.
	count      int64
	autoscaled bool
	// fromZero is set when the autoscaler scales to zero and back by itself.
	fromZero bool
	// written is set when the manifest itself has replicas at path.
	written bool
}

// ours reports whether the driver holds the replicas at count. Those of an
// autoscaled VDU are its own as long as it runs; stopped is stopped.
func (s *scaling) ours() bool { return !s.autoscaled || (s.vdu != "" && s.count == 0) }

// bindVDUs finds the workload of every VDU of the flavour and takes the replicas
// out of the manifests: the VDU has them.
func (r *rendering) bindVDUs(t *vnfm.Target, mapping map[string]workloadRef, ps *vnfm.Problems) {
	r.vdus = make(map[string]*object, len(t.Flavour.VDUs))
	r.states = make(map[string]vnfm.VDUState, len(t.Flavour.VDUs))
	taken := map[*object]string{}
	for i := range t.Flavour.VDUs {
		vdu := &t.Flavour.VDUs[i]
		ref, mapped := mapping[vdu.ID]
		o := r.findWorkload(t, vdu, ref, mapped)
		if o == nil {
			// A VDU that is elsewhere may be something else altogether there.
			if t.Part.Has(vdu.ID) {
				*ps = append(*ps, r.noWorkload(vdu, ref, mapped))
			}
			continue
		}
		if other, twice := taken[o]; twice {
			o.problem(ps, fmt.Sprintf("VDUs %q and %q are both %s", other, vdu.ID, o.key), "every VDU needs a workload of its own; vdu_mapping can say which")
			continue
		}
		taken[o] = vdu.ID
		r.vdus[vdu.ID] = o
		count, ok := t.Counts[vdu.ID]
		if !ok {
			o.problem(ps, fmt.Sprintf("the number of instances of VDU %q is not known", vdu.ID), "")
			continue
		}
		r.states[vdu.ID] = r.bindCount(t, vdu, o, count, ps)
	}
}

// bindCount gives a VDU's workload its replicas.
func (r *rendering) bindCount(t *vnfm.Target, vdu *vnfm.VDU, o *object, count int, ps *vnfm.Problems) vnfm.VDUState {
	state := vnfm.VDUState{Kind: o.gvk.Kind, Name: o.name}
	fixed := o.gvk.GroupKind() == schema.GroupKind{Kind: "Pod"}
	daemon := o.gvk.GroupKind() == schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	if (fixed || daemon) && t.Instance.OperationalState == vnfm.Stopped {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "operational_state",
			Summary:   fmt.Sprintf("VDU %q cannot be stopped", vdu.ID),
			Detail:    fmt.Sprintf("%s has no replicas that could be zero", o.key),
		})
		return state
	}
	switch {
	case daemon:
		return state
	case fixed:
		if count != 1 {
			o.problem(ps, fmt.Sprintf("VDU %q is a Pod and cannot have %d instances", vdu.ID, count), "a Pod is one instance; a Deployment or StatefulSet can be scaled")
		}
		one := 1
		state.Replicas = &one
		return state
	}
	path := r.replicasPath(o)
	value, written := nested(o.content, path...)
	if r.release != nil {
		r.release.checkCount(vdu.ID, o, value, count, ps)
	}
	o.scaling = &scaling{vdu: vdu.ID, path: path, count: int64(count), written: written}
	unstructured.RemoveNestedField(o.content, o.scaling.path...)
	state.Replicas = &count
	return state
}

// replicasPath returns where an object holds its replicas, as far as the package
// tells.
func (r *rendering) replicasPath(o *object) []string {
	if d := r.definitions[o.gvk.GroupKind()]; d != nil {
		if path := d.replicas[o.gvk.Version]; path != nil {
			return path
		}
	}
	return defaultReplicasPath
}

// findWorkload returns the object that a VDU is, or nil.
func (r *rendering) findWorkload(t *vnfm.Target, vdu *vnfm.VDU, ref workloadRef, mapped bool) *object {
	if mapped {
		return r.pick(t, func(o *object) bool { return o.gvk.Kind == ref.kind && o.name == ref.name })
	}
	names := []string{vdu.Name}
	if r.release != nil {
		names = r.release.names(vdu)
	}
	for _, name := range names {
		for _, gk := range workloadKinds {
			if o := r.pick(t, func(o *object) bool { return o.gvk.GroupKind() == gk && o.name == name }); o != nil {
				return o
			}
		}
		if o := r.pick(t, func(o *object) bool { return o.name == name && r.hasReplicas(o) }); o != nil {
			return o
		}
	}
	if r.release != nil {
		return r.release.byLabel(r, vdu)
	}
	return nil
}

// pick returns the object that matches; one in the namespace of the instance is
// preferred to one elsewhere.
func (r *rendering) pick(t *vnfm.Target, match func(*object) bool) *object {
	home := namespaceOf(t)
	var found *object
	for _, o := range r.objects {
		if !match(o) {
			continue
		}
		if o.namespace == "" || o.namespace == home {
			return o
		}
		if found == nil {
			found = o
		}
	}
	return found
}

// hasReplicas reports whether the manifest of an object of any kind has replicas.
func (r *rendering) hasReplicas(o *object) bool {
	if slices.Contains(workloadKinds, o.gvk.GroupKind()) {
		return false
	}
	value, ok := nested(o.content, r.replicasPath(o)...)
	_, isNumber := value.(int64)
	return ok && isNumber
}

// noWorkload says what was looked for and what there is.
func (r *rendering) noWorkload(vdu *vnfm.VDU, ref workloadRef, mapped bool) vnfm.Problem {
	var there []string
	for _, o := range r.objects {
		if slices.Contains(workloadKinds, o.gvk.GroupKind()) || r.hasReplicas(o) {
			there = append(there, o.key)
		}
	}
	slices.Sort(there)
	exist := "the manifests hold no workload at all"
	if len(there) > 0 {
		exist = "the workloads of the package are " + strings.Join(there, ", ")
	}
	if mapped {
		return vnfm.Problem{
			Attribute: vnfm.AttributeParams,
			Key:       paramVDUMapping,
			Summary:   fmt.Sprintf("VDU %q is mapped to %s %q, which is not in the package", vdu.ID, ref.kind, ref.name),
			Detail:    exist,
		}
	}
	if r.release != nil {
		exist += fmt.Sprintf("; nor is one named %s, nor does exactly one have the label %s", strings.Join(r.release.names(vdu)[1:], " or "), strings.Join(nameLabels, " or "))
	}
	return vnfm.Problem{
		Summary: fmt.Sprintf("VDU %q has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named %q", vdu.ID, vdu.Name),
		Detail:  exist + "; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is",
	}
}

// bindAutoscaled finds the workloads whose replicas an autoscaler of the package
// decides on.
func (r *rendering) bindAutoscaled(t *vnfm.Target) {
	for _, a := range r.objects {
		ref, ok := scaleTarget(a)
		if !ok {
			continue
		}
		for _, o := range r.objects {
			if o.gvk.Kind != ref.kind || o.name != ref.name || (ref.group != "" && ref.group != o.gvk.Group) || sameHome(t, a) != sameHome(t, o) {
				continue
			}
			r.setAutoscaled(o, a.gvk.Group == "keda.sh")
		}
	}
}

// setAutoscaled leaves the replicas of an object to its autoscaler.
func (r *rendering) setAutoscaled(o *object, fromZero bool) {
	if o.scaling != nil {
		o.scaling.autoscaled, o.scaling.fromZero = true, fromZero
		if o.scaling.vdu != "" {
			state := r.states[o.scaling.vdu]
			state.Autoscaled = true
			if !o.scaling.ours() {
				state.Replicas = nil
			}
			r.states[o.scaling.vdu] = state
		}
		return
	}
	path := r.replicasPath(o)
	value, _ := nested(o.content, path...)
	count, ok := value.(int64)
	if !ok {
		return
	}
	o.scaling = &scaling{path: path, count: count, autoscaled: true, fromZero: fromZero, written: true}
	unstructured.RemoveNestedField(o.content, path...)
}

// sameHome returns the namespace of an object, that of the instance when it names none.
func sameHome(t *vnfm.Target, o *object) string {
	if o.namespace != "" {
		return o.namespace
	}
	return namespaceOf(t)
}

// scaleTarget returns what an autoscaler scales; ok is false when the object is
// no autoscaler.
func scaleTarget(o *object) (ref struct{ group, kind, name string }, ok bool) {
	hpa := o.gvk.Group == "autoscaling" && o.gvk.Kind == "HorizontalPodAutoscaler"
	keda := o.gvk.Group == "keda.sh" && o.gvk.Kind == "ScaledObject"
	if !hpa && !keda {
		return ref, false
	}
	value, _ := nested(o.content, "spec", "scaleTargetRef")
	fields, _ := value.(map[string]any)
	apiVersion, _ := fields["apiVersion"].(string)
	if gv, err := schema.ParseGroupVersion(apiVersion); err == nil {
		ref.group = gv.Group
	}
	ref.kind, _ = fields["kind"].(string)
	ref.name, _ = fields["name"].(string)
	if ref.kind == "" && keda {
		ref.kind = "Deployment" // KEDA's default.
	}
	return ref, ref.kind != "" && ref.name != ""
}

// isAutoscaler reports whether an inventory item is an autoscaler.
func isAutoscaler(i *vnfm.InventoryItem) bool {
	return (i.Group == "autoscaling" && i.Kind == "HorizontalPodAutoscaler") || (i.Group == "keda.sh" && i.Kind == "ScaledObject")
}
