package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestDecide decides about a ConfigMap and a Pod as they may be found.
func TestDecide(t *testing.T) {
	t.Parallel()
	const manifests = `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {a: b}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, image: example.org/a, envFrom: [{configMapRef: {name: a}}]}]}
`
	target := targettest.Manifests(map[string]string{"a.yaml": manifests}, nil)
	target.Instance.ID, target.Instance.Name = "i-1", "core"
	rendering, problems := render.Render(budget.New(t.Context(), budget.Limits{}), target)
	require.NoError(t, problems.Err())
	deleted := metav1.Now()
	// own is an object of the instance, unchanged since its last apply.
	own := func(change func(*live)) func(o *render.Object) *live {
		return func(o *render.Object) *live {
			l := &live{ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{labelInstance: "i-1"},
				Annotations: map[string]string{annotationDigest: o.Digest, annotationInstance: "core", annotationPackage: "core@1", annotationKey: o.Key},
			}}
			if used, ok := o.Field("metadata", "annotations", render.AnnotationConfiguration).(string); ok {
				l.Annotations[render.AnnotationConfiguration] = used
			}
			l.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:a":{}},"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:image":{},"f:envFrom":{}}}}}`),
			}}
			change(l)
			return l
		}
	}
	as := own(func(*live) {})
	for name, tt := range map[string]struct {
		kind   string
		live   func(o *render.Object) *live
		shared bool
		want   action
	}{
		"missing":         {"ConfigMap", func(*render.Object) *live { return nil }, false, actionCreate},
		"as applied":      {"ConfigMap", as, false, actionKeep},
		"shared":          {"ConfigMap", as, true, actionUse},
		"other content":   {"ConfigMap", own(func(l *live) { l.Annotations[annotationDigest] = "former" }), false, actionChange},
		"former name":     {"ConfigMap", own(func(l *live) { l.Annotations[annotationInstance] = "former" }), false, actionRepair},
		"field was taken": {"ConfigMap", own(func(l *live) { l.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{}`) }), false, actionRepair},
		"of nobody":       {"ConfigMap", own(func(l *live) { l.Labels = nil }), false, actionAdopt},
		"Pod as applied":  {"Pod", as, false, actionKeep},
		"Pod with former configuration": {
			"Pod", own(func(l *live) {
				l.Annotations[annotationDigest], l.Annotations[render.AnnotationConfiguration] = "former", "former"
			}), false, actionReplace,
		},
		"Pod with former configuration that goes": {
			"Pod", own(func(l *live) {
				l.Annotations[annotationDigest], l.Annotations[render.AnnotationConfiguration], l.DeletionTimestamp = "former", "former", &deleted
			}), false, actionChange,
		},
		"Pod of nobody": {"Pod", own(func(l *live) { l.Labels = nil }), false, actionReplace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &session{target: target, rendering: rendering}
			for _, o := range rendering.Objects {
				if o.GVK.Kind != tt.kind {
					continue
				}
				p := s.newTargetObject(o, kube.Resource{GVK: o.GVK, Namespaced: true})
				p.live, p.shared = tt.live(o), tt.shared
				got, err := s.decide(p)
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
			}
		})
	}
}
