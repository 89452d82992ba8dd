package workloadcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// The effect of a change of each attribute: most of them in one apply, in place; what
// needs another cluster, or many machines, by its plan alone. At the end one machine of the
// control plane is healed, as Cluster API itself does it.
func TestAccWorkloadCluster_everyAttribute(t *testing.T) {
	env := newEnv(t)
	least := inMemory("1.34.0", `a = { replicas = 1 }`)
	all := `
  kubernetes_version = "1.34.0"
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }
  labels             = { site = "edge" }
  annotations        = { owner = "core" }
  control_plane = {
    replicas     = 3
    labels       = { "node-role.kubernetes.io/core" = "yes" }
    health_check = { enabled = true, node_startup_timeout = "10m", unhealthy_timeout = "5m", max_unhealthy = "1" }
    deletion     = { node_drain_timeout = "60s", node_volume_detach_timeout = "1m", node_deletion_timeout = "1m" }
  }
  node_groups = {
    a = {
      replicas       = 2
      labels         = { "node-role.kubernetes.io/upf" = "yes" }
      failure_domain = "z1"
      health_check   = { enabled = true, unhealthy_timeout = "300s" }
      deletion       = { node_drain_timeout = "1m" }
      rollout        = { type = "RollingUpdate", max_surge = "2", max_unavailable = "50%" }
    }
  }
  on_failure      = "rollback"
  force_conflicts = true
  adopt_existing  = true
  server_dry_run  = false
  lock_timeout    = "1m"
  timeouts        = { update = "20m" }
`
	const healed = `
  heal = { trigger = "one", machine_names = [var.machine] }
`
	variable := `
variable "machine" {
  type    = string
  default = ""
}
`
	replaced := func(arguments string) resource.TestStep {
		return resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"), arguments), PlanOnly: true, ExpectNonEmptyPlan: true, ConfigPlanChecks: resource.ConfigPlanChecks{
			PostApplyPreRefresh: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionDestroyBeforeCreate)},
		}}
	}
	inPlace := func(arguments string) resource.TestStep {
		return resource.TestStep{Config: env.config(arguments), PlanOnly: true, ExpectNonEmptyPlan: true, ConfigPlanChecks: resource.ConfigPlanChecks{
			PostApplyPreRefresh: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)},
		}}
	}
	read := func(object, path string) string { return env.kubectl("get", object, "-o", "jsonpath={"+path+"}") }
	control := func() []string {
		return strings.Fields(env.kubectl("get", "machines", "-l", "cluster.x-k8s.io/control-plane", "-o", "jsonpath={.items[*].metadata.name}"))
	}
	var before []string
	named := config.Variables{}
	env.run(t,
		resource.TestStep{Config: env.config(least), ConfigStateChecks: []statecheck.StateCheck{status("READY")}},
		replaced(strings.Replace(env.cluster(least), `"edge"`, `"other"`, 1)),
		replaced(strings.Replace(env.cluster(least), env.namespace, env.namespace+"-2", 1)),
		inPlace(strings.Replace(least, "1.34.0", "1.35.0", 1)),
		inPlace(least+`  paused = true`),
		inPlace(least+`  rollout_after = "2026-01-01T00:00:00Z"`),
		inPlace(least+`  kubeconfig_rotation_trigger = "leaked"`),
		inPlace(least+`  credentials_sink = { url = "https://sink.example.org" }`),
		resource.TestStep{
			Config:            env.config(all),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 2)},
			Check: func(*terraform.State) error {
				assert.Equal(t, "edge core", read("cluster/edge", ".metadata.labels.site} {.metadata.annotations.owner"))
				assert.Equal(t, "3 3", read("kubeadmcontrolplane/edge-control-plane", ".spec.replicas} {.status.availableReplicas"))
				assert.Equal(t, "yes 60", read("kubeadmcontrolplane/edge-control-plane", `.spec.machineTemplate.metadata.labels.node-role\.kubernetes\.io/core} {.spec.machineTemplate.spec.deletion.nodeDrainTimeoutSeconds`))
				assert.Equal(t, "1 600", read("machinehealthcheck/edge-control-plane", ".spec.remediation.triggerIf.unhealthyLessThanOrEqualTo} {.spec.checks.nodeStartupTimeoutSeconds"))
				assert.Equal(t, "z1 60", read("machinedeployment/edge-a", ".spec.template.spec.failureDomain} {.spec.template.spec.deletion.nodeDrainTimeoutSeconds"))
				assert.Equal(t, "yes 2 50%", read("machinedeployment/edge-a", `.spec.template.metadata.labels.node-role\.kubernetes\.io/upf} {.spec.rollout.strategy.rollingUpdate.maxSurge} {.spec.rollout.strategy.rollingUpdate.maxUnavailable`))
				assert.NotEmpty(t, read("machinehealthcheck/edge-a", ".spec.checks.unhealthyNodeConditions"))
				before = control()
				named["machine"] = config.StringVariable(before[0])
				return nil
			},
		},
		resource.TestStep{
			Config:           env.config(all),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		inPlace(strings.Replace(all, `type = "RollingUpdate", max_surge = "2", max_unavailable = "50%"`, `type = "OnDelete"`, 1)),
		resource.TestStep{
			Config:            env.config(all+healed, variable),
			ConfigVariables:   named,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check: func(*terraform.State) error {
				now := control()
				if len(now) != 3 || slices.Contains(now, before[0]) {
					return fmt.Errorf("%s was to be replaced: the machines were %v and are %v", before[0], before, now)
				}
				if last := read("kubeadmcontrolplane/edge-control-plane", ".status.lastRemediation.machine"); last != before[0] {
					return fmt.Errorf("the last machine that the control plane has replaced for a health check is %q", last)
				}
				return nil
			},
		},
	)
}
