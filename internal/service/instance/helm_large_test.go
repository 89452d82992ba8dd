package instance_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_helmLarge leads the example package around a large chart through its life:
// definitions with objects of their kinds, webhooks with a generated CA, volumes, hooks,
// sub-charts and passwords.
func TestAccInstance_helmLarge(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	first := examplePackage(t, "subscriber-store")
	second := acctest.CopyPackage(t, "subscriber-store")
	acctest.Edit(t, second, "Artifacts/Charts/subscriber-store/values.yaml", "tag: 1.0.0", "tag: 1.1.0")
	acctest.Edit(t, second, "Artifacts/Charts/subscriber-store/values.yaml", "    weekly: { schedule: \"0 3 * * 0\", keep: 5 }\n", "")
	acctest.Hash(t, second)
	params := chartParams(`helm_value_names = { proxy = { replica = "proxy.replicas" } }`)
	// passwords checks that the generated passwords stay.
	var before string
	passwords := func(*terraform.State) error {
		now := env.kubectl("get", "secrets", "test-store-credentials", "test-dashboard", "test-operator-webhook", "-o", "jsonpath={.items[*].data}")
		if before != "" && now != before {
			return fmt.Errorf("the generated secrets have changed")
		}
		before = now
		return nil
	}
	env.run(t,
		resource.TestStep{
			Config: env.configFor(first, params),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plansObjects(52), plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("operator", 1, "store", 3, "proxy", 1)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             allChecks(env.history("1 deployed"), passwords, env.expectKubectl("Bound Bound Bound Bound Bound Bound", "get", "pvc", "-o", "jsonpath={.items[*].status.phase}")),
		},
		applied(env.configFor(second, params), allChecks(env.history("1 superseded", "2 deployed"), passwords,
			env.expectKubectl("test-backup-daily", "get", "cronjobs", "-o", "jsonpath={.items[*].metadata.name}"),
			env.expectKubectl("registry.example.com/store/proxy:1.1.0", "get", "deployment", "test-proxy", "-o", "jsonpath={..image}"))),
	)
}
