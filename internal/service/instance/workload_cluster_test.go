package instance_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// A workload cluster of Cluster API as a network function: instantiated, scaled by its
// aspect, upgraded by another package and terminated, each done when Cluster API says
// so.
func TestAccInstance_workloadCluster(t *testing.T) {
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	env := &testEnv{TB: t, lab: lab, store: acctest.NewStore(t), namespace: lab.ClusterNamespace(t)}
	first := acctest.CopyPackage(t, "workload-cluster")
	next := acctest.CopyPackage(t, "workload-cluster")
	for _, file := range []string{"Files/kubernetes/cluster.yaml", "Files/kubernetes/nodes.yaml"} {
		acctest.Edit(t, next, file, "version: v1.34.0", "version: v1.35.0")
	}
	acctest.Hash(t, next)
	machines := func(want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			got := env.kubectl("get", "machines", "-o", "jsonpath={range .items[*]}{.spec.version} {.status.conditions[?(@.type=='Available')].status} {end}")
			if strings.TrimSpace(got) != want {
				t.Errorf("the machines are %q, want %q", got, want)
			}
			return nil
		}
	}
	env.run(t,
		resource.TestStep{
			Config: env.configFor(first, `scale_levels = { nodes = 0 }`),
			Check: resource.ComposeTestCheckFunc(
				resource.TestCheckResourceAttr(address, "status", "INSTANTIATED"),
				resource.TestCheckResourceAttr(address, "vnfc_counts.nodes", "1"),
				resource.TestCheckResourceAttr(address, "vnfc_counts.control-plane", "1"),
				machines("v1.34.0 True v1.34.0 True"),
			),
		},
		updated(env.configFor(first, `scale_levels = { nodes = 1 }`), machines("v1.34.0 True v1.34.0 True v1.34.0 True")),
		updated(env.configFor(next, `scale_levels = { nodes = 1 }`), machines("v1.35.0 True v1.35.0 True v1.35.0 True")),
	)
	if left := env.kubectl("get", "clusters,machines,kubeadmcontrolplanes,devclusters,devmachinetemplates,kubeadmconfigtemplates", "-o", "name", "--ignore-not-found"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
