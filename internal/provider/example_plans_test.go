package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
)

// unreachable is an address where nobody answers: a plan that asks there fails.
const unreachable = "https://127.0.0.1:1"

// kubeconfigOfNobody and cloudsOfNobody are well formed.
const (
	kubeconfigOfNobody = `apiVersion: v1
kind: Config
clusters: [{ name: edge, cluster: { server: "` + unreachable + `" } }]
users: [{ name: edge, user: { token: none } }]
contexts: [{ name: edge, context: { cluster: edge, user: edge } }]
current-context: edge
`
	cloudsOfNobody = `clouds:
  edge: &cloud
    region_name: RegionOne
    auth: { auth_url: "` + unreachable + `/v3", username: nfv, password: none, project_name: edge, user_domain_name: Default, project_domain_name: Default }
  region-two: *cloud
`
)

// certificate is a CA certificate as PEM.
func certificate(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// borrow copies a file of another example into an example, as far as a text if one is given: blocks of one refer to those of the other.
func (c *cli) borrow(t *testing.T, example, file, until string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
	require.NoError(t, err)
	found := string(text)
	if until != "" {
		before, _, ok := strings.Cut(found, until)
		require.True(t, ok, "%s has no %s", file, until)
		found = before
	}
	acctest.Write(t, c.root, filepath.Join(example, strings.ReplaceAll(file, "/", "_")), found)
}

// plannedElsewhere names the tests that plan an example and show the plan as JSON.
var plannedElsewhere = map[string]string{
	"actions/vnf_heal":                                 "TestAccQuery",
	"actions/vnf_rotate_credential":                    "TestAccQuery",
	"actions/vnf_rotate_kubeconfig":                    "TestAccQuery",
	"actions/vnf_run_hook":                             "TestAccQuery",
	"complete/capi/cluster":                            "TestClusterExample",
	"complete/capi/cnf":                                "TestNetworkFunctionOnAClusterExample",
	"complete/getting-started":                         "TestGettingStartedExample",
	"complete/operators":                               "TestOperatorsExample",
	"complete/service/function":                        "TestExamplePlans, with complete/service",
	"complete/private-registry":                        "TestPrivateRegistryExample",
	"complete/vnf-openstack":                           "TestOpenStackExample",
	"credentials-per-run/workload-cluster":             "TestClusterExample",
	"data-sources/vnf_capi_workload_cluster":           "TestClusterExample",
	"data-sources/vnf_capi_workload_clusters":          "TestExamples",
	"data-sources/vnf_capi_workload_kubeconfig":        "TestExamplePlans, with resources/vnf_capi_workload_cluster",
	"data-sources/vnf_instance":                        "TestOperatorsExample",
	"data-sources/vnf_instances":                       "TestOperatorsExample",
	"data-sources/vnf_operations":                      "TestOperatorsExample",
	"data-sources/vnf_package":                         "TestExamples",
	"data-sources/vnf_packages":                        "TestExamples",
	"data-sources/vnf_private_registries":              "TestPrivateRegistryExample",
	"data-sources/vnf_private_registry":                "TestPrivateRegistryExample",
	"data-sources/vnf_vim":                             "TestSecretsStayHidden",
	"data-sources/vnf_vims":                            "TestSecretsStayHidden",
	"ephemeral-resources/vnf_capi_workload_kubeconfig": "TestExamplePlans, with resources/vnf_capi_workload_cluster",
	"functions/parse_csar_manifest":                    "TestExamples",
	"functions/parse_kubeconfig":                       "TestExamples",
	"functions/parse_vnfd":                             "TestExamples",
	"github-actions":                                   "TestAccPipelines",
	"gitlab-ci":                                        "TestAccPipelines",
	"hcp-terraform":                                    "TestAccPipelines",
	"modules/cnf":                                      "TestExampleModules",
	"modules/network-service":                          "TestExampleModules",
	"modules/site":                                     "TestExampleModules",
	"provider":                                         "none: it has nothing to plan",
	"provider/barbican":                                "none: it has nothing to plan",
	"resources/vnf_capi_cluster_template":              "TestExamples",
	"resources/vnf_package":                            "TestExamples",
	"resources/vnf_private_registry":                   "TestPrivateRegistryExample",
	"resources/vnf_vim":                                "TestSecretsStayHidden",
}

// offlineExamples are the examples that are planned without anything that answers, with the values of their variables.
func offlineExamples(t *testing.T, dir string) map[string][]string {
	t.Helper()
	type values = map[string]any
	object := func(values values) string {
		data, err := json.Marshal(values)
		require.NoError(t, err)
		return string(data)
	}
	kubeconfig, token, ca := "kubeconfig="+filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "token"), certificate(t)
	managed := values{"name": "edge", "endpoint": unreachable, "ca": base64.StdEncoding.EncodeToString([]byte(ca))}
	return map[string][]string{
		"complete/capo-octavia": {kubeconfig, "clouds=" + filepath.Join(dir, "clouds.yaml"), "cloud=edge", "flannel_chart=" + filepath.Join(dir, "flannel"), "cloud_chart=" + filepath.Join(dir, "flannel")},
		"complete/capo":         {kubeconfig, "clouds=" + filepath.Join(dir, "clouds.yaml"), "cloud=edge", "flannel_chart=" + filepath.Join(dir, "flannel")},
		"complete/cnf":          {kubeconfig},
		"complete/kubespray": {
			"clouds=" + filepath.Join(dir, "clouds.yaml"), "cloud=edge", "network=n", "image=i", "password=p", "ansible_address=192.0.2.1",
		},
		"complete/mixed": {
			kubeconfig, "clouds=" + filepath.Join(dir, "clouds.yaml"), "cloud=edge", "network=n", `addresses=["192.0.2.10"]`, "node_address=198.51.100.5",
		},
		"complete/service":           {kubeconfig},
		"complete/tacker/containers": nil,
		"complete/tacker/servers":    nil,
		"credentials-per-run/hcp-terraform": {
			"ca_certificate=" + ca, "tfc_kubernetes_dynamic_credentials=" + object(values{"default": values{"token_path": token}, "aliases": values{}}),
		},
		"credentials-per-run/lease":            {"lease=token"},
		"credentials-per-run/managed-clusters": {"eks=" + object(managed), "gke=" + object(managed), "aks=" + object(managed)},
		"credentials-per-run/openstack":        nil,
		"credentials-per-run/pipeline-token":   {"oidc_token=token"},
		"data-sources/vnf_rendering":           nil,
		"resources/vnf_capi_workload_cluster":  {"openstack_password=p", "registry_password=" + charttest.Password},
		"resources/vnf_instance":               {kubeconfig},
		"terragrunt/catalog/modules/cluster":   {"name=edge", "namespace=edge", "management_vim_id=mock", "kubernetes_version=1.34.0", "workers=1"},
		"terragrunt/catalog/modules/instance":  {"name=hello", "namespace=hello", "vim_id=mock", "package_id=mock"},
		"terragrunt/catalog/modules/package":   {"name=hello", "source_url=../../../../packages/hello"},
		"terragrunt/catalog/modules/vim": {
			"name=edge", "kubernetes=" + object(values{"endpoint": unreachable, "ca_certificate": ca, "token_file": token}),
		},
	}
}

