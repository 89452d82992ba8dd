package render

import (
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// renderOne renders a single manifest and returns its object.
func renderOne(t *testing.T, text string) *Object {
	t.Helper()
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
	if ps.HasErrors() {
		t.Fatalf("render: %v", ps)
	}
	if len(r.Objects) != 1 {
		t.Fatalf("render made %d objects, want 1", len(r.Objects))
	}
	return r.Objects[0]
}
