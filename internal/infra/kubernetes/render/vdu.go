package render

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// bindVDUs finds the workload of each VDU of the flavour and removes the replicas from its manifest, because the VDU decides on
// them. If the request selects manifests, a VDU without a workload in the selection has no VNFC.
func (r *Rendering) bindVDUs(t *vnfm.Target, mapping map[string]translate.WorkloadRef, ps *vnfm.Problems) {
	r.VDUs = make(map[string]*Object, len(t.Flavour.VDUs))
	r.States = make(map[string]vnfm.VDUState, len(t.Flavour.VDUs))
	boundTo := map[*Object]string{}
	picks := pickedBy(t)
	var leftOut []string
	for i := range t.Flavour.VDUs {
		vdu := &t.Flavour.VDUs[i]
		if r.Release != nil && t.Part.IsForeign(vdu.ID) {
			continue
		}
		ref, mapped := mapping[vdu.ID]
		o := r.findWorkload(vdu, ref, mapped)
		if o == nil {
			// A VDU on another VIM needs no workload.
			switch {
			case !t.Part.Has(vdu.ID):
			case picks != "" && !mapped:
				leftOut = append(leftOut, vdu.ID)
				r.States[vdu.ID] = vnfm.VDUState{Replicas: new(int)}
			default:
				*ps = append(*ps, r.noWorkload(vdu, ref, mapped))
			}
			continue
		}
		if other, twice := boundTo[o]; twice {
			o.Problem(ps, fmt.Sprintf("VDUs %q and %q are both %s", other, vdu.ID, o.Key), "every VDU needs a workload of its own; vdu_mapping can say which")
			continue
		}
		boundTo[o] = vdu.ID
		r.VDUs[vdu.ID] = o
		count, ok := t.Counts[vdu.ID]
		if !ok {
			o.Problem(ps, fmt.Sprintf("the number of instances of VDU %q is not known", vdu.ID), "choose a deployment flavour that has this VDU")
			continue
		}
		r.States[vdu.ID] = r.bindCount(vdu, o, count, t.Instance.OperationalState == vnfm.Stopped, ps)
	}
	warnLeftOut(picks, leftOut, ps)
}

// pickedBy is the parameter with which a request selects manifests, or one of several charts, of a package; empty for none.
func pickedBy(t *vnfm.Target) string {
	for _, name := range []string{paramFiles, paramInstall, paramChart} {
		if _, ok := t.Instance.AdditionalParams[name]; ok && (name != paramChart || len(chartPaths(t.Package)) > 1) {
			return name
		}
	}
	return ""
}

// warnLeftOut warns of VDUs that have no workload in the manifests or the chart that the parameter selects.
func warnLeftOut(param string, vdus []string, ps *vnfm.Problems) {
	if len(vdus) == 0 {
		return
	}
	*ps = append(*ps, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams, Key: param,
		Summary: fmt.Sprintf("additional parameter %q picks no workload for VDUs %s: they have no VNFC", param, vnfm.QuotedNames(vdus)),
		Detail:  "add what holds their workloads, or name the workloads in " + translate.ParamVDUMapping + " if they have other names than their VDUs",
	})
}

// workloadKinds are the kinds that a VDU can be bound to by name alone, in order of preference.
var workloadKinds = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "StatefulSet"},
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "apps", Kind: "ReplicaSet"},
	{Kind: "Pod"},
}

// findWorkload returns the workload of a VDU, or nil.
func (r *Rendering) findWorkload(vdu *vnfm.VDU, ref translate.WorkloadRef, mapped bool) *Object {
	if mapped {
		return r.findObject(func(o *Object) bool { return o.GVK.Kind == ref.Kind && o.Name == ref.Name })
	}
	names := []string{vdu.Name}
	if r.Release != nil {
		names = r.Release.workloadNames(vdu)
	}
	for _, name := range names {
		for _, gk := range workloadKinds {
			if o := r.findObject(func(o *Object) bool { return o.GVK.GroupKind() == gk && o.Name == name }); o != nil {
				return o
			}
		}
		if o := r.findObject(func(o *Object) bool { return o.Name == name && r.hasReplicas(o) }); o != nil {
			return o
		}
	}
	if r.Release != nil {
		return r.findByLabel(vdu)
	}
	return nil
}

