package render

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// bindAutoscaled finds the workloads whose replicas an autoscaler of the package owns, and warns of scale levels that change none of
// them.
func (r *Rendering) bindAutoscaled(t *vnfm.Target, ps *vnfm.Problems) {
	for _, a := range r.Objects {
		ref, ok := scaleTarget(a)
		if !ok {
			continue
		}
		for _, o := range r.Objects {
			if o.GVK.Kind != ref.kind || o.Name != ref.name || (ref.group != "" && ref.group != o.GVK.Group) || a.NamespaceIn(r.namespace) != o.NamespaceIn(r.namespace) {
				continue
			}
			r.setAutoscaled(o, a.GVK.Group == "keda.sh")
			if o.Scaling != nil && !o.Scaling.DriverOwned() {
				warnOfLevels(t, o.Scaling.VDU, a, ps)
			}
		}
	}
}

// warnOfLevels warns of the scale levels of a request that would change the count of a VDU, had it no autoscaler.
func warnOfLevels(t *vnfm.Target, vdu string, autoscaler *Object, ps *vnfm.Problems) {
	for i := range t.Flavour.Aspects {
		a := &t.Flavour.Aspects[i]
		_, asked := t.Instance.ScaleLevels[a.ID]
		if !asked || !slices.ContainsFunc(slices.Collect(maps.Values(a.Deltas)), func(of map[string]int) bool { return of[vdu] != 0 }) {
			continue
		}
		*ps = append(*ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "scale_levels", Key: a.ID,
			Summary: fmt.Sprintf("the scale level of aspect %q does not change the number of VNFCs of VDU %q", a.ID, vdu),
			Detail:  autoscaler.Key + " decides on the replicas of its workload; change its limits, or take the autoscaler out",
		})
	}
}

// setAutoscaled leaves the replicas of an object to its autoscaler.
func (r *Rendering) setAutoscaled(o *Object, fromZero bool) {
	if o.Scaling != nil {
		o.Scaling.autoscaled, o.Scaling.FromZero = true, fromZero
		if o.Scaling.VDU != "" {
			state := r.States[o.Scaling.VDU]
			state.Autoscaled = true
			if !o.Scaling.DriverOwned() {
				state.Replicas = nil
			}
			r.States[o.Scaling.VDU] = state
		}
		return
	}
	path := r.replicasPath(o)
	count, ok := o.Field(path...).(int64)
	if !ok {
		return
	}
	o.Scaling = &Scaling{Path: path, Count: count, autoscaled: true, FromZero: fromZero, Written: true}
	unstructured.RemoveNestedField(o.Content, path...)
}

// scaleTarget returns what an autoscaler scales; ok is false for other objects.
func scaleTarget(o *Object) (ref struct{ group, kind, name string }, ok bool) {
	if !IsAutoscaler(o.GVK.GroupKind()) {
		return ref, false
	}
	fields, _ := o.Field("spec", "scaleTargetRef").(map[string]any)
	apiVersion, _ := fields["apiVersion"].(string)
	if gv, err := schema.ParseGroupVersion(apiVersion); err == nil {
		ref.group = gv.Group
	}
	ref.kind, _ = fields["kind"].(string)
	ref.name, _ = fields["name"].(string)
	if ref.kind == "" && o.GVK.Group == "keda.sh" {
		ref.kind = "Deployment" // KEDA's default.
	}
	return ref, ref.kind != "" && ref.name != ""
}

// IsAutoscaler reports whether objects of a kind are autoscalers of workloads.
func IsAutoscaler(gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"} || gk == schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
}
