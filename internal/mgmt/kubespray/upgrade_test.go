package kubespray_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/kubespray"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Another kube_version in the parameters upgrades the existing nodes before others are added. An incomplete upgrade is resumed.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "2.26", 1, 0)
	w.groupVars()["kube_version"], w.groupVars()["serial"] = "1.31.9", "1"
	w.worker(t, 1)
	require.NoError(t, w.At(t, vnfm.OpScale, true))
	calls := w.take(t)
	require.Equal(t, []string{"upgrade-cluster.yml", "playbooks/facts.yml", "scale.yml"}, playbooks(calls))
	assert.Equal(t, "v1.31.9", calls[0].Variables["kube_version"])
	assert.Equal(t, "1", calls[0].Extra["serial"])
	assert.Equal(t, []string{"master1"}, calls[0].Groups["kube_control_plane"])
	assert.Empty(t, calls[0].Groups["kube_node"], "a server that has not joined cannot be upgraded")
	assert.Equal(t, "v1.31.9", calls[2].Variables["kube_version"])

	require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
	assert.Empty(t, w.take(t), "nothing is left to do")
	w.Each(t, "/run/kubelets", "node master1 v1.31.9\nnode worker1 v1.30.4\n")
	require.NoError(t, w.At(t, vnfm.OpModifyInfo, true))
	assert.Equal(t, []string{"upgrade-cluster.yml"}, playbooks(w.take(t)))
}

// Upgrades that kubeadm and kubespray do not support are rejected before changes.
func TestUpgradeIsRefused(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	w := newTestEnv(t, "2.26", 1, 0)
	for version, want := range map[string]string{
		"v1.29.5": "kube_version is 1.29.5, and the cluster has 1.30.4: Kubernetes cannot be downgraded; nothing was changed",
		"1.32.0":  "kube_version is 1.32.0, and the cluster has 1.30.4: no minor version may be skipped, so upgrade to a version 1.31 first; nothing was changed",
	} {
		w.groupVars()["kube_version"] = version
		require.ErrorContains(t, w.At(t, vnfm.OpModifyInfo, true), want)
		assert.Empty(t, w.take(t))
	}
	w.Each(t, "/run/version", "")
	require.ErrorContains(t, w.At(t, vnfm.OpModifyInfo, true), "no API server of the cluster says which version it has")

	for version, want := range map[any]bool{"1.31.9": true, "v1.31.9": true, "1.31": false, "latest": false, 1.31: false, nil: true} {
		w.groupVars()["kube_version"] = version
		problems := kubespray.New().Check(&vnfm.HookCheck{
			Params: w.Call.Params, Request: &vnfm.InstanceSpec{}, Package: w.Call.Package, Flavour: w.Call.Flavour, Counts: map[string]int{"masterNode": 1},
			Hooks: []vnfm.Hook{{Name: "instantiate_end"}},
		})
		assert.Equal(t, want, !problems.HasErrors(), "%v: %v", version, problems)
	}
}

// A tree that is replaced by another release does not change the version of the cluster, in whichever form it writes versions:
// its defaults, and the sample inventory of the former tree, name others.
func TestVersionIsKept(t *testing.T) {
	t.Parallel()
	w := newTestEnv(t, "2.26", 1, 0)
	sample := filepath.Join("inventory", "sample", "group_vars", "k8s_cluster", "k8s-cluster.yml")
	pinned, err := os.ReadFile(filepath.Join(w.tree, sample))
	require.NoError(t, err)
	require.Contains(t, string(pinned), "kube_version: v1.30.4")
	w.Each(t, "/run/version", "1.31.9\n")
	w.replaceTree(t, "2.28")
	w.worker(t, 1)
	require.NoError(t, w.At(t, vnfm.OpScale, true))
	calls := w.take(t)
	require.Equal(t, []string{"playbooks/facts.yml", "scale.yml"}, playbooks(calls))
	assert.Contains(t, readFile(t, calls[1], "group_vars/k8s_cluster/k8s-cluster.yml"), "kube_version: v1.30.4", "the pin of the former sample")
	assert.Equal(t, "1.31.9", calls[1].Variables["kube_version"])
}
