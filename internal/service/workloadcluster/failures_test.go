package workloadcluster_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// A creation that fails and is to be undone says what kept the cluster from coming up,
// from the Cluster down to the machine.
func TestAccWorkloadCluster_rollsBack(t *testing.T) {
	env := newEnv(t)
	env.run(t, resource.TestStep{
		Config: env.config(`
  kubernetes_version = "1.34.0"
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "20m" } })] }
  node_groups        = { a = { replicas = 1 } }
  on_failure         = "rollback"
  timeouts           = { create = "3m" }
`),
		ExpectError: acctest.Says(`(?s)Cluster \S+/edge: InProgress.*Machine \S+/edge-control-plane-.*DevMachine \S+/edge-control-plane-.*everything that was created has been removed`),
	})
}

// A quota on objects that the provider makes, and one on those that Cluster API makes of
// them: the error says which quota, and which object it has refused.
func TestAccWorkloadCluster_quota(t *testing.T) {
	env := newEnv(t)
	config := func(limit string) string {
		return env.config(inMemory("1.34.0", `a = { replicas = 1 }`) + `
  on_failure = "rollback"
  timeouts   = { create = "` + limit + `" }
`)
	}
	env.run(t,
		resource.TestStep{
			PreConfig:   func() { env.lab.Quota(env, env.namespace, "few", "count/machinedeployments.cluster.x-k8s.io", 0) },
			Config:      config("45s"),
			ExpectError: acctest.Says(`(?s)MachineDeployment ` + env.namespace + `/edge-a.*exceeded quota: few, requested: count/machinedeployments\.cluster\.x-k8s\.io=1`),
		},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("delete", "resourcequota", "few")
				env.lab.Quota(env, env.namespace, "few", "count/machines.cluster.x-k8s.io", 0)
			},
			Config:      config("60s"),
			ExpectError: acctest.Says(`(?s)KubeadmControlPlane ` + env.namespace + `/edge-control-plane.*exceeded quota: few, requested: count/machines\.cluster\.x-k8s\.io=1`),
		},
	)
}
