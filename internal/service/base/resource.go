package base

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Resource is embedded by resources that are a record of the manager. It implements
// Metadata, Configure, Delete and ImportState.
type Resource struct {
	// Type is the type name of the resource.
	Type string
	// Title names the object in the summary "<Title> Not Found", Noun in other texts.
	Title, Noun string
	// Origin says how the store comes to know such an object.
	Origin string
	// DeleteVerb is the verb of diagnostics, DeleteLimit the default time limit of Remove.
	DeleteVerb  string
	DeleteLimit time.Duration
	// Remove removes the object of an id, or gives up the share of it (see Share). ErrNotFound is success.
	Remove func(ctx context.Context, manager vnfm.Manager, id, share string) error
	// Identity are what identifies the resource.
	Identity Identity
	// Find returns the id of the object with that id or name.
	Find func(ctx context.Context, manager vnfm.Manager, idOrName string) (string, error)

	Data *tfutil.ProviderData
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.Type
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *Resource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = r.Identity.Schema()
}

// ConfigValidators implements resource.ResourceWithConfigValidators.
func (r *Resource) ConfigValidators(context.Context) []resource.ConfigValidator {
	return ConfigValidators()
}

// Configure implements resource.ResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// Object names one object in diagnostics.
func (r *Resource) Object(name string) string { return fmt.Sprintf("%s %q", r.Noun, name) }

// Delete implements resource.Resource.
func (r *Resource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var id, name types.String
	var limits timeouts.Value
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("name"), &name)...)
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("timeouts"), &limits)...)
	manager := r.Data.RequireManager(&resp.Diagnostics)
	share := Share(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := tfutil.WithTimeout(ctx, limits.Delete, r.DeleteLimit, &resp.Diagnostics)
	defer cancel()
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.Remove(ctx, manager, id.ValueString(), share); err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		tfutil.AddError(&resp.Diagnostics, r.DeleteVerb, r.Object(name.ValueString()), err, path.Empty())
	}
}

// ImportState implements resource.ResourceWithImportState, by id or by name.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	manager := r.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	named := r.Identity.Imported(ctx, &req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id, err := r.Find(ctx, manager, named)
	switch {
	case errors.Is(err, vnfm.ErrNotFound):
		resp.Diagnostics.AddError(r.Title+" Not Found", fmt.Sprintf("No %s in the store has the id or the name %q. %s", r.Noun, named, r.Origin))
		return
	case err != nil:
		tfutil.AddError(&resp.Diagnostics, "Import", r.Object(named), err, path.Empty())
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), id)...)
}

// DataSource is embedded by data sources. It implements Metadata and Configure.
type DataSource struct {
	// Type is the type name of the data source.
	Type string

	Data *tfutil.ProviderData
}

// LookedUp is the argument by which a data source looks for its record, given its id: a name given as id is found nowhere.
func LookedUp(id types.String) string {
	if id.IsNull() {
		return "name"
	}
	return "id"
}

// Metadata implements datasource.DataSource.
func (d *DataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.Type
}

// Configure implements datasource.DataSourceWithConfigure.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.Data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}
