package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// workloadKinds are the kinds that a VDU can be bound to by name alone, the preferred ones
// first.
var workloadKinds = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "StatefulSet"},
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "apps", Kind: "ReplicaSet"},
	{Kind: "Pod"},
}

// readVDUMapping reads {vdu id: {kind, name}}.
func readVDUMapping(t *vnfm.Target, value any, ps *vnfm.Problems) map[string]translate.WorkloadRef {
	entries, ok := value.(map[string]any)
	if !ok {
		badParam(ps, translate.ParamVDUMapping, "must map VDU ids to { kind, name }", "")
		return nil
	}
	out := make(map[string]translate.WorkloadRef, len(entries))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if !hasVDU(t, translate.ParamVDUMapping, id, ps) {
			continue
		}
		fields, ok := entries[id].(map[string]any)
		if !ok {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("must be { kind, name } for VDU %q", id), "")
			continue
		}
		valid := true
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			if field != "kind" && field != "name" {
				detail := "only kind and name are known"
				if field == "helmreleasename" {
					detail += "; the name of the release is " + ParamReleaseName
				}
				badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("has an unknown field %q for VDU %q", field, id), detail)
				valid = false
			}
		}
		kind, _ := fields["kind"].(string)
		name, _ := fields["name"].(string)
		if kind == "" || name == "" {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("must give kind and name for VDU %q", id), "")
			valid = false
		}
		if valid {
			out[id] = translate.WorkloadRef{Kind: kind, Name: name}
		}
	}
	return out
}

// findWorkload returns the workload of a VDU, or nil.
func (r *Rendering) findWorkload(t *vnfm.Target, vdu *vnfm.VDU, ref translate.WorkloadRef, mapped bool) *Object {
	if mapped {
		return r.findObject(t, func(o *Object) bool { return o.GVK.Kind == ref.Kind && o.Name == ref.Name })
	}
	names := []string{vdu.Name}
	if r.Release != nil {
		names = r.Release.workloadNames(vdu)
	}
	for _, name := range names {
		for _, gk := range workloadKinds {
			if o := r.findObject(t, func(o *Object) bool { return o.GVK.GroupKind() == gk && o.Name == name }); o != nil {
				return o
			}
		}
		if o := r.findObject(t, func(o *Object) bool { return o.Name == name && r.hasReplicas(o) }); o != nil {
			return o
		}
	}
	if r.Release != nil {
		return r.Release.findByLabel(r, vdu)
	}
	return nil
}

// findObject returns the object that matches, preferably one in the namespace of the
// instance.
func (r *Rendering) findObject(t *vnfm.Target, match func(*Object) bool) *Object {
	namespace := InstanceNamespace(t)
	var found *Object
	for _, o := range r.Objects {
		if !match(o) {
			continue
		}
		if o.namespace == "" || o.namespace == namespace {
			return o
		}
		if found == nil {
			found = o
		}
	}
	return found
}

// hasReplicas reports whether the manifest of an object of any kind has replicas.
func (r *Rendering) hasReplicas(o *Object) bool {
	if slices.Contains(workloadKinds, o.GVK.GroupKind()) {
		return false
	}
	_, isNumber := o.Field(r.replicasPath(o)...).(int64)
	return isNumber
}

// noWorkload reports a VDU without a workload, and which workloads exist.
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
			Summary:   fmt.Sprintf("VDU %q is mapped to %s %q, which is not in the package", vdu.ID, ref.Kind, ref.Name),
			Detail:    exist,
		}
	}
	if r.Release != nil {
		exist += fmt.Sprintf("; nor is one named %s, nor does exactly one have the label %s", strings.Join(r.Release.workloadNames(vdu)[1:], " or "), strings.Join(nameLabels, " or "))
	}
	return vnfm.Problem{
		Summary: fmt.Sprintf("VDU %q has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named %q", vdu.ID, vdu.Name),
		Detail:  exist + "; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is",
	}
}
