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

// attributeSteps change each attribute: most of them in one apply, in place; what needs another cluster, or many machines, by its plan
// alone. At the end one machine of the control plane is healed, as Cluster API itself does it.
func (m *machines) attributeSteps(t *testing.T) []resource.TestStep {
	t.Helper()
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
	read := func(object, path string) string { return m.kubectl("get", object, "-o", "jsonpath={"+path+"}") }
	control := func() []string { return m.list("cluster.x-k8s.io/control-plane") }

	// Another name or namespace is another cluster.
	current := m.of("replicas = 0, "+two, rolledOut)
	replaced := func(old, other string) resource.TestStep {
		cluster := strings.Replace(m.cluster(current), old, other, 1)
		return resource.TestStep{
			Config: m.store.Config(acctest.VIM(m, m.lab, "test"), cluster, machineVariables), ConfigVariables: m.names, PlanOnly: true, ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionDestroyBeforeCreate)}},
		}
	}
	inPlace := func(arguments string) resource.TestStep {
		return resource.TestStep{
			Config: m.config(arguments, machineVariables), ConfigVariables: m.names, PlanOnly: true, ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: updates().PreApply},
		}
	}

	change := resource.TestStep{
		Config:            m.config(all),
		ConfigPlanChecks:  updates(),
		ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 2)},
	}
	change.Check = func(*terraform.State) error {
		assert.Equal(t, "edge core", read("cluster/edge", ".metadata.labels.site} {.metadata.annotations.owner"))
		assert.Equal(t, "3 3", read("kubeadmcontrolplane/edge-control-plane", ".spec.replicas} {.status.availableReplicas"))
		assert.Equal(t, "yes 60", read("kubeadmcontrolplane/edge-control-plane", `.spec.machineTemplate.metadata.labels.node-role\.kubernetes\.io/core} {.spec.machineTemplate.spec.deletion.nodeDrainTimeoutSeconds`))
		assert.Equal(t, "1 600", read("machinehealthcheck/edge-control-plane", ".spec.remediation.triggerIf.unhealthyLessThanOrEqualTo} {.spec.checks.nodeStartupTimeoutSeconds"))
		assert.Equal(t, "z1 60", read("machinedeployment/edge-a", ".spec.template.spec.failureDomain} {.spec.template.spec.deletion.nodeDrainTimeoutSeconds"))
		assert.Equal(t, "yes 2 50%", read("machinedeployment/edge-a", `.spec.template.metadata.labels.node-role\.kubernetes\.io/upf} {.spec.rollout.strategy.rollingUpdate.maxSurge} {.spec.rollout.strategy.rollingUpdate.maxUnavailable`))
		assert.NotEmpty(t, read("machinehealthcheck/edge-a", ".spec.checks.unhealthyNodeConditions"))
		m.before = control()
		m.names["master"] = config.StringVariable(m.before[0])
		return nil
	}

	heal := resource.TestStep{
		Config:            m.config(all+"  heal = { trigger = \"one\", machine_names = [var.master] }\n", machineVariables),
		ConfigVariables:   m.names,
		ConfigPlanChecks:  updates(),
		ConfigStateChecks: []statecheck.StateCheck{status("READY")},
	}
	heal.Check = func(*terraform.State) error {
		now := control()
		if len(now) != 3 || slices.Contains(now, m.before[0]) {
			return fmt.Errorf("%s was to be replaced: the machines were %v and are %v", m.before[0], m.before, now)
		}
		if last := read("kubeadmcontrolplane/edge-control-plane", ".status.lastRemediation.machine"); last != m.before[0] {
			return fmt.Errorf("the last machine that the control plane has replaced for a health check is %q", last)
		}
		return nil
	}

	return []resource.TestStep{
		replaced(`"edge"`, `"other"`),
		replaced(m.namespace, m.namespace+"-2"),
		inPlace(current + "  paused = true\n"),
		inPlace(current + "  kubeconfig_rotation_trigger = \"leaked\"\n"),
		inPlace(current + "  credentials_sink = { url = \"https://sink.example.org\" }\n"),
		change,
		{Config: m.config(all), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		inPlace(strings.Replace(all, `type = "RollingUpdate", max_surge = "2", max_unavailable = "50%"`, `type = "OnDelete"`, 1)),
		heal,
	}
}
