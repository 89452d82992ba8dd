package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// lists are the data sources that list objects of a kind, with their filters.
var lists = map[string][]string{
	"vnf_capi_workload_clusters": {"management_vim_id", "name", "namespace"},
	"vnf_instances":              {"name", "namespace", "package_id", "vim_id"},
	"vnf_packages":               {"name", "vnfd_id"},
	"vnf_private_registries":     {"instance_id", "name"},
	"vnf_vims":                   {"name", "type"},
}

// listResources are the list resources, with the data source that lists the same records.
var listResources = map[string]string{
	"vnf_capi_workload_cluster": "vnf_capi_workload_clusters", "vnf_instance": "vnf_instances", "vnf_package": "vnf_packages",
	"vnf_private_registry": "vnf_private_registries", "vnf_vim": "vnf_vims",
}

// TestListsAreUniform checks that each data source that lists objects has optional filters, which
// reject empty strings and may be unknown, and one computed list that is named like the type.
func TestListsAreUniform(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	schemas := getSchema(t).DataSourceSchemas
	for name, want := range lists {
		s := schemas[name]
		if s == nil {
			t.Errorf("the provider has no data source %s", name)
			continue
		}
		filters := filtersOf(t, name, s)
		if !slices.Equal(filters, want) {
			t.Errorf("%s has the filters %v, want %v", name, filters, want)
		}
		for _, filter := range filters {
			if got := rejected(t, server, name, s, filter, ""); got != 1 {
				t.Errorf("%s: %d errors for an empty %s", name, got, filter)
			}
			if got := rejected(t, server, name, s, filter, tftypes.UnknownValue); got != 0 {
				t.Errorf("%s: %d errors for an unknown %s", name, got, filter)
			}
		}
	}
	lister := provider.NewServer("test")()
	for name, want := range listResources {
		var filters []string
		s := getSchema(t).ListResourceSchemas[name]
		for _, a := range s.Block.Attributes {
			filters = append(filters, a.Name)
			config := configOf(t, s, a.Name, "")
			resp, err := lister.ValidateListResourceConfig(t.Context(), &tfprotov6.ValidateListResourceConfigRequest{TypeName: name, Config: &config})
			require.NoError(t, err)
			require.Len(t, resp.Diagnostics, 1, "%s with an empty %s", name, a.Name)
			require.Equal(t, tftypes.NewAttributePath().WithAttributeName(a.Name).String(), resp.Diagnostics[0].Attribute.String())
		}
		slices.Sort(filters)
		if !slices.Equal(filters, lists[want]) {
			t.Errorf("the list resource %s has the filters %v, want those of %s, %v", name, filters, want, lists[want])
		}
	}
	if got := rejected(t, server, "vnf_vims", schemas["vnf_vims"], "type", "vmware"); got != 1 {
		t.Errorf("vnf_vims: %d errors for an unsupported type", got)
	}
}

// filtersOf returns the names of the filters of a data source, sorted.
func filtersOf(t *testing.T, name string, s *tfprotov6.Schema) []string {
	t.Helper()
	list := strings.TrimPrefix(strings.TrimPrefix(name, "vnf_"), "capi_")
	found := false
	var filters []string
	for _, a := range s.Block.Attributes {
		switch {
		case a.Name == list:
			found = a.Computed && !a.Optional && a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeList
		case a.Optional && !a.Computed && a.Type.Is(tftypes.String):
			filters = append(filters, a.Name)
		default:
			t.Errorf("%s.%s is neither the list nor a filter", name, a.Name)
		}
	}
	if !found {
		t.Errorf("%s has no computed list %s", name, list)
	}
	slices.Sort(filters)
	return filters
}

// rejected counts the errors at an attribute with a value when a configuration has it alone.
func rejected(t *testing.T, server tfprotov6.ProviderServer, name string, s *tfprotov6.Schema, attribute string, value any) int {
	t.Helper()
	config := configOf(t, s, attribute, value)
	resp, err := server.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: &config})
	require.NoError(t, err)
	n := 0
	for _, d := range resp.Diagnostics {
		if !d.Attribute.Equal(tftypes.NewAttributePath().WithAttributeName(attribute)) {
			t.Errorf("%s: a diagnostic at %s: %s", name, d.Attribute, d.Summary)
		}
		n++
	}
	return n
}

// configOf is a configuration that has one attribute alone, a string.
func configOf(t *testing.T, s *tfprotov6.Schema, attribute string, value any) tfprotov6.DynamicValue {
	t.Helper()
	object, ok := s.ValueType().(tftypes.Object)
	require.True(t, ok)
	values := map[string]tftypes.Value{}
	for name, kind := range object.AttributeTypes {
		values[name] = tftypes.NewValue(kind, nil)
	}
	values[attribute] = tftypes.NewValue(tftypes.String, value)
	config, err := tfprotov6.NewDynamicValue(object, tftypes.NewValue(object, values))
	require.NoError(t, err)
	return config
}
