package instance_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-testing/plancheck"
)

// expectPrior checks what the attribute drift of the refreshed state, as the plan shows it before the
// change, says of one object; empty for nothing.
type expectPrior struct{ key, text string }

// CheckPlan implements plancheck.PlanCheck.
func (e expectPrior) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, change := range req.Plan.ResourceChanges {
		if change.Address != address {
			continue
		}
		before, ok := change.Change.Before.(map[string]any)
		if !ok {
			resp.Error = fmt.Errorf("%s has no prior state", address)
			return
		}
		drift, _ := before["drift"].([]any)
		got := ""
		for _, line := range drift {
			if text, _ := line.(string); strings.HasPrefix(text, e.key+": ") {
				got = text[len(e.key)+2:]
			}
		}
		if got != e.text {
			resp.Error = fmt.Errorf("before the change %s is %q, want %q", e.key, got, e.text)
		}
		return
	}
	resp.Error = fmt.Errorf("the plan does not have %s", address)
}

// named says which argument a failed check was about.
type named struct {
	name  string
	check plancheck.PlanCheck
}

// CheckPlan implements plancheck.PlanCheck.
func (n named) CheckPlan(ctx context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	n.check.CheckPlan(ctx, req, resp)
	if resp.Error != nil {
		resp.Error = fmt.Errorf("%s: %w", n.name, resp.Error)
	}
}
