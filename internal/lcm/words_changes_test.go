package lcm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestSayConfiguration(t *testing.T) {
	const key = "vnf.nfv-iac.github.io/configuration"
	for line, want := range map[string]string{
		"spec.template.metadata.annotations." + key + ": a -> b":         "spec.template: reads other configuration",
		"spec.template.metadata.annotations." + key + ": added a":        "spec.template: reads other configuration",
		"spec.template.metadata.annotations." + key + ": removed, was a": "spec.template: reads other configuration",
		"spec.template.metadata.annotations.checksum: a -> b":            "spec.template.metadata.annotations.checksum: a -> b",
		"data.config: " + key + " -> other":                              "data.config: " + key + " -> other",
	} {
		if got := sayConfiguration(line); got != want {
			t.Errorf("sayConfiguration(%q) = %q, want %q", line, got, want)
		}
	}
}

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
	if got, want := said["apps/v1/Deployment amf"], []string{"env[DB_PASSWORD].value: changed", "image: b -> a", "secret: creds-2 -> creds-1"}; !slices.Equal(got, want) {
		t.Errorf("changed: %q", got)
	}
	if len(said) != 2 {
		t.Errorf("changes: %q", said)
	}
}
