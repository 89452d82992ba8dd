package acctest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
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

// Errors runs steps that fail in one test case, and returns what Terraform says at each.
func Errors(t *testing.T, factories map[string]func() (tfprotov6.ProviderServer, error), steps ...resource.TestStep) []error {
	t.Helper()
	var said []error
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		// It gets the errors of steps that expect none.
		ErrorCheck: func(err error) error {
			said = append(said, err)
			return nil
		},
		Steps: steps,
	})
	if len(said) != len(steps) {
		t.Fatalf("%d steps of %d failed: %v", len(said), len(steps), said)
	}
	return said
}

// ExpectErrors checks the errors of Terraform: each resource of the type has one error for each of its patterns, and there is no other error.
func ExpectErrors(t testing.TB, said error, resourceType string, want map[string][]string) {
	t.Helper()
	place := regexp.MustCompile(`in resource "` + resourceType + `" "(\w+)"`)
	found := map[string][]string{}
	// The type of durations ends its text with the error of Go, which is not a diagnostic of its own.
	all := strings.ReplaceAll(said.Error(), "\nError: time: ", "\nCause: time: ")
	for _, text := range strings.Split(all, "\nError: ")[1:] {
		name := "unplaced"
		if m := place.FindStringSubmatch(text); m != nil {
			name = m[1]
		}
		found[name] = append(found[name], text)
	}
	for name, patterns := range want {
		texts := found[name]
		delete(found, name)
		if len(texts) != len(patterns) {
			t.Errorf("%s: %d errors, want %d: %q", name, len(texts), len(patterns), texts)
			continue
		}
		for _, pattern := range patterns {
			if !slices.ContainsFunc(texts, Says(pattern).MatchString) {
				t.Errorf("%s: want %q in\n%s", name, pattern, strings.Join(texts, "\n"))
			}
		}
	}
	if len(found) > 0 {
		t.Errorf("more errors: %q", found)
	}
}
