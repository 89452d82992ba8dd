package privateregistry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*DataSource)(nil)

// DataSource implements the data source vnf_private_registry.
type DataSource struct{ base.DataSource }

// NewDataSource returns the data source vnf_private_registry.
func NewDataSource() datasource.DataSource {
	return &DataSource{base.DataSource{Type: ResourceType}}
}

// Schema implements datasource.DataSource.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	argument := func(description string, rules ...validator.String) schema.Attribute {
		return schema.StringAttribute{
			Optional: true, Computed: true, MarkdownDescription: description,
			Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, rules...),
		}
	}
	computed := computedAttributes()
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a private registry from the store and asks its host for its state. It never returns passwords or keys.",
		Attributes: tfutil.Merged(recordAttributes(), tfutil.ComputedAttributes(map[string]rschema.Attribute{
			"status": computed["status"], "drift": computed["drift"],
		}), map[string]schema.Attribute{
			"id": argument("Id of the registry, a UUID. Exactly one of `id`, `host` and `instance_id` is set.",
				stringvalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("host"), path.MatchRoot("instance_id"))),
			"host":        argument("Address of the host, as the resource has it; null if the host is a server of a VNF instance. Exactly one of `id`, `host` and `instance_id` is set."),
			"instance_id": argument("Id of the `vnf_instance` that the host is a server of; null for any other host. Exactly one of `id`, `host` and `instance_id` is set."),
			"name": argument("Name of the container, together with `host` or `instance_id`. Not needed if only one registry is there.",
				stringvalidator.ConflictsWith(path.MatchRoot("id"))),
		}),
	}
}

// Read implements datasource.DataSource. A host that does not answer is a warning.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config readModel
	resp.Diagnostics.Append(tfutil.Read(ctx, req.Config, &config)...)
	manager := d.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := find(ctx, manager, &config, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	seen, err := manager.ReadRegistry(limited, id)
	if err != nil && (seen == nil || ctx.Err() != nil) {
		tfutil.AddError(&resp.Diagnostics, "Read", object(id), err, path.Empty())
		return
	}
	m := readModelOf(ctx, seen, &resp.Diagnostics)
	switch {
	case errors.As(err, new(*vnfm.EditedError)):
		m.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddWarning("Record of "+object(seen.Spec.Name)+" Was Edited", tfutil.ErrorDetail(err))
	case errors.Is(err, vnfm.ErrUnopened):
		m.Status = types.StringValue(statusUnknown)
		resp.Diagnostics.AddWarning("Credentials of "+object(seen.Spec.Name)+" Cannot Be Opened", tfutil.ErrorDetail(err))
	case err != nil:
		m.Status = types.StringValue(statusUnreachable)
		resp.Diagnostics.AddWarning(object(seen.Spec.Name)+" Could Not Be Refreshed",
			tfutil.ErrorDetail(err)+"\n\nThe other attributes are those of the last installation.")
	}
	resp.Diagnostics.Append(tfutil.Write(ctx, &resp.State, &m)...)
}

// find returns the id of the registry that a configuration names.
func find(ctx context.Context, manager vnfm.RegistryManager, config *readModel, diags *diag.Diagnostics) string {
	if !config.ID.IsNull() {
		return config.ID.ValueString()
	}
	found, err := manager.Registries(ctx, vnfm.RegistryFilter{
		Name: config.Name.ValueString(), Host: config.Host.ValueString(), InstanceID: config.InstanceID.ValueString(),
	})
	wanted := wantedOf(config)
	switch {
	case err != nil:
		tfutil.AddError(diags, "Find", "Private Registry", err, path.Empty())
	case len(found) == 0:
		diags.AddError("Private Registry Not Found", fmt.Sprintf("No private registry in the store of this provider configuration has %s. "+
			"Check the values, or give the id of the registry. A vnf_private_registry resource installs one.", wanted))
	case len(found) > 1:
		names := make([]string, 0, len(found))
		for i := range found {
			names = append(names, fmt.Sprintf("%q (%s)", found[i].Spec.Name, found[i].ID))
		}
		advice := "the id of one"
		if config.Name.IsNull() {
			advice = "the name as well, or the id of one"
		}
		diags.AddError("Several Private Registries Found", fmt.Sprintf("%d private registries in the store of this provider configuration have %s: %s. Give %s.",
			len(found), wanted, strings.Join(names, ", "), advice))
	default:
		return found[0].ID
	}
	return ""
}

// wantedOf says which registry a configuration names.
func wantedOf(config *readModel) string {
	var wanted []string
	for _, a := range []struct {
		name  string
		value types.String
	}{{"host", config.Host}, {"instance_id", config.InstanceID}, {"name", config.Name}} {
		if !a.value.IsNull() {
			wanted = append(wanted, fmt.Sprintf("%s %q", a.name, a.value.ValueString()))
		}
	}
	return "the " + strings.Join(wanted, " and the ")
}
