package vnfm_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestYAMLError(t *testing.T) {
	for _, tc := range []struct {
		yaml string
		line int
		text string
	}{
		{"a: [1, 2\nb: 3\n", 2, "did not find expected ',' or ']'"},
		{"a: 1\nb: {c: 1\nd: 2\n", 2, "did not find expected ',' or '}'"},
		{"a: 1\nb:\n  - c\n d: 2\n", 4, "did not find expected key"},
		{"}\n", 1, "did not find expected node content"},
		{"a: 1\n\tb: 2\n", 2, "found a tab character that violates indentation"},
		{"a: b: c\n", 0, "mapping values are not allowed in this context"},
	} {
		var out any
		err := yaml.Unmarshal([]byte(tc.yaml), &out)
		if err == nil {
			t.Errorf("%q is valid", tc.yaml)
			continue
		}
		if line, text := vnfm.YAMLError(err); line != tc.line || text != tc.text {
			t.Errorf("%q: line %d, %q, want line %d, %q (%v)", tc.yaml, line, text, tc.line, tc.text, err)
		}
	}
}
