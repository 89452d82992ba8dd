package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/helpers/validatordiag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kindRule is the rule for a kind with its API group.
type kindRule struct{}

// Description implements validator.Describer.
func (kindRule) Description(context.Context) string {
	return "must be group/Kind, for example apps/Deployment, or Kind for the core group"
}

// MarkdownDescription implements validator.Describer.
func (v kindRule) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (v kindRule) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	text := req.ConfigValue.ValueString()
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() || groupKind.MatchString(text) {
		return
	}
	if right := vnfm.ManifestKind(text); right != text && groupKind.MatchString(right) {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Kind", fmt.Sprintf("%q is written as in manifests: %q.", text, right))
		return
	}
	resp.Diagnostics.Append(validatordiag.InvalidAttributeValueMatchDiagnostic(req.Path, v.Description(ctx), text))
}
