package acctest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
)

// Refused is a configuration that fails with an error that Want, a pattern of Says, matches.
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

// Refuse applies such configurations in one test case, one after the other. No error holds one of the secrets.
func Refuse(t *testing.T, cases map[string]Refused, secrets ...string) {
	t.Helper()
	var steps []resource.TestStep
	current, said := "", map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		steps = append(steps, resource.TestStep{PreConfig: func() { current = name }, Config: cases[name].Config})
	}
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: Factories(),
		// It gets the errors of steps that expect none.
		ErrorCheck: func(err error) error { said[current] = err.Error(); return nil },
		Steps:      steps,
	})
	for name, c := range cases {
		if text := said[name]; text == "" || !Says(c.Want).MatchString(text) {
			t.Errorf("%s: the error is to match %q:\n%s", name, c.Want, text)
		}
		for _, secret := range secrets {
			if strings.Contains(said[name], secret) {
				t.Errorf("%s: the error holds a secret:\n%s", name, said[name])
			}
		}
	}
}
