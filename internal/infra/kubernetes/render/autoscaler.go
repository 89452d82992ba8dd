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

// bindAutoscaled finds the workloads whose replicas an autoscaler of the package owns, and warns of scale levels that change none of
// them.
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

// leaveReplicas leaves the replicas of an object to an autoscaler. A manifest need not have them: what was applied before may.
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

// LeftToAutoscaler is an object whose replicas an autoscaler of others decides on. It has the digest of the object, and leaves that as it is.
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

// Replicas are where an object holds its replicas, and how many it is to have; nil where its manifest has none.
func (o *Object) Replicas() (path []string, wanted *int64) {
	if o.Scaling != nil {
		return o.Scaling.Path, &o.Scaling.Count
	}
	if count, written := o.Field(defaultReplicasPath...).(int64); written {
		wanted = &count
	}
	return defaultReplicasPath, wanted
}

// ScaleTarget is what an autoscaler scales. The group is empty when it names none.
type ScaleTarget struct{ group, kind, name string }

// Is reports whether an object of the namespace of the autoscaler is what it scales.
func (t ScaleTarget) Is(o *Object) bool {
	return o.GVK.Kind == t.kind && o.Name == t.name && (t.group == "" || t.group == o.GVK.Group)
}

// ScaleTargetOf returns what an autoscaler scales; ok is false when it does not say it.
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

// scaleTarget returns what an autoscaler scales; ok is false for other objects.
func scaleTarget(o *Object) (t ScaleTarget, ok bool) {
	if !IsAutoscaler(o.GVK.GroupKind()) {
		return t, false
	}
	return ScaleTargetOf(o.Content)
}

// IsAutoscaler reports whether objects of a kind are autoscalers of workloads.
func IsAutoscaler(gk schema.GroupKind) bool {
	return gk == schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"} || gk == schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
}
