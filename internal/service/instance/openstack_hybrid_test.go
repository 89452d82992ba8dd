package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// probe is a VDU of containers beside the servers of the package firewall.
const probe = `
    probe:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties:
        name: probe
        description: watches the firewall
        mcio_identification_data: { name: probe, type: Deployment }
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }
      requirements:
        - container: watcher
    watcher:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties:
        name: watcher
        description: asks for the counters of the firewall
        requested_cpu_resources: 50
        requested_memory_resources: 32 MiB
      artifacts:
        image: { type: tosca.artifacts.nfv.SwImage, file: "registry.example.com/watcher:1.0.0" }

    FW_CP1:
`

// TestAccInstance_hybrid has an instance whose servers are on an OpenStack and whose
// containers are on a Kubernetes cluster, in one apply, and with an instance VIM of either kind.
func TestAccInstance_hybrid(t *testing.T) {
	c := newCloud(t)
	lab := labtest.Kubernetes(t)
	namespace := lab.Namespace(t)
	dir := acctest.CopyPackage(t, "firewall")
	acctest.Edit(t, dir, "Definitions/firewall_df_simple.yaml", "\n    FW_CP1:\n", probe)
	acctest.Hash(t, dir)
	config := func(vim, placed string, arguments ...string) string {
		return c.store.Config(c.vim(), strings.ReplaceAll(acctest.VIM(t, lab, "cluster"), `"vnf_vim" "test"`, `"vnf_vim" "cluster"`), pkg(dir), fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = "fw"
  vim_id          = %s
  package_id      = vnf_package.test.id
  flavour_id      = "simple"
  %s
  %s
  %s
}
`, vim, placed, c.links(c.openstack.Networks["net0"]), strings.Join(arguments, "\n  ")))
	}
	onCloud := func(arguments ...string) string {
		return config("vnf_vim.test.id", fmt.Sprintf("vim_connections = { watch = { vim_id = vnf_vim.cluster.id, namespace = %q, vdu_ids = [\"probe\"] } }", namespace), arguments...)
	}
	deployment := func(want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := strings.TrimSpace(lab.Kubectl(t, "-n", namespace, "get", "deployments", "-o", "name")); got != want {
				return fmt.Errorf("on the cluster: %q, want %q", got, want)
			}
			return nil
		}
	}
	servers := func(counts map[string]int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			all, err := c.client.Servers(t.Context())
			if err != nil {
				return err
			}
			got := map[string]int{}
			for _, s := range all {
				for vdu := range counts {
					if strings.Contains(s.Name, "-"+vdu+"-") && s.Status == "ACTIVE" {
						got[vdu]++
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(counts) {
				return fmt.Errorf("servers: %v, want %v", got, counts)
			}
			return nil
		}
	}
	empty := []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy:             allChecks(deployment(""), servers(map[string]int{})),
		Steps: []resource.TestStep{
			{
				Config:           onCloud(),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: empty},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact(string(vnfm.StatusInstantiated))),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("objects").AtMapKey("watch: apps/v1/Deployment probe"), knownvalue.NotNull()),
					replicas("FW", 1), replicas("probe", 1),
				},
				Check: allChecks(deployment("deployment.apps/probe"), servers(map[string]int{"FW": 1, "TG": 1})),
			},
			{
				// A server that was deleted on one VIM is restored while the other VIM is scaled.
				PreConfig:        func() { lab.Kubectl(t, "-n", namespace, "delete", "deployment", "probe") },
				Config:           onCloud(level(1)),
				ConfigPlanChecks: updatesInPlace(countOf("FW", 2), countOf("probe", 1)),
				Check:            allChecks(deployment("deployment.apps/probe"), servers(map[string]int{"FW": 2, "TG": 1})),
			},
			{
				// With the cluster as the home, the servers are elsewhere.
				Config: config("vnf_vim.cluster.id", `vim_connections = { cloud = { vim_id = vnf_vim.test.id, vdu_ids = ["FW", "TG"] } }`,
					fmt.Sprintf("namespace = %q", namespace)),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: empty},
				Check:            allChecks(deployment("deployment.apps/probe"), servers(map[string]int{"FW": 1, "TG": 1})),
			},
		},
	})
}
