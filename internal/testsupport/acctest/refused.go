package acctest

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// Refused is a configuration whose plan fails with an error that Want, a pattern of Says, matches.
type Refused struct{ Config, Want string }

// RefusedSteps makes steps of one test case of configurations, by the name of what is wrong with them. Each is planned by
// itself; what they have in common is made once, by a step before them.
func RefusedSteps(t testing.TB, cases map[string]Refused) []resource.TestStep {
	t.Helper()
	var steps []resource.TestStep
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		steps = append(steps, resource.TestStep{
			PreConfig: func() { t.Logf("refused: %s", name) },
			Config:    cases[name].Config, PlanOnly: true, ExpectError: Says(cases[name].Want),
		})
	}
	return steps
}
