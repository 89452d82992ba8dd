package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

func unknown(names ...string) []plancheck.PlanCheck {
	var checks []plancheck.PlanCheck
	for _, name := range names {
		checks = append(checks, plancheck.ExpectUnknownValue(address, tfjsonpath.New(name)))
	}
	return checks
}

// TestAccInstance_unknown plans while a value is not known yet: what depends on it
// is unknown and nothing is guessed, the rest is shown, and the apply is whole.
func TestAccInstance_unknown(t *testing.T) {
	t.Parallel()
	const later = `
resource "terraform_data" "later" {
  input = %s
}
`
	objects := plansObjects(3)
	preview := unknown("operations", "vnfc_counts", "scale_status", "vnfd_id")
	for name, tc := range map[string]struct {
		input, from, to string
		checks          []plancheck.PlanCheck
	}{
		"vim":        {"vnf_vim.test.id", "= vnf_vim.test.id", "= terraform_data.later.output", []plancheck.PlanCheck{objects}},
		"package":    {"vnf_package.test.id", "= vnf_package.test.id", "= terraform_data.later.output", preview},
		"name":       {`"late"`, `= "test"`, "= terraform_data.later.output", preview},
		"namespace":  {"NAMESPACE", "= NAMESPACE", "= terraform_data.later.output", []plancheck.PlanCheck{objects, plancheck.ExpectUnknownValue(address, tfjsonpath.New("namespace"))}},
		"flavour":    {`"default"`, "deletion_policy", "flavour_id = terraform_data.later.output\n  deletion_policy", preview},
		"levels":     {"1", "deletion_policy", "scale_levels = { web = terraform_data.later.output }\n  deletion_policy", preview},
		"parameters": {`["` + webFile + `"]`, "deletion_policy", "additional_params = { \"lcm-kubernetes-def-files\" = terraform_data.later.output }\n  deletion_policy", preview},
		"metadata":   {`"north"`, "deletion_policy", "metadata = { site = terraform_data.later.output }\n  deletion_policy", []plancheck.PlanCheck{objects}},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnv(t)
			quoted := strings.NewReplacer("NAMESPACE", fmt.Sprintf("%q", env.namespace))
			text := strings.Replace(env.instance(), quoted.Replace(tc.from), quoted.Replace(tc.to), 1)
			env.run(t, resource.TestStep{
				Config: env.store.Config(acctest.VIM(t, env.lab, "test"), pkg(examplePackage(t, "hello")), fmt.Sprintf(later, quoted.Replace(tc.input)), text),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             append([]plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)}, tc.checks...),
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{instantiated()},
				Check:             env.checkBackend(3),
			})
		})
	}
}

// TestAccInstance_unknownProvider plans while the provider itself is not known.
func TestAccInstance_unknownProvider(t *testing.T) {
	env := newEnv(t)
	config := fmt.Sprintf(`
resource "terraform_data" "path" {
  input = %q
}

provider "vnf" {
  store      = { local = { path = terraform_data.path.output } }
  encryption = { key_file = %q }
}
`, env.store.Path, env.store.KeyFile) + acctest.VIM(t, env.lab, "test") + pkg(examplePackage(t, "hello")) + env.instance()
	env.run(t,
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: unknown("operations", "vnfc_counts")},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             env.checkBackend(),
		},
		resource.TestStep{Config: config, PlanOnly: true},
	)
}

// TestAccInstance_noRefresh changes an instance by a plan that has not looked at it.
func TestAccInstance_noRefresh(t *testing.T) {
	env := newEnv(t)
	env.runCase(t, resource.TestCase{
		AdditionalCLIOptions: &resource.AdditionalCLIOptions{Plan: resource.PlanOptions{NoRefresh: true}},
		Steps: []resource.TestStep{
			{Config: env.config("hello"), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
			// A workload that is gone is made again with its new count, and with it what else the plan did not see.
			after(func() { env.kubectl("delete", "service,deployment", "web") }, updated(env.config("hello", `scale_levels = { web = 1 }`), env.checkBackend(), replicas("web", 2))),
		},
	})
}
