package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

func unknown(names ...string) []plancheck.PlanCheck {
	return unknownOf(address, names...)
}

func unknownOf(address string, names ...string) []plancheck.PlanCheck {
	var checks []plancheck.PlanCheck
	for _, name := range names {
		checks = append(checks, plancheck.ExpectUnknownValue(address, tfjsonpath.New(name)))
	}
	return checks
}

// TestAccInstance_unknown plans instances while a value of each is not known yet: what depends
// on it is unknown and nothing is guessed, the rest is shown, and the apply is whole. The namespace
// that one makes goes with it; those that were there before stay.
func TestAccInstance_unknown(t *testing.T) {
	env := newEnv(t)
	config := env.store.Config(acctest.VIM(t, env.lab, "test"), pkg(examplePackage(t, "hello")))
	preview := []string{"operations", "vnfc_counts", "scale_status", "vnfd_id"}
	var plan []plancheck.PlanCheck
	var state []statecheck.StateCheck
	var backend []resource.TestCheckFunc
	made, homes := env.namespace+"-made", []string{}
	for name, c := range map[string]struct {
		// later is the value, which argument takes as LATER.
		later, argument string
		// unknown are attributes that the plan cannot know. When those that preview the instance are known, it has three objects.
		unknown []string
	}{
		"vim":        {later: "vnf_vim.test.id", argument: "vim_id = LATER"},
		"package":    {later: "vnf_package.test.id", argument: "package_id = LATER", unknown: preview},
		"name":       {later: `"late"`, argument: "name = LATER", unknown: preview},
		"namespace":  {later: fmt.Sprintf("%q", made), argument: "namespace = LATER", unknown: []string{"namespace"}},
		"flavour":    {later: `"default"`, argument: "flavour_id = LATER", unknown: preview},
		"levels":     {later: "1", argument: "scale_levels = { web = LATER }", unknown: preview},
		"parameters": {later: `["` + webFile + `"]`, argument: `additional_params = { "lcm-kubernetes-def-files" = LATER }`, unknown: preview},
		"metadata":   {later: `"north"`, argument: "metadata = { site = LATER }"},
	} {
		home, address := env.elsewhere(), "vnf_instance."+name
		homes = append(homes, home.namespace)
		config += fmt.Sprintf("resource \"terraform_data\" %q { input = %s }\n", name, c.later)
		config += home.instanceNamed(name, strings.ReplaceAll(c.argument, "LATER", "terraform_data."+name+".output"))
		plan = append(plan, plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate))
		plan = append(plan, unknownOf(address, c.unknown...)...)
		if !slices.Contains(c.unknown, "operations") {
			plan = append(plan, plansObjectsOf(address, 3))
		}
		state = append(state, statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")))
		backend = append(backend, home.checkBackendOf(address, 3))
	}
	state = append(state, statecheck.ExpectKnownValue("vnf_instance.namespace", tfjsonpath.New("namespace"), knownvalue.StringExact(made)))
	backend = append(backend, env.expectKubectl(made, "get", "namespace", made, "-o", "jsonpath={.metadata.name}"))
	env.run(t, resource.TestStep{
		Config: config, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: plan}, ConfigStateChecks: state, Check: allChecks(backend...),
	})
	slices.Sort(homes)
	all := append([]string{"get", "namespace", made, "--ignore-not-found", "-o", "jsonpath={.items[*].metadata.name}"}, homes...)
	if err := env.expectKubectl(strings.Join(homes, " "), all...)(nil); err != nil {
		t.Error(err)
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
