package provider_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// TestEmptyObjects: what is misspelt inside { } never reaches the provider, which warns of an argument in which nothing is set.
func TestEmptyObjects(t *testing.T) {
	t.Parallel()
	types := getSchema(t).ResourceSchemas
	warnings := func(resource string, arguments object) []string {
		typ := types[resource].ValueType()
		config, err := tfprotov6.NewDynamicValue(typ, configured(t, typ, arguments))
		require.NoError(t, err)
		resp, err := provider.NewServer("test")().ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: resource, Config: &config})
		require.NoError(t, err)
		var said []string
		for _, d := range resp.Diagnostics {
			if d.Summary == "Nothing Is Set in an Argument" {
				assert.Equal(t, tfprotov6.DiagnosticSeverityWarning, d.Severity)
				said = append(said, d.Attribute.String())
			}
		}
		return said
	}
	for _, resource := range slices.Sorted(maps.Keys(types)) {
		argument := "timeouts"
		if resource == "vnf_capi_cluster_template" {
			argument = "chart"
		}
		assert.Equal(t, []string{fmt.Sprintf("AttributeName(%q)", argument)}, warnings(resource, object{argument: object{}}), resource)
	}
	inner := tftypes.NewValue(tftypes.Object{}, map[string]tftypes.Value{})
	own := tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"values": inner.Type()}}, map[string]tftypes.Value{"values": inner})
	for name, c := range map[string]struct {
		resource  string
		arguments object
		want      []string
	}{
		"set":       {"vnf_instance", object{"termination": object{"type": "forceful"}}, nil},
		"own shape": {"vnf_instance", object{"additional_params": own}, nil},
		"element":   {"vnf_capi_workload_cluster", object{"node_groups": object{"a": object{}}}, nil},
		"in an element": {"vnf_capi_workload_cluster", object{"node_groups": object{"a": object{"rollout": object{}}}},
			[]string{`AttributeName("node_groups").ElementKeyString("a").AttributeName("rollout")`}},
		"asked for": {"vnf_capi_workload_cluster", object{"openstack": object{"application_credential": object{}, "deletion_policy": object{}}},
			[]string{`AttributeName("openstack").AttributeName("deletion_policy")`}},
	} {
		assert.Equal(t, c.want, warnings(c.resource, c.arguments), name)
	}
}
