package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// TestActionsRefuseBadInput: each argument of each action has a value that is refused by one error at it.
func TestActionsRefuseBadInput(t *testing.T) {
	t.Parallel()
	server := provider.NewServer("test")()
	none := tftypes.Set{ElementType: tftypes.String}
	bad := map[string]map[string]tftypes.Value{
		"vnf_heal": {
			"instance_id": tftypes.NewValue(tftypes.String, ""), "cause": tftypes.NewValue(tftypes.String, ""), "timeout": tftypes.NewValue(tftypes.String, "soon"),
			"vnfc_ids": tftypes.NewValue(none, []tftypes.Value{}), "vdu_ids": tftypes.NewValue(none, []tftypes.Value{tftypes.NewValue(tftypes.String, "")}),
		},
		"vnf_rotate_credential": {"cluster_id": tftypes.NewValue(tftypes.String, ""), "timeout": tftypes.NewValue(tftypes.String, "1")},
		"vnf_rotate_kubeconfig": {"cluster_id": tftypes.NewValue(tftypes.String, ""), "timeout": tftypes.NewValue(tftypes.String, "-1s")},
		"vnf_run_hook": {
			"instance_id": tftypes.NewValue(tftypes.String, ""), "hook": tftypes.NewValue(tftypes.String, ""), "timeout": tftypes.NewValue(tftypes.String, "0s"),
		},
	}
	for name, a := range getSchema(t).ActionSchemas {
		for _, attribute := range a.Schema.Block.Attributes {
			value, tried := bad[name][attribute.Name]
			if !tried {
				// Every truth value is allowed.
				require.True(t, attribute.Type.Is(tftypes.Bool), "%s.%s is not tried", name, attribute.Name)
				continue
			}
			kind, ok := a.Schema.ValueType().(tftypes.Object)
			require.True(t, ok)
			values := map[string]tftypes.Value{}
			for _, each := range a.Schema.Block.Attributes {
				values[each.Name] = tftypes.NewValue(each.Type, nil)
				if each.Required {
					values[each.Name] = tftypes.NewValue(each.Type, "x")
				}
			}
			values[attribute.Name] = value
			config, err := tfprotov6.NewDynamicValue(kind, tftypes.NewValue(kind, values))
			require.NoError(t, err)
			resp, err := server.ValidateActionConfig(t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: &config})
			require.NoError(t, err)
			require.Len(t, resp.Diagnostics, 1, "%s.%s", name, attribute.Name)
			at, _ := resp.Diagnostics[0].Attribute.Steps()[0].(tftypes.AttributeName)
			require.Equal(t, attribute.Name, string(at), name)
		}
	}
}
