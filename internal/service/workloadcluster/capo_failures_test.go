package workloadcluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccWorkloadCluster_capoFailures has the real Nova refuse the server of a control plane in ways after which the real Cluster API
// Provider OpenStack does nothing more. The apply ends at once and says why, and the next one replaces the machine.
func TestAccWorkloadCluster_capoFailures(t *testing.T) {
	cloud := labtest.OpenStackCompute(t)
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	user := cloud.NewProject(t)
	config := func(zone, timeouts string) string {
		return env.config(fmt.Sprintf(`
  kubernetes_version = "1.33.1"
  chart = {
    name = "openstack"
    values = [yamlencode({
      machineImage      = "ubuntu-2204-kube-v1.33.1"
      clusterNetworking = { externalNetworkId = %q }
      apiServer         = { enableLoadBalancer = false, associateFloatingIP = false, fixedIP = "192.168.3.10" }
      controlPlane      = { omitFailureDomain = false }
    })]
  }
  control_plane = { replicas = 1, flavor = "m1.medium", failure_domains = [%q] }
  node_groups   = {}
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
  on_failure    = "resume"
  timeouts      = %s
`, cloud.Networks["public"], zone, timeouts), labCloudVIM(cloud, user))
	}
	const machine = `(?s)Machine %s/edge-control-plane-\w+ of the control plane has failed for good: OpenStackServer %[1]s/edge-control-plane-\w+: `
	const advice = `MachineHealthCheck %s/edge-control-plane replaces it at \S+, (after the time limit of the operation|which is too late to wait for)\. ` +
		`Correct the cause, for example the quota, the flavor or the availability zone, and apply again: the next apply replaces the machine`
	full := cloud.FullZone(t)
	var began time.Time
	env.run(t,
		resource.TestStep{
			PreConfig:          func() { began = time.Now() },
			Config:             config(full, `{ create = "5m", update = "5m" }`),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
			Check: resource.ComposeTestCheckFunc(
				env.diagnostics.HasWarning(fmt.Sprintf(machine, env.namespace)+`its server is in ERROR \(server [0-9a-f-]+\); Nova says: No valid host was found\.[^;]*; `+fmt.Sprintf(advice, env.namespace)),
				func(*terraform.State) error {
					if took := time.Since(began); took > 4*time.Minute {
						return fmt.Errorf("a server without a host has failed after %s", took)
					}
					return nil
				},
			),
		},
		resource.TestStep{
			// The port of the machine that comes for the failed one is refused, which is tried again: until the time limit, and the error
			// has the words of Neutron.
			PreConfig:          func() { cloud.Limit(t, user, "port", 0) },
			Config:             config("nova", `{ create = "5m", update = "2m" }`),
			ExpectError:        acctest.Says(`(?s)OpenStackServer \S+/edge-control-plane-\w+: .*Failedcreateport .*Quota exceeded for resources: \['port'\]`),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig: func() {
				cloud.Limit(t, user, "instances", 0)
				cloud.Limit(t, user, "port", 50)
			},
			Config:             config("nova", `{ create = "5m", update = "5m" }`),
			ExpectError:        acctest.Says(fmt.Sprintf(machine, env.namespace) + `.*Quota exceeded for instances: Requested 1.*` + fmt.Sprintf(advice, env.namespace)),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig:          func() { cloud.Limit(t, user, "instances", 10) },
			Config:             config("nova", `{ create = "5m", update = "15s" }`),
			ExpectError:        acctest.Says(`deadline exceeded`),
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig: func() {
				labtest.Eventually(t, 2*time.Minute, "the server of the machine", func() error {
					if state := env.kubectl("get", "openstackservers", "-o", "jsonpath={.items[*].status.instanceState}"); state != "ACTIVE" {
						return fmt.Errorf("the servers are %q", state)
					}
					return nil
				})
			},
			Config:   config("nova", `{}`),
			PlanOnly: true, ExpectNonEmptyPlan: true,
		},
	)
}
