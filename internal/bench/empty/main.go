// Command empty is a Terraform provider of the same framework as the product that does nothing: with the time that Terraform takes
// for its three resources, a benchmark knows Terraform's own share.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	// As the product does: without a level the plugin libraries write all of TRACE.
	err := os.Setenv("TF_LOG_SDK", "OFF")
	if err == nil {
		err = serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	return providerserver.Serve(context.Background(), func() provider.Provider { return empty{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/nfv-iac/empty", ProtocolVersion: 6})
}

type empty struct{}

func (empty) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "empty"
}
func (empty) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}
func (empty) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}
func (empty) DataSources(context.Context) []func() datasource.DataSource { return nil }
func (empty) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return object{"vim"} },
		func() resource.Resource { return object{"package"} },
		func() resource.Resource { return object{"instance"} },
	}
}

// object is a resource that keeps its arguments.
type object struct{ kind string }

type model struct {
	ID    types.String `tfsdk:"id"`
	Needs types.String `tfsdk:"needs"`
	Value types.String `tfsdk:"value"`
}

func (o object) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + o.kind
}

func (object) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema.Attributes = map[string]schema.Attribute{
		"id":    schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"needs": schema.StringAttribute{Optional: true},
		"value": schema.StringAttribute{Required: true},
	}
}

func (o object) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	m.ID = types.StringValue(o.kind)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (object) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (object) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (object) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
