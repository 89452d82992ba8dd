package clustertemplate

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
)

// TestEveryArgumentIsRead: each argument reaches the template, and the template survives
// its definition.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	modeltest.EachArgument(t, modeltest.Full(t, NewResource(), map[string]any{"chart.values.0": "a: b"}), []string{"id", "definition", "name"}, func(m *model, diags *diag.Diagnostics) any {
		template, known := m.template(t.Context(), diags)
		if !known {
			t.Error("the template is not known")
		}
		definition, err := template.Definition()
		if err != nil {
			t.Error(err)
		}
		read, err := magnum.Parse(definition)
		if err != nil {
			t.Error(err)
		}
		return read
	})
}
