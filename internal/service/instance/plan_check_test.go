package instance_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
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

// ownWords checks that a plan shows its own operations and changes alone: the state before has none.
type ownWords struct{}

// CheckPlan implements plancheck.PlanCheck.
func (ownWords) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, change := range req.Plan.ResourceChanges {
		before, _ := change.Change.Before.(map[string]any)
		if change.Address == address && (before["operations"] != nil || before["changes"] != nil) {
			resp.Error = fmt.Errorf("the plan shows %v and %v of the apply before", before["operations"], before["changes"])
		}
	}
}

// replacedBy checks which arguments, in alphabetical order, replace the instance.
type replacedBy []string

// CheckPlan implements plancheck.PlanCheck.
func (r replacedBy) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	var got []string
	for _, change := range req.Plan.ResourceChanges {
		if change.Address != address {
			continue
		}
		for _, path := range change.Change.ReplacePaths {
			got = append(got, strings.Trim(fmt.Sprint(path), "[]"))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, r) {
		resp.Error = fmt.Errorf("replaced by changes of %v, want %v", got, []string(r))
	}
}

// planHides is a text that a plan has nowhere, as it is and in base64.
type planHides string

// CheckPlan implements plancheck.PlanCheck.
func (h planHides) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	plan, err := json.Marshal(req.Plan)
	encoded := base64.StdEncoding.EncodeToString([]byte(h))
	if err == nil && (strings.Contains(string(plan), string(h)) || strings.Contains(string(plan), encoded[:len(encoded)-4])) {
		err = fmt.Errorf("the plan shows %s", h)
	}
	resp.Error = err
}
