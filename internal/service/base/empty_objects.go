package base

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// meaningfulEmpty are the arguments that ask for something by being there, whatever is set in them.
var meaningfulEmpty = []string{"application_credential", "cloud_config"}

// ConfigValidators are the validators of the configuration of every resource.
func ConfigValidators() []resource.ConfigValidator { return []resource.ConfigValidator{emptyObjects{}} }

// emptyObjects warns of arguments { } in which nothing is set: Terraform drops names that it does not know in them in silence.
type emptyObjects struct{}

// Description implements resource.ConfigValidator.
func (emptyObjects) Description(context.Context) string {
	return "has no argument { } in which nothing is set"
}

// MarkdownDescription implements resource.ConfigValidator.
func (v emptyObjects) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateResource implements resource.ConfigValidator.
func (emptyObjects) ValidateResource(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	warnEmpty(req.Config.Schema.Type().TerraformType(ctx), req.Config.Raw, path.Empty(), &resp.Diagnostics)
}

// warnEmpty warns of the empty objects in a value of a type of the schema. An element of a collection counts by its name or place alone, and
// a value of the user's own shape has no arguments.
func warnEmpty(typ tftypes.Type, value tftypes.Value, at path.Path, diags *diag.Diagnostics) {
	if value.IsNull() || !value.IsKnown() {
		return
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		var fields map[string]tftypes.Value
		if value.As(&fields) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			inner, isObject := typ.AttributeTypes[name].(tftypes.Object)
			if isObject && isEmpty(fields[name]) && !slices.Contains(meaningfulEmpty, name) {
				diags.AddAttributeWarning(at.AtName(name), "Nothing Is Set in an Argument", fmt.Sprintf(
					"Nothing is set in %s. Terraform ignores arguments that it does not know inside { }: check their spelling. %s can have %s.",
					at.AtName(name), name, vnfm.QuotedNames(slices.Sorted(maps.Keys(inner.AttributeTypes)))))
				continue
			}
			warnEmpty(typ.AttributeTypes[name], fields[name], at.AtName(name), diags)
		}
	case tftypes.Map:
		var elements map[string]tftypes.Value
		if value.As(&elements) != nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(elements)) {
			warnEmpty(typ.ElementType, elements[key], at.AtMapKey(key), diags)
		}
	case tftypes.List:
		var elements []tftypes.Value
		if value.As(&elements) != nil {
			return
		}
		for i := range elements {
			warnEmpty(typ.ElementType, elements[i], at.AtListIndex(i), diags)
		}
	}
}

// isEmpty reports whether a value is an object in which nothing is set.
func isEmpty(value tftypes.Value) bool {
	var fields map[string]tftypes.Value
	if value.IsNull() || !value.IsKnown() || value.As(&fields) != nil {
		return false
	}
	for _, field := range fields {
		if !field.IsNull() {
			return false
		}
	}
	return true
}
