package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// bindAutoscaled leaves the replicas of workloads to the autoscalers in the package, and warns of scale levels without effect.
func (r *Rendering) bindAutoscaled(t *vnfm.Target, ps *vnfm.Problems) {
	for _, a := range r.Objects {
		ref, ok := scaleTarget(a)
		if !ok {
			continue
		}
		for _, o := range r.Objects {
			if !ref.Is(o) || a.NamespaceIn(r.namespace) != o.NamespaceIn(r.namespace) {
				continue
			}
			r.setAutoscaled(o, a.GVK.Group == "keda.sh")
			if o.Scaling != nil && !o.Scaling.DriverOwned() {
				warnOfLevels(t, o.Scaling.VDU, a, ps)
			}
		}
	}
}

// warnOfLevels warns of each requested scale level that has no effect because the VDU has an autoscaler.
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
	o.leaveReplicas(r.replicasPath(o), fromZero)
	if o.Scaling != nil && o.Scaling.VDU != "" {
		state := r.States[o.Scaling.VDU]
		state.Autoscaled = true
		if !o.Scaling.DriverOwned() {
			state.Replicas = nil
		}
		r.States[o.Scaling.VDU] = state
	}
}

// leaveReplicas leaves the replicas of an object to an autoscaler. A manifest without replicas gets a Scaling too, because the
// object may have been applied with replicas before.
func (o *Object) leaveReplicas(path []string, fromZero bool) {
	if o.Scaling == nil {
		count, written := o.Field(path...).(int64)
		if !written && o.Field(path...) != nil {
			return
		}
		o.Scaling = &Scaling{Path: path, Count: count, Written: written}
		unstructured.RemoveNestedField(o.Content, path...)
	}
	o.Scaling.autoscaled, o.Scaling.FromZero = true, fromZero
}

// LeftToAutoscaler returns a copy of the object whose replicas are left to an autoscaler outside the package. The copy keeps the
// digest of the object.
func (o *Object) LeftToAutoscaler(fromZero bool) *Object {
	out := *o
	if o.Scaling != nil {
		scaling := *o.Scaling
		out.Scaling = &scaling
	} else if o.Field(defaultReplicasPath...) != nil {
		out.Content = kube.Merged(o.Content, nil)
		kube.SetNested(out.Content, o.Field(defaultReplicasPath...), defaultReplicasPath...)
	}
	out.leaveReplicas(defaultReplicasPath, fromZero)
	return &out
}

// Replicas returns the path of the replicas and their desired number, nil if the manifest has none.
func (o *Object) Replicas() (path []string, wanted *int64) {
	if o.Scaling != nil {
		return o.Scaling.Path, &o.Scaling.Count
	}
	if count, written := o.Field(defaultReplicasPath...).(int64); written {
		wanted = &count
	}
	return defaultReplicasPath, wanted
}

// ScaleTarget is the workload of an autoscaler. The group is empty if the autoscaler names none.
type ScaleTarget struct{ group, kind, name string }

// Is reports whether the target is an object in the namespace of the autoscaler.
func (t ScaleTarget) Is(o *Object) bool {
	return o.GVK.Kind == t.kind && o.Name == t.name && (t.group == "" || t.group == o.GVK.Group)
}

// ScaleTargetOf returns the workload of an autoscaler; ok is false if the autoscaler names none.
func ScaleTargetOf(content map[string]any) (t ScaleTarget, ok bool) {
	fields, _ := fieldOf(content, "spec", "scaleTargetRef").(map[string]any)
	apiVersion, _ := fields["apiVersion"].(string)
	if gv, err := schema.ParseGroupVersion(apiVersion); err == nil {
		t.group = gv.Group
	}
	t.kind, _ = fields["kind"].(string)
	t.name, _ = fields["name"].(string)
	if own, _ := content["apiVersion"].(string); t.kind == "" && strings.HasPrefix(own, "keda.sh/") {
		t.kind = "Deployment" // KEDA's default.
	}
	return t, t.kind != "" && t.name != ""
}

// scaleTarget is ScaleTargetOf for any object; ok is false if it is no autoscaler.
func scaleTarget(o *Object) (t ScaleTarget, ok bool) {
	if !IsAutoscaler(o.GVK.GroupKind()) {
		return t, false
	}
	return ScaleTargetOf(o.Content)
}

// IsAutoscaler reports whether a kind is an autoscaler of workloads.
func IsAutoscaler(gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"} || gk == schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
}
