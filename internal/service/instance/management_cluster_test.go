package instance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// foreign is a workload cluster of somebody else, whose infrastructure never comes.
const foreign = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: foreign }
spec:
  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: foreign }
`

// unmanagedImage is an image of Glance as OpenStack Resource Controller finds it.
const unmanagedImage = `apiVersion: openstack.k-orc.cloud/v1alpha1
kind: Image
metadata: { name: nodes }
spec:
  managementPolicy: unmanaged
  cloudCredentialsRef: { secretName: edge-cloud-credentials, cloudName: openstack }
  import: { filter: { name: ubuntu-2204-kube-v1.33.1 } }
`

// Cluster API as a network function: a plain cluster becomes a management cluster by a
// package, and a workload cluster is made through it in the same apply. It does not go
// as long as there are Clusters of others, and goes after those of the configuration.
func TestAccInstance_managementCluster(t *testing.T) {
	t.Parallel()
	source := acctest.ManagementClusterPackage(t, "management-cluster")
	lab := labtest.Second(t)
	env := &testEnv{TB: t, lab: lab, store: acctest.NewStore(t), namespace: lab.Namespace(t)}
	cluster := fmt.Sprintf(`
resource "vnf_capi_workload_cluster" "test" {
  management_vim_id  = vnf_vim.test.id
  namespace          = %q
  name               = "edge"
  kubernetes_version = "1.34.0"
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }
  control_plane      = { replicas = 1 }
  node_groups        = { workers = { replicas = 1 } }
  depends_on         = [vnf_instance.test]
}
`, env.namespace)
	without := env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(source))
	file := filepath.Join(t.TempDir(), "foreign.yaml")
	acctest.Write(t, filepath.Dir(file), filepath.Base(file), foreign)
	env.run(t,
		resource.TestStep{
			Config: env.configFor(source) + cluster,
			Check: allChecks(
				resource.TestCheckResourceAttr(address, "status", "INSTANTIATED"),
				resource.TestCheckResourceAttr(address, "vnfc_counts.core", "1"),
				resource.TestCheckResourceAttr("vnf_capi_workload_cluster.test", "status", "READY"),
				resource.TestCheckResourceAttr("vnf_capi_workload_cluster.test", "node_groups_status.workers.available_replicas", "1"),
				env.managers,
			),
		},
		resource.TestStep{
			// The workload cluster of the configuration goes, and nothing of the instance.
			PreConfig: func() {
				env.kubectl("apply", "-f", file)
				env.kubectl("wait", "cluster/foreign", "--for=jsonpath={.metadata.finalizers[0]}=cluster.cluster.x-k8s.io", "--timeout=2m")
			},
			Config: without,
			ExpectError: acctest.Says(`Nothing was removed: objects of kinds that VNF instance "test" defines, and that only its own VNFCs can remove, still exist: ` +
				`cluster\.x-k8s\.io/v1beta2/Cluster ` + env.namespace + `/foreign; delete them first`),
		},
		resource.TestStep{
			PreConfig: func() {
				if got := env.records(t); len(got) != 1 || got[0].Status != vnfm.StatusInstantiated {
					t.Errorf("the records are %+v", got)
				}
				// Somebody is still there to do it.
				env.kubectl("delete", "cluster/foreign", "--timeout=2m")
			},
			Config: without,
			Check:  env.expectKubectl("", "get", "crd,namespaces,clusterroles,validatingwebhookconfigurations", "-l", "cluster.x-k8s.io/provider", "-o", "name", "--ignore-not-found"),
		},
	)
	testManagementClusterOpenStack(t, env)
}

// managers checks that the managers of Cluster API, and of one provider of infrastructure, answer.
func (e *testEnv) managers(*terraform.State) error {
	if got := e.kubectl("get", "deployments", "-A", "-l", "cluster.x-k8s.io/provider", "-o", "jsonpath={.items[*].status.readyReplicas}"); got != "1 1 1 1" {
		return fmt.Errorf("ready pods of the managers: %q", got)
	}
	return nil
}

// testManagementClusterOpenStack does the same with the package whose machines are servers of OpenStack. Its managers run, and their
// webhooks take the workload cluster of another example package, every field of it, and an image of OpenStack Resource Controller.
func testManagementClusterOpenStack(t *testing.T, env *testEnv) {
	t.Helper()
	source := acctest.ManagementClusterPackage(t, "management-cluster-openstack")
	cluster := filepath.Join(acctest.CopyPackage(t, "workload-cluster-openstack"), "Files", "kubernetes")
	image := filepath.Join(t.TempDir(), "image.yaml")
	acctest.Write(t, filepath.Dir(image), filepath.Base(image), unmanagedImage)
	env.run(t, resource.TestStep{
		Config: env.configFor(source),
		Check: allChecks(
			resource.TestCheckResourceAttr(address, "status", "INSTANTIATED"),
			resource.TestCheckResourceAttr(address, "vnfc_counts.infrastructure", "1"),
			resource.TestCheckResourceAttr(address, "vnfc_counts.resources", "1"),
			env.managers,
			func(*terraform.State) error {
				env.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=1m")
				for _, file := range []string{cluster, image} {
					if out := env.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename", file); !strings.Contains(out, "serverside-applied") {
						return fmt.Errorf("%s: %s", file, out)
					}
				}
				return nil
			},
		),
	})
	if left := env.kubectl("get", "crd,namespaces,clusterroles", "-o", "name"); strings.Contains(left, "k-orc.cloud") || strings.Contains(left, "capo-") || strings.Contains(left, "orc-system") {
		t.Errorf("left behind: %s", left)
	}
}
