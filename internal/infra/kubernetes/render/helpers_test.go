package render

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// renderOne renders a single manifest and returns its object.
func renderOne(t *testing.T, text string) *Object {
	t.Helper()
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
	require.False(t, ps.HasErrors(), "render: %v", ps)
	require.Len(t, r.Objects, 1, "render made")
	return r.Objects[0]
}
