package workloadcluster_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// A management cluster whose Cluster API serves v1beta1 alone: a topology is written in
// that version, and its conditions and counters are read where that version has them.
func TestAccWorkloadCluster_olderVersion(t *testing.T) {
	env := newEnv(t)
	env.lab.ClusterClass(t, env.namespace)
	vim := fmt.Sprintf(`
resource "vnf_vim" "test" {
  name = "older"
  kubernetes = {
    endpoint       = %q
    ca_certificate = file(%q)
    bearer_token   = %q
  }
}
`, env.lab.Management.OlderEndpoint, env.lab.CAFile, env.lab.AdminToken)
	config := func(nodes int) string {
		return env.store.Config(vim, env.cluster(fmt.Sprintf(`
  kubernetes_version = "1.34.0"
  topology           = { class = "in-memory" }
  control_plane      = { replicas = 1, deletion = { node_drain_timeout = "1m" } }
  node_groups        = { a = { class = "default-worker", replicas = %d, health_check = { enabled = true, unhealthy_timeout = "5m", max_unhealthy = "40%%" } } }
`, nodes)))
	}
	env.run(t,
		resource.TestStep{
			Config: config(1),
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("a", "available_replicas", 1), groupHas("a", "up_to_date_replicas", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("api_version"), knownvalue.StringExact("v1beta1")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("available"), knownvalue.Bool(true)),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.34.0")),
			},
		},
		resource.TestStep{
			Config:           config(1),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{
			Config:            config(2),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{groupHas("a", "available_replicas", 2)},
		},
	)
}
