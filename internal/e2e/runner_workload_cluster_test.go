//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccRunners_workloadCluster leads a workload cluster through its life.
func TestAccRunners_workloadCluster(t *testing.T) {
	t.Parallel()
	labtest.ClusterAPI(t)
	eachStore(t, func(t *testing.T, store string) *life {
		t.Helper()
		env := newEnv(t)
		env.useRemote(t, store)
		env.ownUsers(t)
		const kinds = "clusters.cluster.x-k8s.io,kubeadmcontrolplanes,machinedeployments.cluster.x-k8s.io,machines.cluster.x-k8s.io,devmachinetemplates"
		return &life{
			env: env, address: clusterAddress,
			made:    func() { env.workloadCluster("1.34.0", 1) },
			changed: func() { env.workloadCluster("1.34.0", 2) },
			drift:   func() { env.kubectl("delete", "kubeadmconfigtemplates", "--all") },
			parts:   func() map[string]string { return env.uidsOf(kinds) },
			check:   func(changed bool) { env.expectMachines("1.34.0", map[bool]int{false: 1, true: 2}[changed]) },
			gone: func() {
				require.Empty(t, env.uidsOf(kinds))
				env.expectNothing()
			},
		}
	})
}

// uidsOf maps the objects of kinds in the namespace, which may be gone, to their UIDs.
func (env *testEnv) uidsOf(kinds string) map[string]string {
	env.Helper()
	out := map[string]string{}
	for _, object := range strings.Fields(env.kubectl("get", kinds, "--ignore-not-found", "-o", "jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.uid} {end}")) {
		name, uid, _ := strings.Cut(object, "=")
		out[name] = uid
	}
	return out
}
