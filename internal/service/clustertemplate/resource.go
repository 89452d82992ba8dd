// Package clustertemplate holds the resource for cluster templates as OpenStack Magnum
// has them.
package clustertemplate

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/magnum"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ResourceType is the type name of the resource.
const ResourceType = "vnf_capi_cluster_template"

var (
	_ resource.ResourceWithModifyPlan       = (*Resource)(nil)
	_ resource.ResourceWithConfigValidators = (*Resource)(nil)
)

// Resource is vnf_capi_cluster_template. It creates no object: clusters need only its
// definition.
type Resource struct{}

// NewResource returns the resource.
func NewResource() resource.Resource { return &Resource{} }

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = ResourceType
}

// Schema implements resource.Resource.
func (r *Resource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = resourceSchema()
}

// ConfigValidators implements resource.ResourceWithConfigValidators.
func (r *Resource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return base.ConfigValidators()
}

// ModifyPlan implements resource.ResourceWithModifyPlan. It checks the template and
// plans its definition, so that clusters of the same plan can be shown whole.
func (r *Resource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan model
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Plan, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.define(ctx, &resp.Diagnostics)
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.Plan, &plan)...)
}

// Create implements resource.Resource.
func (r *Resource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	save(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

// save writes the planned template into the state.
func save(ctx context.Context, planned tfsdk.Plan, state *tfsdk.State, diags *diag.Diagnostics) {
	var plan model
	diags.Append(planned.Get(ctx, &plan)...)
	if diags.HasError() {
		return
	}
	plan.define(ctx, diags)
	if diags.HasError() {
		return
	}
	diags.Append(tfutil.Write(ctx, state, &plan)...)
}

// Read implements resource.Resource. There is nothing to refresh.
func (r *Resource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update implements resource.Resource.
func (r *Resource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	save(ctx, req.Plan, &resp.State, &resp.Diagnostics)
}

// Delete implements resource.Resource. It does not affect clusters.
func (r *Resource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// define checks the template and fills its definition and id, as far as the arguments
// are known.
func (m *model) define(ctx context.Context, diags *diag.Diagnostics) {
	m.ID, m.Definition = types.StringUnknown(), types.StringUnknown()
	template, known := m.template(ctx, diags)
	if !known || diags.HasError() {
		return
	}
	var problems vnfm.Problems
	template.Check(&problems)
	diags.Append(tfutil.Problems(problems, path.Empty())...)
	definition, err := template.Definition()
	if err != nil {
		tfutil.AddError(diags, "Define", fmt.Sprintf("Cluster Template %q", m.Name.ValueString()), err, path.Empty())
		return
	}
	m.Definition = types.StringValue(definition)
	m.ID = types.StringValue(magnum.ID(m.Name.ValueString(), definition))
}
