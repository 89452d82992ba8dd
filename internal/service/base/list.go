package base

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ datasource.DataSourceWithConfigure = (*List[struct{}, struct{}])(nil)

// List is a data source that lists objects of one kind in the order of their creation. R is their
// record, E the model of an element.
type List[R, E any] struct {
	DataSource
	// Description describes the data source. Title names the objects in diagnostics.
	Description, Title string
	// Filters are the filters by name, each made by Filter. An object is listed when it matches
	// all that are set.
	Filters map[string]schema.StringAttribute
	// Name and NameDescription are the attribute with the list, Elements the attributes of an
	// element.
	Name, NameDescription string
	Elements              func() map[string]schema.Attribute
	// Find returns the records that match the filters, of which those that are not set are empty.
	Find func(ctx context.Context, manager vnfm.Manager, filter map[string]string) ([]R, error)
	// Element is the element of a record.
	Element func(ctx context.Context, manager vnfm.Manager, record *R, diags *diag.Diagnostics) E
}

// Filter is a filter of a List: an optional string that follows the rules or, without any, is not
// empty.
func Filter(description string, rules ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: filterRules(rules)}
}

// filterRules are the rules of a filter: without any it is not empty.
func filterRules(rules []validator.String) []validator.String {
	if len(rules) == 0 {
		return []validator.String{stringvalidator.LengthAtLeast(1)}
	}
	return rules
}

// readFilters returns the filters of a configuration by name; one that is not set is empty. A name where an id belongs is a warning,
// since the list would be empty without a reason.
func readFilters(ctx context.Context, config *tfsdk.Config, names iter.Seq[string], diags *diag.Diagnostics) map[string]string {
	filter := map[string]string{}
	for name := range names {
		var value types.String
		diags.Append(config.GetAttribute(ctx, path.Root(name), &value)...)
		filter[name] = value.ValueString()
		argument, isID := strings.CutSuffix(name, "_id")
		if isID && filter[name] != "" && uuid.Validate(filter[name]) != nil {
			object := argument[strings.LastIndex(argument, "_")+1:]
			diags.AddAttributeWarning(path.Root(name), "Filter Is Not an ID", fmt.Sprintf("%q is not an id, so that nothing is listed. "+
				"The filter takes no name: refer to the resource, for example as vnf_%s.example.id.", filter[name], object))
		}
	}
	return filter
}

// Schema implements datasource.DataSource.
func (l *List[R, E]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		l.Name: schema.ListNestedAttribute{
			MarkdownDescription: l.NameDescription,
			Computed:            true,
			NestedObject:        schema.NestedAttributeObject{Attributes: l.Elements()},
		},
	}
	for name, filter := range l.Filters {
		attributes[name] = filter
	}
	resp.Schema = schema.Schema{MarkdownDescription: l.Description, Attributes: attributes}
}

// Read implements datasource.DataSource.
func (l *List[R, E]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	filter := readFilters(ctx, &req.Config, maps.Keys(l.Filters), &resp.Diagnostics)
	manager := l.Data.RequireManager(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := l.Find(ctx, manager, filter)
	if err != nil {
		tfutil.AddError(&resp.Diagnostics, "List", l.Title, err, path.Empty())
		return
	}
	// A list of a data source is never null.
	elements := make([]E, 0, len(found))
	for i := range found {
		elements = append(elements, l.Element(ctx, manager, &found[i], &resp.Diagnostics))
	}
	// The state has the filters already.
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root(l.Name), elements)...)
}
