package base

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ list.ListResourceWithConfigure = (*ListResource[struct{}])(nil)

// ListResource lists what can be imported, for terraform query of Terraform 1.14 and later. R is a record. Nothing is written, so that a
// query is no import: no share is taken, and nothing is acknowledged or adopted.
type ListResource[R any] struct {
	// Type is the type name of the resource that is listed.
	Type string
	// Description describes the list, Title names the objects in diagnostics.
	Description, Title string
	// Filters are the filters by name, each made by ListFilter. An object is listed when it matches all that are set.
	Filters map[string]schema.Attribute
	// Find returns the records that match the filters, of which those that are not set are empty.
	Find func(ctx context.Context, manager vnfm.Manager, filter map[string]string, diags *diag.Diagnostics) ([]R, error)
	// Identity is that of the resource, and Values what a record has of it, in the same order.
	Identity Identity
	Values   func(*R) []string
	// Display names a record for people.
	Display func(*R) string
	// Fill fills a state, which is empty, with what an import of the record and the refresh after it would.
	Fill func(ctx context.Context, data *tfutil.ProviderData, record *R, state *tfsdk.State, diags *diag.Diagnostics)

	data *tfutil.ProviderData
}

// ListFilter is a filter of a ListResource, as Filter is one of a List.
func ListFilter(description string, rules ...validator.String) schema.Attribute {
	return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: filterRules(rules)}
}

// Metadata implements list.ListResource.
func (l *ListResource[R]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = l.Type
}

// Configure implements list.ListResourceWithConfigure.
func (l *ListResource[R]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	l.data = tfutil.Configure(req.ProviderData, &resp.Diagnostics)
}

// ListResourceConfigSchema implements list.ListResource.
func (l *ListResource[R]) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: l.Description, Attributes: l.Filters}
}

// List implements list.ListResource.
func (l *ListResource[R]) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var diags diag.Diagnostics
	found := l.find(ctx, req, &diags)
	if int64(len(found)) > req.Limit && req.Limit > 0 {
		found = found[:req.Limit]
	}
	stream.Results = func(push func(list.ListResult) bool) {
		if len(diags) > 0 && !push(list.ListResult{Diagnostics: diags}) {
			return
		}
		for i := range found {
			if !push(l.result(ctx, req, &found[i])) {
				return
			}
		}
	}
}

// find finds the records that the configuration asks for.
func (l *ListResource[R]) find(ctx context.Context, req list.ListRequest, diags *diag.Diagnostics) []R {
	filter := readFilters(ctx, &req.Config, maps.Keys(l.Filters), diags)
	manager := l.data.RequireManager(diags)
	if diags.HasError() {
		return nil
	}
	found, err := l.Find(ctx, manager, filter, diags)
	if err != nil {
		tfutil.AddError(diags, "List", l.Title, err, path.Empty())
	}
	return found
}

// result is what the list shows of a record.
func (l *ListResource[R]) result(ctx context.Context, req list.ListRequest, record *R) list.ListResult {
	result := req.NewListResult(ctx)
	result.DisplayName = l.Display(record)
	for n, value := range l.Values(record) {
		result.Diagnostics.Append(result.Identity.SetAttribute(ctx, path.Root(l.Identity[n].Name), value)...)
	}
	if req.IncludeResource {
		state := tfsdk.State{Raw: result.Resource.Raw, Schema: result.Resource.Schema}
		l.Fill(ctx, l.data, record, &state, &result.Diagnostics)
		result.Resource.Raw = state.Raw
	}
	return result
}
