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
		{"a:\n  b:\n    c: d\n\te: f\n", 4, "found a tab character that violates indentation"},
		{"a:\n  b: d\n   e\n\n\tf: g\n", 5, "found a tab character that violates indentation"},
		{"a: 1\nb: |2\n\tc\n", 3, "found a tab character where an indentation space is expected"},
		{"\ta: 1\n", 1, "found character that cannot start any token"},
		{"a: *b\n", 0, "unknown anchor 'b' referenced"},
		{"a: b: c\n", 1, "mapping values are not allowed in this context"},
	} {
		var out any
		err := yaml.Unmarshal([]byte(tc.yaml), &out)
		if err == nil {
			t.Errorf("%q is valid", tc.yaml)
			continue
		}
		if line, text := vnfm.YAMLError([]byte(tc.yaml), err); line != tc.line || text != tc.text {
			t.Errorf("%q: line %d, %q, want line %d, %q (%v)", tc.yaml, line, text, tc.line, tc.text, err)
		}
	}
}
