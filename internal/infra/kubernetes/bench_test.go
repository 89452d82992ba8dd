package kubernetes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// benchSizes are the measured numbers of objects.
var benchSizes = []int{60, 300, 1000}

// BenchmarkRender measures the first step of every plan and operation: reading the manifests, binding the VDUs, summarising the objects.
func BenchmarkRender(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			files, vdus := sizedManifests(n, "1")
			target := targettest.Manifests(files, vdus)
			b.ReportAllocs()
			for b.Loop() {
				r, ps := render.Render(budget.New(b.Context(), budget.Limits{}), target)
				if ps.HasErrors() {
					b.Fatal(ps)
				}
				if len(r.Objects) != n {
					b.Fatalf("rendered %d objects, want %d", len(r.Objects), n)
				}
			}
		})
	}
}

// BenchmarkDrift measures the comparison of unchanged objects with the driver's managed fields, without the requests.
func BenchmarkDrift(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) {
			files, vdus := sizedManifests(n, "1")
			target := targettest.Manifests(files, vdus)
			r, ps := render.Render(budget.New(b.Context(), budget.Limits{}), target)
			if ps.HasErrors() {
				b.Fatal(ps)
			}
			s := &session{target: target, rendering: r, namespace: "core"}
			targets := make([]*targetObject, 0, n)
			for _, o := range r.Objects {
				p := &targetObject{object: o, ref: kube.Ref{Namespace: "core", Name: o.Name}, item: vnfm.InventoryItem{Key: o.Key}}
				p.live = &live{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{ownedWhole(b, applyBody(o, target, "core", nil))}}}
				targets = append(targets, p)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range targets {
					lost, err := s.lostFields(p)
					require.NoError(b, err)
					if len(lost) > 0 {
						b.Fatalf("%s lost %s", p, lost[0].Path)
					}
				}
			}
		})
	}
}

// ownedWhole is a managed fields entry of the driver that owns every field of an object. It owns lists as a whole, like the API
// server's entries for atomic lists.
func ownedWhole(b *testing.B, body map[string]any) metav1.ManagedFieldsEntry {
	b.Helper()
	set := fieldpath.NewSet()
	var add func(at fieldpath.Path, fields map[string]any)
	add = func(at fieldpath.Path, fields map[string]any) {
		for name, value := range fields {
			path := append(at.Copy(), fieldpath.FieldNameElement(name))
			if below, ok := value.(map[string]any); ok && len(below) > 0 {
				add(path, below)
				continue
			}
			set.Insert(path)
		}
	}
	add(nil, body)
	raw, err := set.ToJSON()
	require.NoError(b, err)
	return metav1.ManagedFieldsEntry{
		Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(raw)),
	}
}
