package instance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_forget destroys two instances whose VIM is gone, and the VIM. One has failed to go, and gets on_unreachable while the
// VIM does not answer; the other was never applied with it, has lost its record, and goes by the argument of the provider.
func TestAccInstance_forget(t *testing.T) {
	env := newEnv(t)
	base := env.store.Config(env.faultyVIM(), pkg(examplePackage(t, "hello")))
	limit := `timeouts = { delete = "5s" }`
	other := strings.ReplaceAll(strings.ReplaceAll(env.instanceWith(limit), `"vnf_instance" "test"`, `"vnf_instance" "other"`), `name            = "test"`, `name            = "other"`)
	other = strings.ReplaceAll(other, env.namespace, env.namespace+"-other")
	leftBehind := func(name string) resource.TestCheckFunc {
		return env.diagnostics.HasWarning(`(?s)Left Behind: .*belonged to VNF instance "` + name + `" and stays? on the VIM: on_unreachable is "forget", and .*cannot be reached.*nothing was deleted.*Deployment ` + env.namespace)
	}
	known := func(want int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			require.Len(t, env.records(t), want)
			return nil
		}
	}
	env.runCase(t, resource.TestCase{
		Steps: []resource.TestStep{
			{Config: base + env.instanceWith(limit) + other},
			{PreConfig: func() { env.lab.Fault(t, "cut") }, Config: base + other, ExpectError: regexp.MustCompile(`(?s)cannot\s+be\s+reached`)},
			{
				Config:             base + env.instanceWith(limit, `on_unreachable = "forget"`) + other,
				ConfigPlanChecks:   updates(),
				ExpectNonEmptyPlan: true,
			},
			{Config: base + other, Check: allChecks(leftBehind("test"), known(1))},
			{
				// Without its record nothing but the state tells of the instance.
				PreConfig: func() { loseRecords(t, env.store, store.KindInstance, store.KindOperation) },
				Config:    strings.Replace(base, "provider \"vnf\" {", "provider \"vnf\" {\n  on_unreachable = \"forget\"", 1),
				Check:     allChecks(env.diagnostics.HasWarning(`(?s)Whatever There Is of VNF instance "other".*on_unreachable is "forget", and .*cannot be reached`), known(0)),
			},
		},
		CheckDestroy: func(*terraform.State) error {
			env.lab.Fault(t, "clear")
			left := env.owned()
			require.NotEmpty(t, left, "the instance was not left behind")
			deleteAll(env, left)
			env.lab.Kubectl(t, "delete", "namespace", env.namespace+"-other", "--wait=false")
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
