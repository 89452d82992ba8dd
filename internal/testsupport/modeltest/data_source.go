package modeltest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ReadDataSource has a data source read from a manager, given its arguments, which are strings. It
// returns the state and the diagnostics.
func ReadDataSource(t *testing.T, d datasource.DataSource, manager vnfm.Manager, arguments map[string]string) (tfsdk.State, diag.Diagnostics) {
	t.Helper()
	configured, ok := d.(datasource.DataSourceWithConfigure)
	if !ok {
		t.Fatalf("%T is not configured", d)
	}
	var c datasource.ConfigureResponse
	configured.Configure(t.Context(), datasource.ConfigureRequest{ProviderData: &tfutil.ProviderData{Manager: manager}}, &c)
	var s datasource.SchemaResponse
	d.Schema(t.Context(), datasource.SchemaRequest{}, &s)
	if c.Diagnostics.HasError() || s.Diagnostics.HasError() {
		t.Fatal(c.Diagnostics, s.Diagnostics)
	}
	object, ok := s.Schema.Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatalf("the schema of %T is not an object", d)
	}
	values := map[string]tftypes.Value{}
	for name, kind := range object.AttributeTypes {
		values[name] = tftypes.NewValue(kind, nil)
	}
	for name, value := range arguments {
		values[name] = tftypes.NewValue(tftypes.String, value)
	}
	raw := tftypes.NewValue(object, values)
	resp := datasource.ReadResponse{State: tfsdk.State{Schema: s.Schema, Raw: raw.Copy()}}
	d.Read(t.Context(), datasource.ReadRequest{Config: tfsdk.Config{Schema: s.Schema, Raw: raw}}, &resp)
	return resp.State, resp.Diagnostics
}

// ReadList has a data source that lists something read from a manager, and returns the elements of
// its attribute list, which is not null. E is the model of an element.
func ReadList[E any](t *testing.T, d datasource.DataSource, manager vnfm.Manager, arguments map[string]string, list string) []E {
	t.Helper()
	state, diags := ReadDataSource(t, d, manager, arguments)
	var elements []E
	diags.Append(state.GetAttribute(t.Context(), path.Root(list), &elements)...)
	if diags.HasError() {
		t.Fatal(diags)
	}
	if elements == nil {
		t.Fatalf("%s is null", list)
	}
	return elements
}