// TestExamplePlans plans the examples that no other test applies, without anything that answers: each plan is of a creation, and is
// shown as JSON.
func TestExamplePlans(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	dir := t.TempDir()
	acctest.Write(t, dir, "kubeconfig", kubeconfigOfNobody)
	acctest.Write(t, dir, "clouds.yaml", cloudsOfNobody)
	acctest.Write(t, dir, "flannel/Chart.yaml", "apiVersion: v2\nname: flannel\nversion: 1.0.0\n")
	c.env = append(c.env, "OS_CLIENT_CONFIG_FILE="+filepath.Join(dir, "clouds.yaml"), "OS_AUTH_URL="+unreachable+"/v3", "OS_USERNAME=nfv",
		"OS_PASSWORD=none", "OS_PROJECT_NAME=edge", "OS_USER_DOMAIN_NAME=Default", "OS_PROJECT_DOMAIN_NAME=Default")

	// The cluster of the documentation with all that its blocks refer to, and what reads its kubeconfig.
	const clusters = "resources/vnf_capi_workload_cluster"
	acctest.Write(t, c.root, clusters+"/management.tf", "resource \"vnf_vim\" \"management\" {\n  name = \"management\"\n  kubernetes = { endpoint = \""+unreachable+"\", token_file = \"/dev/null\" }\n}\n")
	acctest.Write(t, c.root, clusters+"/charts/monitoring/Chart.yaml", "apiVersion: v2\nname: monitoring\nversion: 1.0.0\n")
	c.borrow(t, clusters, "resources/vnf_capi_cluster_template/resource_repository.tf", "")
	network := charttest.Repository(t, charttest.Chart{Name: "cilium", Version: "1.16.1"})
	network.Open.Store(true)
	acctest.Edit(t, c.root, clusters+"/resource.tf", "https://helm.cilium.io", network.URL)
	template := charttest.Registry(t, charttest.Chart{Name: "openstack-cluster", Version: "0.16.1"})
	acctest.Edit(t, c.root, clusters+"/resources_vnf_capi_cluster_template_resource_repository.tf", "oci://registry.example.org", "oci://"+template.Host)
	acctest.Write(t, dir, "ca.pem", template.CA)
	c.env = append(c.env, "SSL_CERT_FILE="+filepath.Join(dir, "ca.pem"))
	c.borrow(t, clusters, "data-sources/vnf_capi_workload_kubeconfig/data-source.tf", "")
	c.borrow(t, clusters, "ephemeral-resources/vnf_capi_workload_kubeconfig/ephemeral-resource.tf", "provider \"kubernetes\"")

	c.run(t, "complete/service", nil, "get")

	offline := offlineExamples(t, dir)
	for example, vars := range offline {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			if out := c.plan(t, example, vars...); !strings.Contains(out, " to add, 0 to change, 0 to destroy") {
				t.Errorf("the plan says\n%s", out)
			}
		})
	}
	files, err := fs.Glob(os.DirFS(c.root), "*/*.tf")
	require.NoError(t, err)
	for _, pattern := range []string{"*/*/*.tf", "*/*/*/*.tf", "*/*/*/*/*.tf"} {
		more, err := fs.Glob(os.DirFS(c.root), pattern)
		require.NoError(t, err)
		files = append(files, more...)
	}
	require.Greater(t, len(files), len(offline)+len(plannedElsewhere))
	for _, file := range files {
		example := path.Dir(file)
		if _, here := offline[example]; !here && plannedElsewhere[example] == "" {
			t.Errorf("no test plans %s", example)
		}
	}
}
