package kubernetes

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// TestSample keeps one new object of each kind and form, and all changed objects.
func TestSample(t *testing.T) {
	t.Parallel()
	object := func(kind, key string, content map[string]any) *render.Object {
		return &render.Object{Key: key, GVK: schema.GroupVersionKind{Version: "v1", Kind: kind}, Content: content}
	}
	var objects []*render.Object
	for i := range 100 {
		objects = append(objects, object("ConfigMap", fmt.Sprint("new ", i), map[string]any{"data": map[string]any{fmt.Sprint(i): "x"}}))
	}
	objects = append(objects,
		object("ConfigMap", "other form", map[string]any{"data": map[string]any{}, "immutable": true}),
		object("Secret", "other kind", map[string]any{"data": map[string]any{}}),
		object("ConfigMap", "changes", map[string]any{"data": map[string]any{}}))
	isNew := func(o *render.Object) bool { return o.Key != "changes" }
	keys := func(objects []*render.Object) (out []string) {
		for _, o := range objects {
			out = append(out, o.Key)
		}
		return out
	}
	got := keys(sample(slices.Clone(objects), isNew))
	want := keys(append(slices.Clone(objects[:maxNewTried-2]), objects[100:]...))
	assert.True(t, slices.Equal(got, want), "%d objects are tried:\n%v\nwant %d:\n%v", len(got), got, len(want), want)
	few := objects[:maxNewTried]
	assert.Len(t, sample(slices.Clone(few), isNew), maxNewTried, "few objects are not all tried")
}
