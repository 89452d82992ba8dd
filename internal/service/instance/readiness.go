package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// groupKind is a kind with its API group.
var groupKind = lazyregexp.New(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Z][A-Za-z0-9]*$`)

// readinessModel is one element of the "readiness" argument.
type readinessModel struct {
	Kind      types.String `tfsdk:"kind"`
	Condition types.String `tfsdk:"condition"`
	JSONPath  types.String `tfsdk:"jsonpath"`
	Value     types.String `tfsdk:"value"`
}

var readinessType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"kind":      types.StringType,
	"condition": types.StringType,
	"jsonpath":  types.StringType,
	"value":     types.StringType,
}}

func readinessAttribute() schema.Attribute {
	sibling := func(name string) path.Expression { return path.MatchRelative().AtParent().AtName(name) }
	return schema.ListNestedAttribute{
		MarkdownDescription: "Readiness rules per kind, overriding the built-in ones (kstatus and the rules of the built-in kinds). A package sets the rule of one of its objects with the annotation `vnf.nfv-iac.github.io/ready-condition` (`Ready`, or `Degraded=False`) or `vnf.nfv-iac.github.io/ready-jsonpath` (`{.status.phase}=Running`); this argument takes precedence. A status of an older generation of the object is ignored. Changing anything here waits in place until the objects satisfy the new rules and writes no object.",
		Optional:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"kind": schema.StringAttribute{
				MarkdownDescription: "Kind with its API group, `example.com/Cell`, or without group for the core group. The package must have an object of it.",
				Required:            true,
				Validators:          []validator.String{kindRule{}},
			},
			"condition": schema.StringAttribute{
				MarkdownDescription: "Type of the condition that makes the object ready. Set either this or `jsonpath`.",
				Optional:            true,
				Validators: []validator.String{
					stringvalidator.LengthAtLeast(1),
					stringvalidator.ExactlyOneOf(sibling("jsonpath")),
				},
			},
			"jsonpath": schema.StringAttribute{
				MarkdownDescription: "Path to the field that makes the object ready, as for `kubectl wait --for=jsonpath`: `{.status.phase}`. All values found must equal `value`.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.AlsoRequires(sibling("value"))},
			},
			"value": schema.StringAttribute{
				MarkdownDescription: "Status of the condition, or value of the field. The status defaults to `True`.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
		}},
	}
}

// readReadiness reads the "readiness" argument. It decides on no object: a plan
// does without one that is not known.
func readReadiness(ctx context.Context, list types.List, diags *diag.Diagnostics) []vnfm.ReadinessRule {
	if len(list.Elements()) == 0 || !tfutil.FullyKnown(ctx, list) {
		return nil
	}
	var given []readinessModel
	diags.Append(list.ElementsAs(ctx, &given, false)...)
	rules := make([]vnfm.ReadinessRule, 0, len(given))
	for _, m := range given {
		rules = append(rules, vnfm.ReadinessRule{
			Kind: m.Kind.ValueString(), Condition: m.Condition.ValueString(), JSONPath: m.JSONPath.ValueString(), Value: m.Value.ValueString(),
		})
	}
	return rules
}

// readinessList is the "readiness" argument as a record has it. An argument that
// was left out stays left out.
func readinessList(prior types.List, rules []vnfm.ReadinessRule) types.List {
	if prior.IsNull() && len(rules) == 0 {
		return types.ListNull(readinessType)
	}
	values := make([]attr.Value, 0, len(rules))
	for _, r := range rules {
		values = append(values, types.ObjectValueMust(readinessType.AttrTypes, map[string]attr.Value{
			"kind":      types.StringValue(r.Kind),
			"condition": tfutil.OptionalString(r.Condition),
			"jsonpath":  tfutil.OptionalString(r.JSONPath),
			"value":     tfutil.OptionalString(r.Value),
		}))
	}
	return types.ListValueMust(readinessType, values)
}
