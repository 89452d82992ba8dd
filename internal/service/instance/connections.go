package instance

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// connectionModel is one entry of the argument "vim_connections".
type connectionModel struct {
	VIMID     types.String `tfsdk:"vim_id"`
	Namespace types.String `tfsdk:"namespace"`
	VDUIDs    types.Set    `tfsdk:"vdu_ids"`
	Manifests types.Set    `tfsdk:"manifests"`
}

// connectionName is the form of a name: it stands before the identity of an object.
var connectionName = lazyregexp.New(`^[A-Za-z0-9][-_.A-Za-z0-9]*$`)

func connectionsAttribute() schema.Attribute {
	texts := func(description string) schema.Attribute {
		return schema.SetAttribute{
			MarkdownDescription: description,
			ElementType:         types.StringType,
			Optional:            true,
			Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		}
	}
	return schema.MapNestedAttribute{
		MarkdownDescription: "Further VIMs by a name of your own, each with the part of the instance that runs there instead of on `vim_id`. The objects of a part are named `<name>: <identity>`. " +
			"Changing this moves, adds and removes parts in place; another `vim_id` or `namespace` under the same name replaces the instance.",
		Optional: true,
		Validators: []validator.Map{
			mapvalidator.KeysAre(tfutil.Matches(connectionName, "must be a name of letters, digits, '-', '_' and '.'")),
		},
		NestedObject: schema.NestedAttributeObject{
			Validators: []validator.Object{placesSomething{}},
			Attributes: map[string]schema.Attribute{
				"vim_id": schema.StringAttribute{
					MarkdownDescription: "Id of the `vnf_vim`.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				},
				"namespace": schema.StringAttribute{
					MarkdownDescription: "Namespace of objects whose manifest names none, created if missing. Defaults to `default_namespace` of the VIM.",
					Optional:            true,
					Validators:          []validator.String{tfutil.Namespace()},
				},
				"vdu_ids":   texts("Ids of the VDUs that run there, with the Services, autoscalers and policies that are made for their pods alone. ConfigMaps, Secrets, ServiceAccounts and volume claims that their pods refer to are made there as well. The only Kubernetes VIM of an instance has all objects of the package."),
				"manifests": texts("Paths of the manifests of the package whose objects are created there. For Kubernetes VIMs."),
			},
		},
	}
}

// connections reads the further VIMs. known is false when it is not known yet what
// is where; the ids of VIMs may be unknown.
func (m *model) connections(ctx context.Context, diags *diag.Diagnostics) (out map[string]vnfm.Connection, known bool) {
	if m.VIMConnections.IsUnknown() {
		return nil, false
	}
	if len(m.VIMConnections.Elements()) == 0 {
		return nil, true
	}
	var entries map[string]types.Object
	diags.Append(m.VIMConnections.ElementsAs(ctx, &entries, false)...)
	out = make(map[string]vnfm.Connection, len(entries))
	for name, entry := range entries {
		var c connectionModel
		diags.Append(tfutil.Into(ctx, entry, &c)...)
		if diags.HasError() || !tfutil.FullyKnown(ctx, c.VDUIDs) || !tfutil.FullyKnown(ctx, c.Manifests) {
			return nil, diags.HasError()
		}
		connection := vnfm.Connection{
			VIMID: c.VIMID.ValueString(), Namespace: c.Namespace.ValueString(),
			VDUIDs: tfutil.Strings(c.VDUIDs), Manifests: tfutil.Strings(c.Manifests),
		}
		slices.Sort(connection.VDUIDs)
		slices.Sort(connection.Manifests)
		out[name] = connection
	}
	return out, true
}

// planConnections replaces the instance when a name stands for another place.
func planConnections(ctx context.Context, plan, state *model, resp *resource.ModifyPlanResponse) {
	if state == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(plan.VIMConnections.Elements())) {
		before := tfutil.ElementAs[connectionModel](ctx, state.VIMConnections, name, &resp.Diagnostics)
		if before == nil {
			continue
		}
		after := cmp.Or(tfutil.ElementAs[connectionModel](ctx, plan.VIMConnections, name, &resp.Diagnostics), &connectionModel{})
		at := path.Root("vim_connections").AtMapKey(name)
		if !sameOrUnset(before.VIMID, after.VIMID) {
			resp.RequiresReplace.Append(at.AtName("vim_id"))
		}
		if !sameOrUnset(before.Namespace, after.Namespace) {
			resp.RequiresReplace.Append(at.AtName("namespace"))
		}
	}
}

// placesSomething is the rule that a connection has a part of the instance.
type placesSomething struct{}

// Description implements validator.Describer.
func (placesSomething) Description(context.Context) string {
	return "must have an element in vdu_ids or manifests"
}

// MarkdownDescription implements validator.Describer.
func (v placesSomething) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateObject implements validator.Object.
func (placesSomething) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if !tfutil.Set(req.ConfigValue) {
		return
	}
	for _, name := range []string{"vdu_ids", "manifests"} {
		set, _ := req.ConfigValue.Attributes()[name].(types.Set)
		if set.IsUnknown() || len(set.Elements()) > 0 {
			return
		}
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Empty VIM Connection",
		"At least one of vdu_ids and manifests must have an element. A connection without any places nothing on its VIM.")
}

// sameOrUnset reports whether a value stays; one that is left out now stays as it is.
func sameOrUnset(before, after types.String) bool { return after.IsNull() || after.Equal(before) }
