package modeltest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// PlanDestroy plans the destruction of a resource of which a state has what change sets, and returns what the plan says.
func PlanDestroy[M any](t *testing.T, r resource.ResourceWithModifyPlan, change func(*M)) diag.Diagnostics {
	t.Helper()
	of := Schema(t, r)
	kind, ok := of.Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatalf("the schema is no object")
	}
	empty := map[string]tftypes.Value{}
	for name, attribute := range kind.AttributeTypes {
		empty[name] = tftypes.NewValue(attribute, nil)
	}
	full := Arguments{schema: of, raw: tftypes.NewValue(kind, empty)}
	m := Decode[M](t, full)
	change(m)
	nothing := tftypes.NewValue(kind, nil)
	req := resource.ModifyPlanRequest{
		State: tfsdk.State{Schema: full.schema, Raw: full.raw},
		Plan:  tfsdk.Plan{Schema: full.schema, Raw: nothing}, Config: tfsdk.Config{Schema: full.schema, Raw: nothing},
	}
	if diags := req.State.Set(t.Context(), m); diags.HasError() {
		t.Fatalf("state: %v", diags)
	}
	resp := resource.ModifyPlanResponse{Plan: req.Plan}
	r.ModifyPlan(t.Context(), req, &resp)
	return resp.Diagnostics
}
