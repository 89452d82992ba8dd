package workloadcluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// The guide of add-ons: a chart is installed on a workload cluster through a VIM that
// is one, and a rotation of the cluster's kubeconfig is followed.
func TestAccWorkloadCluster_addon(t *testing.T) {
	env := newEnv(t)
	env.plantCluster("edge")
	first, _ := env.kubeconfig(time.Now().Add(1000 * time.Hour))
	second, _ := env.kubeconfig(time.Now().Add(900 * time.Hour))
	broken := strings.ReplaceAll(first, env.lab.Endpoint, "https://127.0.0.1:1")
	env.plantSecret("edge-kubeconfig", map[string]string{"value": first})
	addons := env.lab.Namespace(t)
	config := env.configWithVIM(env.lookup(dataCluster, ""), fmt.Sprintf(`
resource "vnf_vim" "edge" {
  name       = "edge"
  kubernetes = { kubeconfig_ref = data.vnf_capi_workload_cluster.test.kubeconfig_ref }
}

resource "vnf_package" "ims" {
  name   = "ims"
  source = %q
}

resource "vnf_instance" "ims" {
  name       = "ims"
  vim_id     = vnf_vim.edge.id
  package_id = vnf_package.ims.id
  namespace  = %q
}
`, acctest.ExamplePackage(t, "ims-helm"), addons))
	env.runEphemeral(t,
		resource.TestStep{
			Config: config,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("vnf_instance.ims", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
			},
			Check: func(*terraform.State) error {
				out := env.lab.Kubectl(t, "get", "secrets", "--namespace", addons, "--selector", "owner=helm,status=deployed", "--output", "name")
				if !strings.Contains(out, "sh.helm.release.v1.") {
					return fmt.Errorf("there is no record of a release: %s", out)
				}
				return nil
			},
		},
		resource.TestStep{
			// The current Secret is read: one with an unusable address is noticed.
			PreConfig:        func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": second}) },
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{
			PreConfig:   func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": broken}) },
			Config:      config,
			Destroy:     true,
			ExpectError: acctest.Says(`cannot be reached`),
		},
		resource.TestStep{
			PreConfig: func() { env.plantSecret("edge-kubeconfig", map[string]string{"value": second}) },
			Config:    config,
		},
	)
}
