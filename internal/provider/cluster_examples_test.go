package provider_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestClusterExample applies the example of a workload cluster with two node groups,
// resizes one, removes the other, upgrades and destroys. With everything logged, the
// keys of neither the management cluster nor the workload cluster are left anywhere.
func TestClusterExample(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	lab := labtest.ClusterAPI(t)
	log := filepath.Join(t.TempDir(), "trace.log")
	c.env = append(c.env, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
	const example = "complete/capi/cluster"
	namespace := lab.ClusterNamespace(t)
	vars := []string{"kubeconfig=" + lab.Kubeconfig, "namespace=" + namespace}
	out := c.apply(t, example, vars...)
	for _, want := range []string{`"burst" = 1`, `"workers" = 1`, `version = "1.34.0"`, "ephemeral.vnf_capi_workload_kubeconfig.edge: Opening complete"} {
		if !strings.Contains(out, want) {
			t.Errorf("the apply does not say %q:\n%s", want, out)
		}
	}
	written, _ := kubeconfigSecrets(t, lab.ReadFile(t, lab.WorkloadKubeconfig(t, namespace, "edge")))
	management := c.id(t, example, "vnf_vim", "management")
	acctest.Edit(t, c.root, "credentials-per-run/workload-cluster/main.tf", `namespace         = "edge"`, fmt.Sprintf("namespace = %q", namespace))
	c.plan(t, "credentials-per-run/workload-cluster", "management_vim_id="+management)
	acctest.Edit(t, c.root, "data-sources/vnf_capi_workload_cluster/data-source.tf", `"edges"`, fmt.Sprintf("%q", namespace))
	c.plan(t, "data-sources/vnf_capi_workload_cluster", "management_cluster_id="+management)
	vars = append(vars, "workers=2", "burst=false", "kubernetes_version=1.35.0")
	out = c.apply(t, example, vars...)
	if !strings.Contains(out, `"workers" = 2`) || strings.Contains(out, `"burst" = 1`+"\n}") || !strings.Contains(out, `version = "1.35.0"`) {
		t.Errorf("the outputs after the change are\n%s", out)
	}
	c.run(t, example, vars, "destroy", "-auto-approve", "-no-color")
	for _, place := range []string{log, c.root, strings.TrimPrefix(c.env[1], "XDG_STATE_HOME=")} {
		grep(t, place, written)
	}
}

// TestNetworkFunctionOnAClusterExample applies the example that goes from nothing to
// a 5G core on a cluster of its own in one apply, and back.
func TestNetworkFunctionOnAClusterExample(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	lab := labtest.ClusterAPI(t)
	const example = "complete/capi/cnf"
	namespace := lab.ClusterNamespace(t)
	vars := []string{"kubeconfig=" + lab.Kubeconfig, "namespace=" + namespace}
	out := c.apply(t, example, vars...)
	if !strings.Contains(out, `status = "INSTANTIATED"`) || !strings.Contains(out, "5 added") {
		t.Errorf("the apply says\n%s", out)
	}
	if pods := lab.WorkloadKubectl(t, namespace, "core", "get", "pods", "-n", "core5g", "-o", "name"); strings.Count(pods, "pod/") < 8 {
		t.Errorf("the pods on the workload cluster are\n%s", pods)
	}
	c.run(t, example, vars, "destroy", "-auto-approve", "-no-color")
	if left := lab.Kubectl(t, "get", "clusters,machines,labclusters", "-n", namespace, "-o", "name", "--ignore-not-found"); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}
