package instance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_forget destroys three instances whose VIM is gone, and the VIM. The argument of one keeps it against that of the VIM, until
// it is changed while the VIM does not answer. The second one goes by the argument of the VIM, against that of the provider. The third was
// never applied with any, has lost its record, and goes by the argument of the provider.
func TestAccInstance_forget(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	base := env.store.Config(env.faultyVIM(), pkg(examplePackage(t, "hello")))
	says := func(config, object, value string) string {
		require.Contains(t, config, object+" {")
		return strings.Replace(config, object+" {", object+" {\n  on_unreachable = \""+value+"\"", 1)
	}
	limit := `timeouts = { delete = "5s" }`
	like := func(name string) string {
		config := strings.ReplaceAll(strings.ReplaceAll(env.instanceWith(limit), `"vnf_instance" "test"`, `"vnf_instance" "`+name+`"`), `name            = "test"`, `name            = "`+name+`"`)
		return strings.ReplaceAll(config, env.namespace, env.namespace+"-"+name)
	}
	second, other := like("second"), like("other")
	forgetting := says(base, `resource "vnf_vim" "test"`, "forget")
	leftBehind := func(name string) string {
		return `(?s)Left Behind: .*belonged to VNF instance "` + name + `" and stays? on the VIM: on_unreachable is "forget", and .*cannot be reached.*nothing was deleted.*Deployment ` + env.namespace
	}
	known := func(want int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			require.Len(t, env.records(t), want)
			return nil
		}
	}
	env.runCase(t, resource.TestCase{
		Steps: []resource.TestStep{
			{Config: forgetting + env.instanceWith(limit, `on_unreachable = "fail"`) + second + other},
			{PreConfig: func() { env.lab.Fault(t, "cut") }, Config: forgetting + second + other, ExpectError: regexp.MustCompile(`(?s)cannot\s+be\s+reached`)},
			{
				Config:             forgetting + env.instanceWith(limit, `on_unreachable = "forget"`) + second + other,
				ConfigPlanChecks:   updates(),
				ExpectNonEmptyPlan: true,
			},
			{Config: says(forgetting, `provider "vnf"`, "fail") + other, Check: allChecks(env.diagnostics.HasWarning(leftBehind("test"), leftBehind("second")), known(1))},
			{Config: base + other, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction("vnf_vim.test", plancheck.ResourceActionUpdate)}}},
			{
				// Without its record nothing but the state tells of the instance.
				PreConfig: func() { loseRecords(t, env.store, store.KindInstance, store.KindOperation) },
				Config:    says(base, `provider "vnf"`, "forget"),
				Check:     allChecks(env.diagnostics.HasWarning(`(?s)Whatever There Is of VNF instance "other".*on_unreachable is "forget", and .*cannot be reached`), known(0)),
			},
		},
		CheckDestroy: func(*terraform.State) error {
			env.lab.Fault(t, "clear")
			left := env.owned()
			require.NotEmpty(t, left, "the instance was not left behind")
			deleteAll(env, left)
			env.lab.Kubectl(t, "delete", "namespace", env.namespace+"-other", env.namespace+"-second", "--wait=false")
			return nil
		},
	})
}

// deleteAll deletes objects in the namespace of a test.
func deleteAll(env *testEnv, objects []labtest.Object) {
	env.Helper()
	for _, o := range objects {
		env.kubectl("delete", o.Kind+"/"+o.Name, "--ignore-not-found")
	}
}
