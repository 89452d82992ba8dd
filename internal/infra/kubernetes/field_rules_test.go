package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFieldRules(t *testing.T) {
	const key = "vnf.nfv-iac.github.io/configuration"
	for line, want := range map[string]string{
		"spec.template.metadata.annotations." + key + ": a -> b":         "spec.template: reads other configuration",
		"spec.template.metadata.annotations." + key + ": added a":        "spec.template: reads other configuration",
		"spec.template.metadata.annotations." + key + ": removed, was a": "spec.template: reads other configuration",
		"spec.template.metadata.annotations.checksum: a -> b":            "spec.template.metadata.annotations.checksum: a -> b",
		"data.config: " + key + " -> other":                              "data.config: " + key + " -> other",
	} {
		assert.Equal(t, want, fieldRules.Reword(line), "words for %q", line)
	}
	for line, want := range map[string]string{
		"spec.versions[v1].schema.openAPIV3Schema.a[b].schema: added 1": "spec.versions[v1].schema",
		"spec.versions[v1].served: false -> true":                       "",
		"spec.versions[v3":                      "",
		"data.a: spec.versions[v1].schema -> b": "",
	} {
		assert.Equal(t, want, fieldRules.Counted(line), "what is counted of %q", line)
	}
	for line, want := range map[string]bool{
		"metadata.labels.a: b -> c": true, "spec.template.metadata.annotations.checksum: a -> b": true, "spec.selector.matchLabels.a: b -> c": false,
	} {
		assert.Equal(t, want, fieldRules.Common(line), "%q is common", line)
	}
}
