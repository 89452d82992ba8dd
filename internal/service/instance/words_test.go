package instance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// lines is a list of texts.
func lines(texts []string) knownvalue.Check {
	out := make([]knownvalue.Check, len(texts))
	for i, text := range texts {
		out[i] = knownvalue.StringExact(text)
	}
	return knownvalue.ListExact(out)
}

// plansWords are the checks of a step whose plan says these operations and changes, which the state then holds, and after which nothing is
// left to plan.
func plansWords(operations []string, changes map[string][]string) (resource.ConfigPlanChecks, []statecheck.StateCheck) {
	objects := map[string]knownvalue.Check{}
	for key, texts := range changes {
		objects[key] = lines(texts)
	}
	return resource.ConfigPlanChecks{
		PreApply: []plancheck.PlanCheck{
			ownWords{},
			plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), lines(operations)),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("changes"), knownvalue.MapExact(objects)),
		},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}, []statecheck.StateCheck{value("operations", lines(operations)), value("changes", knownvalue.MapExact(objects))}
}

// TestAccInstance_words reads in plans what applies will do, from the creation to the repair of what was changed outside of Terraform.
func TestAccInstance_words(t *testing.T) {
	env := newEnv(t)
	next := acctest.CopyPackage(t, "hello")
	acctest.Edit(t, next, "Files/kubernetes/web.yaml", "web:1.0.0", "web:1.1.0")
	acctest.Edit(t, next, "Files/kubernetes/web.yaml", "Hello from a VNF", "Hello again")
	acctest.Edit(t, next, "hello.yaml", `software_version: "1.0.0"`, `software_version: "1.1.0"`)
	acctest.Hash(t, next)
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.CopyFS(broken, os.DirFS(next)))
	acctest.Edit(t, broken, "hello.yaml", `software_version: "1.1.0"`, `software_version: "1.2.0"`)
	failing("crash")(t, broken)
	acctest.Hash(t, broken)
	step := func(config string, operations []string, changes map[string][]string) resource.TestStep {
		s := resource.TestStep{Config: config}
		s.ConfigPlanChecks, s.ConfigStateChecks = plansWords(operations, changes)
		return s
	}
	one, three := "scale_levels = { web = 0 }", "scale_levels = { web = 2 }"
	drifted := step(env.configFor(next, three), []string{"HEAL: repair v1/Service web"}, map[string][]string{"recreated": {"v1/Service web"}})
	later := "resource \"terraform_data\" \"later\" { input = \"north\" }\n" + env.configFor(next, three, `heal = { trigger = "1", vdu_ids = ["web"] }`, `metadata = { site = terraform_data.later.output }`)
	drifted.PreConfig = func() { env.kubectl("delete", "service", "web") }
	env.run(t,
		step(env.config("hello", one), []string{"INSTANTIATE hello 1.0.0: 3 objects", "  web: 1 added"}, nil),
		step(env.config("hello", three), []string{"SCALE web 0 -> 2", "  web: 1 -> 3"}, nil),
		step(env.configFor(next, three), []string{"CHANGE_VNFPKG hello 1.0.0 -> 1.1.0", "  web: 3 rolled, 1 more at a time"}, map[string][]string{
			"apps/v1/Deployment web":   {"spec.template: reads other configuration", "spec.template.spec.containers[web].image: registry.example.com/hello/web:1.0.0 -> registry.example.com/hello/web:1.1.0"},
			"v1/ConfigMap web-content": {"data.index.html: <h1>Hello from a VNF</h1> -> <h1>Hello again</h1>"},
		}),
		// An upgrade that fails half-way is taken back from there.
		resource.TestStep{Config: env.configFor(broken, three, `timeouts = { update = "20s" }`), ExpectError: acctest.Says(`Unable to Update VNF Instance "test"`)},
		step(env.configFor(next, three), []string{"CHANGE_VNFPKG hello 1.2.0 half-way -> 1.1.0", "  web: 3 rolled, 1 more at a time"}, map[string][]string{
			"apps/v1/Deployment web": {"spec.template.metadata.annotations.lab.vnf/fail: removed, was crash"},
		}),
		drifted,
		step(env.configFor(next, three, `heal = { trigger = "1", vdu_ids = ["web"] }`), []string{"HEAL web", "  web: 3 replaced"}, nil),
		resource.TestStep{
			// What is not known decides on an operation, and on no object.
			Config: later,
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectUnknownValue(address, tfjsonpath.New("operations")), plancheck.ExpectUnknownValue(address, tfjsonpath.New("changes"))},
			},
			ConfigStateChecks: []statecheck.StateCheck{value("operations", knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("MODIFY_INFO: modify the record")}))},
		},
		resource.TestStep{
			Config: later, ResourceName: address, ImportState: true, ImportStateVerify: true,
			ImportStateVerifyIgnore: []string{"deletion_policy", "timeouts", "operations", "changes"},
		},
	)
}
