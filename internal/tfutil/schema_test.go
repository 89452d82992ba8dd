package tfutil_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	pschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// probe is a provider with one resource that has one secret.
type probe struct{ resource.Resource }

func (probe) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "probe"
}
func (probe) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = pschema.Schema{}
}
func (probe) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (probe) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (probe) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return probeResource{} }}
}

type probeResource struct{ resource.Resource }

func (probeResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "probe_secret"
}

func probeAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{"name": schema.StringAttribute{Optional: true}}
	tfutil.Secret{Name: "token", Description: "Token of the probe."}.AddTo(attributes)
	return attributes
}

func (probeResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: probeAttributes()}
}

func TestSecretRules(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(probe{})()
	require.NoError(t, err)
	objectType := tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"name": tftypes.String, "token": tftypes.String, "token_wo": tftypes.String, "token_wo_version": tftypes.Number}}
	null, unknown := tftypes.NewValue(tftypes.String, nil), tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	text := func(s string) tftypes.Value { return tftypes.NewValue(tftypes.String, s) }
	noVersion, version := tftypes.NewValue(tftypes.Number, nil), tftypes.NewValue(tftypes.Number, 1)
	for name, tt := range map[string]struct {
		plain, wo, version tftypes.Value
		want               string
	}{
		"none":             {null, null, noVersion, ""},
		"plain":            {text("a"), null, noVersion, ""},
		"write-only":       {null, text("a"), version, ""},
		"no version":       {null, text("a"), noVersion, ""},
		"unknown":          {null, unknown, version, ""},
		"both":             {text("a"), text("b"), version, "Invalid Attribute Combination"},
		"version alone":    {null, null, version, "Invalid Attribute Combination"},
		"version of plain": {text("a"), null, version, "Invalid Attribute Combination"},
		"empty":            {text(""), null, noVersion, "Invalid Attribute Value Length"},
		"empty write-only": {null, text(""), version, "Invalid Attribute Value Length"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := tfprotov6.NewDynamicValue(objectType, tftypes.NewValue(objectType, map[string]tftypes.Value{
				"name": null, "token": tt.plain, "token_wo": tt.wo, "token_wo_version": tt.version}))
			require.NoError(t, err)
			resp, err := server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: "probe_secret", Config: &config,
				ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true}})
			require.NoError(t, err)
			got := ""
			for _, d := range resp.Diagnostics {
				got = d.Summary
			}
			require.Equal(t, tt.want, got, "diagnostic")
		})
	}
}

func TestSecretSchema(t *testing.T) {
	t.Parallel()
	attributes := probeAttributes()
	if !attributes["token"].IsSensitive() || !attributes["token_wo"].IsWriteOnly() || !attributes["token_wo"].IsSensitive() {
		t.Error("a form of the secret is neither sensitive nor write-only")
	}
	for name, a := range attributes {
		if name != "name" && !strings.HasSuffix(a.GetMarkdownDescription(), ".") {
			t.Errorf("%s is not described: %q", name, a.GetMarkdownDescription())
		}
	}
	for name, tt := range map[string]struct{ plain, wo, want types.String }{
		"none":  {types.StringNull(), types.StringNull(), types.StringNull()},
		"plain": {types.StringValue("a"), types.StringNull(), types.StringValue("a")},
		"wo":    {types.StringNull(), types.StringValue("b"), types.StringValue("b")},
	} {
		require.True(t, tfutil.SecretValue(tt.plain, tt.wo).Equal(tt.want), name)
	}
}

// TestComputedAttributes shows that a data source gets every attribute but the
// write-only ones and those left out, computed, at every depth.
func TestComputedAttributes(t *testing.T) {
	t.Parallel()
	attributes := probeAttributes()
	attributes["flavours"] = attrs.FlavoursAttribute()
	attributes["inner"] = schema.SingleNestedAttribute{Required: true, Attributes: probeAttributes()}
	got := tfutil.ComputedAttributes(attributes, "token", "token_wo_version")
	require.Equal(t, []string{"flavours", "inner", "name"}, slices.Sorted(maps.Keys(got)))
	require.True(t, got["flavours"].GetType().Equal(attributes["flavours"].GetType()), "the types of the flavours differ")
	require.True(t, got["flavours"].GetType().Equal(attrs.FlavoursType()), "the types of the flavours differ")
	inner, ok := got["inner"].GetType().(types.ObjectType)
	require.True(t, ok, "inner attributes are %v", got["inner"].GetType())
	require.Len(t, inner.AttrTypes, 1, "inner attributes are %v", got["inner"].GetType())
	for name, a := range got {
		if !a.IsComputed() || a.IsRequired() || a.IsOptional() {
			t.Errorf("%s is not computed alone", name)
		}
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	a := tfutil.Timeouts(t.Context(), timeouts.Opts{Create: true})
	require.True(t, a.IsOptional(), "timeouts: optional")
	require.NotEmpty(t, a.GetMarkdownDescription(), "timeouts: optional")
	var diags diag.Diagnostics
	ctx, cancel := tfutil.WithTimeout(t.Context(), timeouts.Value{}.Create, 1, &diags)
	defer cancel()
	if _, ok := ctx.Deadline(); !ok {
		t.Error("the context has no deadline")
	}
}
