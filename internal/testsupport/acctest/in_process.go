package acctest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// Listed is what a list resource shows of one object: its name, its identity, and its attributes with their values.
type Listed struct {
	Name                 string
	Identity, Attributes map[string]tftypes.Value
}

// List lists objects with the provider over the store, as terraform query does with generated configuration. It needs no Terraform.
func (s Store) List(t testing.TB, kind string, filter map[string]any) []Listed {
	t.Helper()
	ctx := t.Context()
	server, schemas := s.server(t)
	stream, err := server.ListResource(ctx, &tfprotov6.ListResourceRequest{
		TypeName: kind, Config: encode(t, schemas.ListResourceSchemas[kind].ValueType(), filter), IncludeResource: true, Limit: 100,
	})
	require.NoError(t, err)
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	require.NoError(t, err)
	var out []Listed
	for result := range stream.Results {
		for _, d := range result.Diagnostics {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
		if result.Identity == nil {
			continue
		}
		out = append(out, Listed{
			Name:       result.DisplayName,
			Identity:   decode(t, identities.IdentitySchemas[kind].ValueType(), result.Identity.IdentityData),
			Attributes: decode(t, schemas.ResourceSchemas[kind].ValueType(), result.Resource),
		})
	}
	return out
}

// Invoke runs an action with the provider over the store, and returns the steps that it shows. It needs no Terraform.
func (s Store) Invoke(t testing.TB, kind string, config map[string]any) []string {
	t.Helper()
	server, schemas := s.server(t)
	stream, err := server.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: kind, Config: encode(t, schemas.ActionSchemas[kind].Schema.ValueType(), config)})
	require.NoError(t, err)
	var steps []string
	for event := range stream.Events {
		switch e := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			steps = append(steps, e.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			for _, d := range e.Diagnostics {
				t.Errorf("%s: %s", d.Summary, d.Detail)
			}
		}
	}
	return steps
}

// Objects are the objects of an instance as the data source vnf_instance has them, without the release of a chart, which belongs to Helm. It
// needs no Terraform.
func (s Store) Objects(t testing.TB, id string) []string {
	t.Helper()
	server, schemas := s.server(t)
	kind := schemas.DataSourceSchemas["vnf_instance"].ValueType()
	read, err := server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: "vnf_instance", Config: encode(t, kind, map[string]any{"id": id})})
	require.NoError(t, err)
	require.Empty(t, read.Diagnostics)
	value, err := read.State.Unmarshal(kind)
	require.NoError(t, err)
	var attributes map[string]tftypes.Value
	require.NoError(t, value.As(&attributes))
	var names []tftypes.Value
	require.NoError(t, attributes["objects"].As(&names))
	out := make([]string, len(names))
	for i, name := range names {
		require.NoError(t, name.As(&out[i]))
	}
	return slices.DeleteFunc(out, func(name string) bool { return strings.HasPrefix(name, "helm.sh/v1/Release ") })
}

// server is a provider over the store.
func (s Store) server(t testing.TB) (provider.Server, *tfprotov6.GetProviderSchemaResponse) {
	t.Helper()
	server := provider.NewServer(Version)()
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: encode(t, schemas.Provider.ValueType(), map[string]any{
		"store": map[string]any{"local": map[string]any{"path": s.Path}}, "encryption": map[string]any{"key_file": s.KeyFile},
	})})
	require.NoError(t, err)
	require.Empty(t, configured.Diagnostics)
	return server, schemas
}

// Text is an attribute that is text.
func (l Listed) Text(t testing.TB, attribute string) string {
	t.Helper()
	var text string
	require.NoError(t, l.Attributes[attribute].As(&text))
	return text
}

// encode encodes an object, whose attributes are null where nothing is given.
func encode(t testing.TB, kind tftypes.Type, given map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	value, err := tfprotov6.NewDynamicValue(kind, object(t, kind, given))
	require.NoError(t, err)
	return &value
}

func object(t testing.TB, kind tftypes.Type, given map[string]any) tftypes.Value {
	t.Helper()
	o, ok := kind.(tftypes.Object)
	require.True(t, ok, "%s is no object", kind)
	values := map[string]tftypes.Value{}
	for name, attribute := range o.AttributeTypes {
		if nested, ok := given[name].(map[string]any); ok {
			values[name] = object(t, attribute, nested)
			continue
		}
		values[name] = tftypes.NewValue(attribute, given[name])
	}
	return tftypes.NewValue(kind, values)
}

func decode(t testing.TB, kind tftypes.Type, encoded *tfprotov6.DynamicValue) map[string]tftypes.Value {
	t.Helper()
	value, err := encoded.Unmarshal(kind)
	require.NoError(t, err)
	out := map[string]tftypes.Value{}
	require.NoError(t, value.As(&out))
	return out
}