// findByLabel returns the only workload whose name label is the name of the VDU, or nil.
func (r *Rendering) findByLabel(vdu *vnfm.VDU) *Object {
	for _, label := range nameLabels {
		var found []*Object
		for _, o := range r.Objects {
			if o.Field("metadata", "labels", label) == vdu.Name && (slices.Contains(workloadKinds, o.GVK.GroupKind()) || r.hasReplicas(o)) {
				found = append(found, o)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return nil
}

// findObject returns the first matching object, preferably in the namespace of the instance.
func (r *Rendering) findObject(match func(*Object) bool) *Object {
	var found *Object
	for _, o := range r.Objects {
		if !match(o) {
			continue
		}
		if o.NamespaceIn(r.namespace) == r.namespace {
			return o
		}
		if found == nil {
			found = o
		}
	}
	return found
}

// hasReplicas reports whether an object outside workloadKinds has replicas in its manifest.
func (r *Rendering) hasReplicas(o *Object) bool {
	if slices.Contains(workloadKinds, o.GVK.GroupKind()) {
		return false
	}
	_, isNumber := o.Field(r.replicasPath(o)...).(int64)
	return isNumber
}

// noWorkload reports a VDU without a workload and lists the existing workloads.
func (r *Rendering) noWorkload(vdu *vnfm.VDU, ref translate.WorkloadRef, mapped bool) vnfm.Problem {
	var workloads []string
	for _, o := range r.Objects {
		if slices.Contains(workloadKinds, o.GVK.GroupKind()) || r.hasReplicas(o) {
			workloads = append(workloads, o.Key)
		}
	}
	slices.Sort(workloads)
	exist := "the manifests hold no workload"
	if len(workloads) > 0 {
		exist = "the workloads of the package are " + strings.Join(workloads, ", ")
	}
	if mapped {
		return vnfm.Problem{
			Attribute: vnfm.AttributeParams,
			Key:       translate.ParamVDUMapping,
			//findings:says name one of the workloads in the detail
			Summary: fmt.Sprintf("VDU %q is mapped to %s %q, which is not in the package", vdu.ID, ref.Kind, ref.Name),
			Detail:  exist,
		}
	}
	if r.Release != nil {
		exist += fmt.Sprintf("; nor is one named %s, nor does exactly one have the label %s", strings.Join(r.Release.workloadNames(vdu)[1:], " or "), strings.Join(nameLabels, " or "))
	}
	if len(vdu.SWImages) > 0 && vdu.Workload == nil {
		exist += "; if it is a server, place it on an OpenStack VIM in vim_connections"
	}
	return vnfm.Problem{
		Summary: fmt.Sprintf("VDU %q has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named %q", vdu.ID, vdu.Name),
		Detail:  exist + "; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is",
	}
}

// bindCount sets the replicas of a VDU's workload.
func (r *Rendering) bindCount(vdu *vnfm.VDU, o *Object, count int, stopped bool, ps *vnfm.Problems) vnfm.VDUState {
	state := vnfm.VDUState{Kind: o.GVK.Kind, Name: o.Name}
	fixed := o.GVK.GroupKind() == schema.GroupKind{Kind: "Pod"}
	daemon := o.GVK.GroupKind() == schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	if (fixed || daemon) && stopped {
		*ps = append(*ps, vnfm.Problem{
			Attribute: "operational_state",
			Summary:   fmt.Sprintf("VDU %q cannot be stopped", vdu.ID),
			Detail:    fmt.Sprintf("%s has no replicas that could be zero", o.Key),
		})
		return state
	}
	switch {
	case daemon:
		return state
	case fixed:
		if count != 1 {
			o.Problem(ps, fmt.Sprintf("VDU %q is a Pod and cannot have %d instances", vdu.ID, count), "a Pod is one instance; a Deployment or StatefulSet can be scaled")
		}
		one := 1
		state.Replicas = &one
		return state
	}
	path := r.replicasPath(o)
	value, written, _ := unstructured.NestedFieldNoCopy(o.Content, path...)
	if r.Release != nil {
		r.Release.checkCount(vdu.ID, o, value, count, ps)
		if !stopped {
			r.Release.warnReplicas(vdu.ID, value, count, ps)
		}
	}
	o.Scaling = &Scaling{VDU: vdu.ID, Path: path, Count: int64(count), Written: written}
	unstructured.RemoveNestedField(o.Content, o.Scaling.Path...)
	state.Replicas = &count
	return state
}

// WithReplicasAt returns a copy of the object with its replicas at another path.
func (o *Object) WithReplicasAt(path []string) *Object {
	out, scaling := *o, *o.Scaling
	scaling.Path = path
	out.Scaling = &scaling
	if o.Field(path...) != nil {
		out.Content = kube.Merged(o.Content, nil)
		kube.SetNested(out.Content, nil, path...)
		unstructured.RemoveNestedField(out.Content, path...)
	}
	return &out
}

// replicasPath returns the path of an object's replicas: from its definition if that is in the package, else the default.
func (r *Rendering) replicasPath(o *Object) []string {
	if d := r.Definitions[o.GVK.GroupKind()]; d != nil {
		if path := d.Replicas[o.GVK.Version]; path != nil {
			return path
		}
	}
	return defaultReplicasPath
}
