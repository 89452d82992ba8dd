package lcm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestManyLines: what has many lines does not hide what else changes.
func TestManyLines(t *testing.T) {
	objects := map[string]any{}
	others := map[string]any{}
	for i := range 200 {
		objects[fmt.Sprintf("v1/ConfigMap m%03d", i)] = nil
	}
	objects["apps/v1/Deployment amf"] = map[string]any{"image": "a", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "planted-1"}}, "secret": "creds-1"}
	others["apps/v1/Deployment amf"] = map[string]any{"image": "b", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "planted-2"}}, "secret": "creds-2"}
	rendered := func(fields map[string]any) *vnfm.Rendering {
		r := &vnfm.Rendering{Fields: fields}
		r.Objects = map[string]string{}
		for key := range fields {
			r.Objects[key] = ""
		}
		return r
	}
	w := &words{before: rendered(others), after: rendered(objects), mask: func(text string) string { return text }, out: &vnfm.PlannedUpdate{Changes: map[string][]string{}}}
	w.changes()
	said := w.finish().Changes
	if got := said[addedObjects]; len(got) != maxPerObject || got[maxPerObject-1] != "and 191 more" {
		t.Errorf("added: %q", got)
	}
	require.Equal(t, []string{"env[DB_PASSWORD].value: changed", "image: b -> a", "secret: creds-2 -> creds-1"}, said["apps/v1/Deployment amf"], "changed")
	require.Len(t, said, 2, "changes")
}

// TestKept: what stays on the VIM when it leaves the package is not removed.
func TestKept(t *testing.T) {
	before := &vnfm.Rendering{
		Preview: vnfm.Preview{Objects: map[string]string{"v1/PersistentVolumeClaim data": "", "apps/v1/StatefulSet db": "", "v1/ConfigMap c": ""}},
		Kept:    map[string]string{"v1/PersistentVolumeClaim data": "v1/PersistentVolumeClaim data", "apps/v1/StatefulSet db": "volume claims of apps/v1/StatefulSet db"},
	}
	w := &words{before: before, after: &vnfm.Rendering{}, mask: func(text string) string { return text }, out: &vnfm.PlannedUpdate{Changes: map[string][]string{}}}
	w.changes()
	require.Equal(t, map[string][]string{
		"removed":                 {"apps/v1/StatefulSet db", "v1/ConfigMap c"},
		"kept, no longer managed": {"volume claims of apps/v1/StatefulSet db", "v1/PersistentVolumeClaim data"},
	}, w.finish().Changes)
}

// TestVersionChanged: an object that is written in another version of its API is neither new nor gone.
func TestVersionChanged(t *testing.T) {
	rendered := func(key string, fields map[string]any) *vnfm.Rendering {
		return &vnfm.Rendering{Preview: vnfm.Preview{Objects: map[string]string{key: ""}}, Fields: map[string]any{key: fields}}
	}
	const was, is = "edge: autoscaling/v1/HorizontalPodAutoscaler core/web", "edge: autoscaling/v2/HorizontalPodAutoscaler core/web"
	before := rendered(was, map[string]any{"apiVersion": "autoscaling/v1", "spec": map[string]any{"maxReplicas": 3, "targetCPUUtilizationPercentage": 80}})
	w := &words{
		before: before, after: rendered(is, map[string]any{"apiVersion": "autoscaling/v2", "spec": map[string]any{"maxReplicas": 3, "metrics": []any{}}}),
		changed: map[string]string{is: "sha256:1"}, mask: func(text string) string { return text },
		out: &vnfm.PlannedUpdate{Changes: map[string][]string{}},
	}
	w.changes()
	require.Equal(t, map[string][]string{is: {
		"apiVersion: autoscaling/v1 -> autoscaling/v2", "spec.metrics: added []", "spec.targetCPUUtilizationPercentage: removed, was 80",
	}}, w.finish().Changes)
	require.Contains(t, before.Objects, was, "a rendering is never changed")
}

// TestChangesOfDefinitions: long parts of objects are counted, and what runs comes before other objects that have many lines.
func TestChangesOfDefinitions(t *testing.T) {
	counting := &words{after: &vnfm.Rendering{FieldRules: vnfm.FieldRules{{Lines: lazyregexp.New(`^spec\.versions\[.*?\]\.schema`), Counted: true}}}}
	got := counting.countFields([]string{
		"metadata.labels.a: b -> c", "spec.versions[v1].schema.openAPIV3Schema.a.description: x -> y", "spec.versions[v1].schema.openAPIV3Schema.b: added",
		"spec.versions[v1].served: false -> true", "spec.versions[v2].schema.openAPIV3Schema.a: removed", "spec.versions[v3",
	})
	want := []string{
		"metadata.labels.a: b -> c", "spec.versions[v1].schema: 2 fields", "spec.versions[v1].served: false -> true",
		"spec.versions[v2].schema.openAPIV3Schema.a: removed", "spec.versions[v3",
	}
	require.Equal(t, want, got, "lines")
	w := &words{after: &vnfm.Rendering{Units: map[string]vnfm.Unit{"web": {Object: "apps/v1/Deployment web"}}}, out: &vnfm.PlannedUpdate{Changes: map[string][]string{}}}
	w.after.Objects = map[string]string{"apps/v1/Deployment web": ""}
	for i := range 9 {
		key := fmt.Sprintf("a/v1/A %d", i)
		w.after.Objects[key], w.out.Changes[key] = "", slices.Repeat([]string{"line"}, 20)
	}
	w.out.Changes["apps/v1/Deployment web"] = []string{"image"}
	w.limitChanges()
	if len(w.out.Changes["apps/v1/Deployment web"]) != 1 || w.out.Changes[moreObjects] == nil || w.out.Changes["a/v1/A 8"] != nil {
		t.Errorf("changes: %q", w.out.Changes)
	}
}

// TestHooksOfARevision: the first operation that makes a revision of a chart runs its hooks, and no operation where the revision stays.
func TestHooksOfARevision(t *testing.T) {
	after := &vnfm.Rendering{Revision: "b", Upgraded: vnfm.RenderedHooks{Before: []string{"pre-upgrade hook Job migrate"}}}
	w := &words{before: &vnfm.Rendering{Revision: "a"}, after: after}
	require.Len(t, w.revision().Before, 1, "hooks of the first operation")
	require.Empty(t, w.revision().Before, "hooks of the first operation")
	for what, before := range map[string]*vnfm.Rendering{"the same revision": {Revision: "b"}, "nothing known": nil} {
		w := &words{before: before, after: after}
		require.Empty(t, w.revision().Before, "hooks with %s", what)
	}
}
