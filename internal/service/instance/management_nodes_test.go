package instance_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// networkSet has Cluster API put a network plugin onto the workload cluster.
const networkSet = `apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: { name: network }
spec:
  clusterSelector: { matchLabels: { addons: openstack } }
  resources: [{ kind: ConfigMap, name: network }]
`

// labSite is the example package of a workload cluster on OpenStack for the lab: its image, a floating address for the API server, and
// no cloud controller manager.
func labSite(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "workload-cluster-openstack")
	for file, edits := range map[string][]string{
		"Files/kubernetes/cluster.yaml": {
			"192.168.3.0/24", "10.66.0.0/24", "  apiServerLoadBalancer: {enabled: true}\n", "",
			"    clusterConfiguration:\n      controllerManager:\n        extraArgs: [{name: cloud-provider, value: external}]\n", "",
			"  version: v1.33.1", "  version: v" + labtest.NodesVersion,
		},
		"Files/kubernetes/nodes.yaml": {"      version: v1.33.1", "      version: v" + labtest.NodesVersion},
	} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file))) //nolint:gosec // a path of the test
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, "ubuntu-2204-kube-v1.33.1", nodesImage, "          - {name: cloud-provider, value: external}\n", "", "        - {name: cloud-provider, value: external}\n", "")
		acctest.Write(t, dir, file, strings.NewReplacer(edits...).Replace(string(text)))
	}
	acctest.Hash(t, dir)
	return dir
}

// A plain cluster becomes a management cluster with Cluster API Provider OpenStack by a package, and makes a workload cluster by another
// package, whose machines are servers of OpenStack that become real nodes. A management driver sends its kubeconfig. It takes minutes:
// VNF_REAL_NODES has it run.
func TestAccInstance_managementClusterNodes(t *testing.T) {
	nodesOnly(t)
	labtest.NeedsNodes(t)
	source := acctest.ManagementClusterPackage(t, "management-cluster-openstack")
	lab := labtest.Second(t)
	env := &testEnv{TB: t, lab: lab, store: acctest.NewStore(t), namespace: lab.Namespace(t)}
	cloud := labtest.OpenStackSystems(t, labtest.OpenStackNodes)
	user := cloud.NewProject(t)
	sent := &atomic.Value{}
	sink := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var payload struct {
			Kubeconfig string `json:"kubeconfig"`
		}
		if err := json.NewDecoder(r.Body).Decode(&payload); err == nil {
			sent.Store(payload.Kubeconfig)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(sink.Close)
	cluster := fmt.Sprintf(`
resource "vnf_package" "edge" {
  name   = "edge"
  source = %q
}

resource "vnf_instance" "edge" {
  name       = "edge"
  vim_id     = vnf_vim.test.id
  package_id = vnf_package.edge.id
  namespace  = %q
  credentials_sink = {
    url            = %q
    ca_certificate = %q
  }
  timeouts   = { create = "10m", delete = "10m" }
  depends_on = [vnf_instance.test]
}
`, labSite(t), env.namespace, sink.URL, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sink.Certificate().Raw})))
	folder := t.TempDir()
	acctest.Write(t, folder, "clouds.yaml", fmt.Sprintf(`clouds:
  openstack:
    region_name: %q
    auth: { auth_url: %q, username: %q, password: %q, project_name: %q, user_domain_name: %[6]q, project_domain_name: %[6]q }
`, cloud.Region, cloud.AuthURL, user.Name, user.Password, user.Project, cloud.Domain))
	acctest.Write(t, folder, "set.yaml", networkSet)
	acctest.Write(t, folder, "network.yaml", flannel(t, "172.16.0.0/13"))
	env.run(t,
		resource.TestStep{Config: env.configFor(source), Check: env.managers},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("create", "secret", "generic", "edge-cloud-credentials", "--from-file="+filepath.Join(folder, "clouds.yaml"))
				env.kubectl("create", "configmap", "network", "--from-file="+filepath.Join(folder, "network.yaml"))
				env.kubectl("apply", "--filename", filepath.Join(folder, "set.yaml"))
			},
			Config: env.configFor(source) + cluster,
			Check: resource.ComposeTestCheckFunc(
				resource.TestCheckResourceAttr("vnf_instance.edge", "status", "INSTANTIATED"),
				func(*terraform.State) error {
					kubeconfig, _ := sent.Load().(string)
					acctest.Write(t, folder, "kubeconfig", kubeconfig)
					got := lab.Kubectl(t, "--kubeconfig", filepath.Join(folder, "kubeconfig"), "get", "nodes", "--output",
						`jsonpath={range .items[*]}{.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status} {end}`)
					if want := strings.Repeat("v"+labtest.NodesVersion+" True ", 2); got != want {
						return fmt.Errorf("the nodes are %q, not %q", got, want)
					}
					return nil
				},
			),
		},
		resource.TestStep{
			Config: env.configFor(source),
			Check: func(*terraform.State) error {
				// It has a finalizer, and belongs to nobody.
				env.kubectl("delete", "clusterresourceset", "network")
				if left := cloud.Holdings(t, user); len(left) > 0 {
					return fmt.Errorf("left in OpenStack: %v", left)
				}
				return nil
			},
		},
	)
}
