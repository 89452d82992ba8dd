package base

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
)

// place identifies by two attributes, name by one.
var (
	place  = Identity{{Name: "namespace"}, {Name: "name"}}
	byName = Identity{{Name: "name"}}
)

// given is an identity with values, of which "" is null; without any it is null itself.
func given(t *testing.T, i Identity, values ...string) *tfsdk.ResourceIdentity {
	t.Helper()
	s := i.Schema()
	kind := s.Type().TerraformType(t.Context())
	out := &tfsdk.ResourceIdentity{Schema: s, Raw: tftypes.NewValue(kind, nil)}
	if len(values) == 0 {
		return out
	}
	raw := map[string]tftypes.Value{}
	for n, a := range i {
		raw[a.Name] = tftypes.NewValue(tftypes.String, values[n])
	}
	out.Raw = tftypes.NewValue(kind, raw)
	return out
}

func TestIdentityImported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		identity   Identity
		values     []string
		want       string
		refused    bool
	}{
		{name: "text", identity: place, text: "core5g/amf", want: "core5g/amf"},
		{name: "values", identity: place, values: []string{"core5g", "amf"}, want: "core5g/amf"},
		{name: "a slash in one of several", identity: place, values: []string{"core5g/amf", "amf"}, refused: true},
		{name: "a slash in the only one", identity: byName, values: []string{"vendor/amf"}, want: "vendor/amf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			got := c.identity.Imported(t.Context(), &resource.ImportStateRequest{ID: c.text, Identity: given(t, c.identity, c.values...)}, &diags)
			require.Equal(t, c.refused, diags.HasError(), diags)
			if !c.refused {
				require.Equal(t, c.want, got)
			}
		})
	}
}

// TestIdentitySet: the identity is that of the state once all of it is known there.
func TestIdentitySet(t *testing.T) {
	t.Parallel()
	object := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"namespace": tftypes.String, "name": tftypes.String}}
	of := func(namespace any) *tfsdk.State {
		return &tfsdk.State{
			Schema: schema.Schema{Attributes: map[string]schema.Attribute{
				"namespace": schema.StringAttribute{Computed: true}, "name": schema.StringAttribute{Required: true},
			}},
			Raw: tftypes.NewValue(object, map[string]tftypes.Value{
				"namespace": tftypes.NewValue(tftypes.String, namespace), "name": tftypes.NewValue(tftypes.String, "amf"),
			}),
		}
	}
	for _, c := range []struct {
		name      string
		namespace any
		want      *tfsdk.ResourceIdentity
	}{
		{"known", "core5g", given(t, place, "core5g", "amf")},
		{"null", nil, given(t, place)},
		{"unknown", tftypes.UnknownValue, given(t, place)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			got := given(t, place)
			place.Set(t.Context(), got, of(c.namespace), &diags)
			require.Empty(t, diags)
			require.True(t, c.want.Raw.Equal(got.Raw), got.Raw)
			// Terraform before 1.12 asks for none.
			place.Set(t.Context(), nil, of(c.namespace), &diags)
			require.Empty(t, diags)
		})
	}
}
