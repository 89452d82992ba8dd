package tfutil

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var (
	_ validator.Dynamic = ShownSecrets{}
	_ validator.Map     = ShownSecrets{}
	_ validator.List    = ShownSecrets{}
	_ validator.String  = ShownSecrets{}
)

// ShownSecrets warns of secrets in a value that plan and state have in clear. The warning has
// no path: Terraform quotes the lines of a path, and with them the secrets.
type ShownSecrets struct {
	// Instead says what to do.
	Instead string
}

// ShownToPlan is the rule for values of a cluster, which have no write-only form.
func ShownToPlan() ShownSecrets {
	return ShownSecrets{Instead: "Have the cluster read them from a Secret that is made on the management cluster by other means, and give its name."}
}

// Description implements validator.Describer.
func (ShownSecrets) Description(context.Context) string { return "holds no secrets" }

// MarkdownDescription implements validator.Describer.
func (s ShownSecrets) MarkdownDescription(ctx context.Context) string { return s.Description(ctx) }

// ValidateDynamic implements validator.Dynamic.
func (s ShownSecrets) ValidateDynamic(_ context.Context, req validator.DynamicRequest, resp *validator.DynamicResponse) {
	s.warn(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateMap implements validator.Map.
func (s ShownSecrets) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	s.warn(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateList implements validator.List.
func (s ShownSecrets) ValidateList(_ context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	s.warn(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// ValidateString implements validator.String.
func (s ShownSecrets) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	s.warn(req.Path, req.ConfigValue, &resp.Diagnostics)
}

func (s ShownSecrets) warn(at path.Path, value attr.Value, diags *diag.Diagnostics) {
	// Unknown values are checked once they are known.
	converted, err := (&converter{lenient: true}).toGo(value)
	if err != nil {
		return
	}
	shown := vnfm.ShownSecrets(at.String(), decoded(converted))
	if len(shown) > 0 {
		diags.AddWarning("Secrets in Plan and State", "Plan and state hold these in clear: "+strings.Join(shown, ", ")+". "+s.Instead)
	}
}

// decoded is a value in which it or its elements that are objects as YAML or JSON are these objects.
func decoded(value any) any {
	switch value := value.(type) {
	case string:
		return decodedText(value)
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, item := range value {
			out[name] = decodedText(item)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, decodedText(item))
		}
		return out
	}
	return value
}

func decodedText(item any) any {
	text, _ := item.(string)
	var object map[string]any
	// A text with a URL is one.
	if yaml.Unmarshal([]byte(text), &object) == nil && object != nil && !vnfm.HasPassword(text) {
		return object
	}
	return item
}

// refuseUserInfo adds an error without a path, for the same reason.
func refuseUserInfo(at path.Path, diags *diag.Diagnostics) {
	diags.AddError("Invalid URL", at.String()+": The URL holds credentials, which would be readable in plan, state and store.")
}
