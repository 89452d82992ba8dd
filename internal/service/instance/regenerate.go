package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// regenerateModel is the argument regenerate.
type regenerateModel struct {
	Trigger   types.String `tfsdk:"trigger"`
	Functions types.Set    `tfsdk:"functions"`
	Templates types.Set    `tfsdk:"templates"`
}

// regenerateSpec reads the argument regenerate; nil while it is not known.
func (m *model) regenerateSpec(ctx context.Context, diags *diag.Diagnostics) *vnfm.RegenerateSpec {
	r := tfutil.KnownAs[regenerateModel](ctx, m.Regenerate, diags)
	if r == nil {
		return nil
	}
	return &vnfm.RegenerateSpec{Trigger: r.Trigger.ValueString(), Functions: tfutil.Strings(r.Functions), Templates: tfutil.Strings(r.Templates)}
}

func regenerateAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Makes what random functions of a Helm chart gave again, once for each new `trigger`: passwords, keys and certificates that the chart generates, which otherwise stay as long as the instance (see the guide about Helm charts). " +
			"Those of `functions` in `templates` are made again, all if neither is set, and what follows from them, such as the certificates of a CA. On create the trigger is recorded and nothing is made twice. Changing this without a new `trigger` has no effect.",
		Optional: true,
		Attributes: map[string]schema.Attribute{
			"trigger": schema.StringAttribute{
				MarkdownDescription: "Trigger, any string. Changing this makes the results again, in place.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"functions": base.Names("Names of functions of templates, such as `genCA` or `randAlphaNum`. A chart that keeps what it finds with `lookup` needs that named as well. Defaults to all. Changing this applies to the next `trigger`."),
			"templates": base.Names("Files of the chart that call the functions, or ends of their paths, such as `templates/tls.yaml`. Defaults to all. Changing this applies to the next `trigger`."),
		},
	}
}
