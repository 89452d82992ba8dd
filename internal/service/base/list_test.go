package base_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

type thing struct {
	Name types.String `tfsdk:"name"`
}

// TestListOfNothing: filters that are not set are empty, a list without elements is not null, and an
// error names the objects.
func TestListOfNothing(t *testing.T) {
	t.Parallel()
	var filter map[string]string
	var failure error
	list := &base.List[string, thing]{
		DataSource: base.DataSource{Type: "vnf_things"}, Title: "Things",
		Filters: map[string]schema.StringAttribute{"name": base.Filter("Name."), "kind": base.Filter("Kind."), "management_vim_id": base.Filter("VIM.")},
		Name:    "things", Elements: func() map[string]schema.Attribute {
			return map[string]schema.Attribute{"name": schema.StringAttribute{Computed: true}}
		},
		Find: func(_ context.Context, _ vnfm.Manager, f map[string]string) ([]string, error) {
			filter = f
			return nil, failure
		},
	}
	manager := struct{ vnfm.Manager }{}
	require.Empty(t, modeltest.ReadList[thing](t, list, manager, map[string]string{"name": "a"}, "things"))
	require.Equal(t, map[string]string{"name": "a", "kind": "", "management_vim_id": ""}, filter)

	for value, problem := range map[string]string{
		"lab":                                  `"lab" is not an id, so that nothing is listed. The filter takes no name: refer to the resource, for example as vnf_vim.example.id.`,
		"5b0c6a6e-0d5c-4b0a-9a43-5f4c54f0d0b1": "",
	} {
		_, diags := modeltest.ReadDataSource(t, list, manager, map[string]string{"management_vim_id": value})
		require.Equal(t, problem != "", len(diags) == 1, "%v", diags)
		if problem != "" {
			require.Equal(t, diag.SeverityWarning, diags[0].Severity())
			require.Equal(t, problem, diags[0].Detail())
		}
	}

	failure = errors.New("the store is damaged")
	_, diags := modeltest.ReadDataSource(t, list, manager, nil)
	require.Len(t, diags, 1)
	require.Equal(t, "Unable to List Things", diags[0].Summary())
	require.Equal(t, "The store is damaged.", diags[0].Detail())
}
