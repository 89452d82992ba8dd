package base

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// regenerateModel is the argument regenerate.
type regenerateModel struct {
	Trigger   types.String `tfsdk:"trigger"`
	Functions types.Set    `tfsdk:"functions"`
	Templates types.Set    `tfsdk:"templates"`
}

// Regenerate reads the argument regenerate; nil while it is not known, or null.
func Regenerate(ctx context.Context, argument types.Object, diags *diag.Diagnostics) *vnfm.RegenerateSpec {
	r := tfutil.KnownAs[regenerateModel](ctx, argument, diags)
	if r == nil {
		return nil
	}
	return &vnfm.RegenerateSpec{Trigger: r.Trigger.ValueString(), Functions: tfutil.Strings(r.Functions), Templates: tfutil.Strings(r.Templates)}
}

// RegenerateAttribute is the argument regenerate, given the beginning of its description.
func RegenerateAttribute(what string) schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: what +
			"Those of `functions` in `templates` are made again, all if neither is set, and what follows from them, such as the certificates of a CA. On create the trigger is recorded and nothing is made twice. Changing this without a new `trigger` has no effect.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"trigger": schema.StringAttribute{
				MarkdownDescription: "Trigger, any string. Changing this makes the results again, in place.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"functions": Names("Names of functions of templates, such as `genCA` or `randAlphaNum`. A chart that keeps what it finds with `lookup` needs that named as well. Defaults to all. Changing this applies to the next `trigger`."),
			"templates": Names("Files of the chart that call the functions, or ends of their paths, such as `templates/tls.yaml`. Defaults to all. Changing this applies to the next `trigger`."),
		},
	}
}
