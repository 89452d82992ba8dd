package instance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestEmptyIsNone: an empty collection means the same as a null one, needs no operation
// beside it, and the state keeps which of them was written.
func TestEmptyIsNone(t *testing.T) {
	t.Parallel()
	emptyMap, emptyList := map[string]tftypes.Value{}, []tftypes.Value{}
	for path, c := range map[string]struct {
		empty any
		value func(*model) attr.Value
	}{
		"metadata":                      {emptyMap, func(m *model) attr.Value { return m.Metadata }},
		"scale_levels":                  {emptyMap, func(m *model) attr.Value { return m.ScaleLevels }},
		"scale_in_vnfc_ids":             {emptyList, func(m *model) attr.Value { return m.ScaleInVNFCIDs }},
		"availability_zones":            {emptyList, func(m *model) attr.Value { return m.AvailabilityZones }},
		"replace_objects":               {emptyList, func(m *model) attr.Value { return m.ReplaceObjects }},
		"readiness":                     {emptyList, func(m *model) attr.Value { return m.Readiness }},
		"vim_connections":               {emptyMap, func(m *model) attr.Value { return m.VIMConnections }},
		"vim_connections.key.vdu_ids":   {emptyList, func(m *model) attr.Value { return m.VIMConnections }},
		"vim_connections.key.manifests": {emptyList, func(m *model) attr.Value { return m.VIMConnections }},
		"ext_virtual_links":             {emptyMap, func(m *model) attr.Value { return m.ExtVirtualLinks }},
		"ext_managed_virtual_links":     {emptyMap, func(m *model) attr.Value { return m.ExtManagedVirtualLinks }},
		"ext_virtual_links.key.ext_cps.key.ip_addresses":                   {emptyList, func(m *model) attr.Value { return m.ExtVirtualLinks }},
		"ext_virtual_links.key.ext_cps.key.ip_addresses.0.fixed_addresses": {emptyList, func(m *model) attr.Value { return m.ExtVirtualLinks }},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			none, empty := decoded(t, path, nil), decoded(t, path, c.empty)
			if diff := cmp.Diff(specOf(t, none), specOf(t, empty)); diff != "" {
				t.Errorf("(-null +empty):\n%s", diff)
			}
			assert.False(t, empty.Differs(t.Context(), none), "an empty collection needs an operation")
			assert.False(t, none.Differs(t.Context(), empty), "no collection needs an operation")
			for _, m := range []*model{none, empty} {
				before := c.value(m)
				var diags diag.Diagnostics
				m.SetRecord(t.Context(), &vnfm.Instance{}, &diags)
				require.Empty(t, diags)
				assert.True(t, before.Equal(c.value(m)), "%s became %s", before, c.value(m))
			}
		})
	}
}

// TestEmptyParametersAreNone: an object without parameters means the same as none.
func TestEmptyParametersAreNone(t *testing.T) {
	t.Parallel()
	none, empty := decoded(t, "metadata", nil), decoded(t, "metadata", nil)
	none.AdditionalParams = types.DynamicNull()
	empty.AdditionalParams = types.DynamicValue(types.ObjectValueMust(map[string]attr.Type{}, map[string]attr.Value{}))
	assert.Empty(t, cmp.Diff(specOf(t, none), specOf(t, empty)))
	assert.False(t, empty.Differs(t.Context(), none))
	assert.False(t, none.Differs(t.Context(), empty))
}

// TestLinkWithoutPoints: a network may connect no connection point.
func TestLinkWithoutPoints(t *testing.T) {
	t.Parallel()
	spec := specOf(t, decoded(t, "ext_virtual_links.key.ext_cps", map[string]tftypes.Value{}))
	require.Contains(t, spec.Links.External, "key")
	assert.Empty(t, spec.Links.External["key"].ExtCPs)
}

// decoded is a model with everything set but the value at a path, which is another one.
func decoded(t *testing.T, path string, value any) *model {
	t.Helper()
	return modeltest.Decode[model](t, modeltest.Full(t, NewResource(), map[string]any{
		path: value, "lock_timeout": "30s", "credentials_sink.timeout": "30s", "termination.graceful_timeout": "30s",
	}))
}

func specOf(t *testing.T, m *model) vnfm.InstanceSpec {
	t.Helper()
	var diags diag.Diagnostics
	spec, known := m.Spec(t.Context(), nil, &diags)
	require.True(t, known)
	require.Empty(t, diags)
	return spec
}
