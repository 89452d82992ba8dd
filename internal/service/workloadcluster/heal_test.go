package workloadcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// A named machine is replaced and no other; the only one of a control plane is not;
// without a name all are.
func TestAccWorkloadCluster_heals(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	configured := func(heal string) string {
		return env.config(inMemory("1.34.0", `a = { replicas = 2 }`)+"  heal = "+heal+"\n", `
variable "machine" {
  type    = string
  default = ""
}
variable "since" {
  type    = string
  default = ""
}
`)
	}
	machines := func() []string {
		return strings.Fields(env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.name}"))
	}
	var before []string
	// The names are known once the cluster is there.
	worker, master, rollout := config.Variables{}, config.Variables{}, config.Variables{}
	env.run(t,
		resource.TestStep{
			Config: configured(`{ trigger = "at birth" }`),
			Check: func(*terraform.State) error {
				before = machines()
				for _, name := range before {
					if strings.Contains(name, "control-plane") {
						master["machine"] = config.StringVariable(name)
					} else {
						worker["machine"] = config.StringVariable(name)
					}
				}
				return nil
			},
		},
		resource.TestStep{
			Config:      configured(`{ trigger = "one", machine_names = ["edge-nobody"] }`),
			ExpectError: acctest.Says(`workload cluster has no machine "edge-nobody"`),
		},
		resource.TestStep{
			Config:          configured(`{ trigger = "one", machine_names = [var.machine] }`),
			ConfigVariables: master,
			ExpectError:     acctest.Says(`Machine "edge-control-plane-\S+" is the whole control plane`),
		},
		resource.TestStep{
			Config:            configured(`{ trigger = "one", machine_names = [var.machine] }`),
			ConfigVariables:   worker,
			ConfigPlanChecks:  resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 2)},
			Check: func(*terraform.State) error {
				now := machines()
				kept := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return !slices.Contains(now, name) })
				if len(now) != 3 || len(kept) != 2 {
					return fmt.Errorf("the machines were %v and are %v", before, now)
				}
				return nil
			},
		},
		resource.TestStep{
			Config:      strings.Replace(configured(`{ trigger = "all" }`), "heal = ", "rollout_after = \"2026-01-01T00:00:00Z\"\n  heal = ", 1),
			ExpectError: acctest.Says(`Conflicting Rollout Settings`),
		},
		resource.TestStep{
			PreConfig:         func() { before = machines() },
			Config:            configured(`{ trigger = "all" }`),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 2)},
			Check: func(*terraform.State) error {
				now := machines()
				if len(now) != 3 || slices.ContainsFunc(now, func(name string) bool { return slices.Contains(before, name) }) {
					return fmt.Errorf("the machines were %v and are %v", before, now)
				}
				return nil
			},
		},
		resource.TestStep{
			// Kubelet of a node is another one than Cluster API believes.
			PreConfig: func() {
				node := env.kubectl("get", "machines", "-l", "!cluster.x-k8s.io/control-plane", "-o", "jsonpath={.items[0].status.nodeRef.name}")
				env.lab.WorkloadKubectl(t, env.namespace, "edge", "patch", "node", node, "--type=merge", "--patch", `{"status":{"nodeInfo":{"kubeletVersion":"v1.33.1"}}}`)
				labtest.Eventually(t, time.Minute, "the version of kubelet", func() error {
					if seen := env.kubectl("get", "machines", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}"); !strings.Contains(seen, "v1.33.1") {
						return fmt.Errorf("the kubelets are %s", seen)
					}
					return nil
				})
			},
			Config:      strings.Replace(configured(`{ trigger = "all" }`), "heal = ", "labels = { tier = \"edge\" }\n  heal = ", 1),
			ExpectError: acctest.Says(`(?s)edge does not run the version that was asked for: kubelet of node "\S+" reports v1\.33\.1, and Machine \S+/edge-a-\S+ has v1\.34\.0\. Kubelet comes with the image`),
		},
		resource.TestStep{
			PreConfig:         func() { rollout["since"] = config.StringVariable(time.Now().UTC().Format(time.RFC3339)) },
			Config:            strings.Replace(configured("null"), "heal = null", "labels = { tier = \"edge\" }\n  rollout_after = var.since", 1),
			ConfigVariables:   rollout,
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 2)},
			Check:             env.diagnostics.HasWarning(`Nodes of Workload Cluster "edge" Run Another Version: \* kubelet of node "\S+" reports v1\.33\.1, and Machine`),
		},
	)
}
