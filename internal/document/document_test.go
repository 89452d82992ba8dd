package document_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
)

func TestRewrite(t *testing.T) {
	given := map[string]any{"a": []any{"x", map[string]any{"call": "y"}, nil}, "b": map[string]any{}, "n": json.Number("2")}
	before := document.Clone(given)
	got := document.Rewrite(given, func(v any) (any, bool) {
		m, _ := v.(map[string]any)
		arg, ok := m["call"]
		return arg, ok
	})
	want := map[string]any{"a": []any{"x", "y", nil}, "b": map[string]any{}, "n": json.Number("2")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls replaced (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, any(given)); diff != "" {
		t.Errorf("the document that was given has changed:\n%s", diff)
	}
}

func TestNumbers(t *testing.T) {
	given := []any{json.Number("9007199254740993"), json.Number("1.5"), json.Number("1e3"), "1", 1}
	want := []any{int64(9007199254740993), 1.5, 1000.0, "1", 1}
	if diff := cmp.Diff(any(want), document.Numbers(given)); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}
