package instance_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// nodesImage is what masters and workers boot from.
const nodesImage = "node-v" + labtest.NodesVersion

// envRealNodes is the variable that has the long tests of real nodes run.
const envRealNodes = "VNF_REAL_NODES"

// nodesOnly skips a test that takes many minutes, unless `make test-nodes` runs it.
func nodesOnly(t *testing.T) {
	t.Helper()
	if os.Getenv(envRealNodes) == "" {
		t.Skip(envRealNodes + " is not set: `make test-nodes` sets it")
	}
}

// flannel are the manifests of a network of pods.
func flannel(t *testing.T, cidr string) string {
	t.Helper()
	return labtest.Env{}.Helm(t, "kube-system").Run(t, "template", "flannel", labtest.FlannelChart(t), "--set", "podCidr="+cidr,
		"--set", "flannel.healthz.readinessProbe.initialDelaySeconds=0", "--set", "flannel.healthz.readinessProbe.periodSeconds=1")
}

// realNodesPackage is the example package with the driver that calls its script. The image of the servers is to have a pod network, which
// the script brings along here: flannel, by its vendor's chart.
func realNodesPackage(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "kubernetes-cluster")
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", "mgmt-drivers-kubespray", "mgmt-drivers-kubernetes")
	script, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(clusterScript))) //nolint:gosec // a path of the test
	require.NoError(t, err)
	line, rest, _ := strings.Cut(string(script), "\n")
	acctest.Write(t, dir, clusterScript, line+"\ncat >/etc/kubernetes-network.yaml <<'END-OF-NETWORK'\n"+flannel(t, "10.233.64.0/18")+"\nEND-OF-NETWORK\n"+rest)
	acctest.Hash(t, dir)
	return dir
}

// portal is a network function on the cluster.
func (k *clusterScriptEnv) portal() string {
	return fmt.Sprintf(`
resource "vnf_package" "portal" {
  name   = "portal"
  source = %q
}

resource "vnf_instance" "portal" {
  name       = "portal"
  vim_id     = vnf_instance.test.registered_vim_id
  package_id = vnf_package.portal.id
  flavour_id = "default"
  namespace  = "portal"
}
`, examplePackage(k, "portal"))
}

// The script of the example package makes a cluster of three masters with the real kubeadm on servers that become real nodes, behind a
// load balancer. A network function runs on it and answers through the load balancer after a worker has come, the first master and a
// worker have been replaced, and a worker has gone.
func TestAccInstance_openStackScriptedNodes(t *testing.T) {
	nodesOnly(t)
	labtest.NeedsNodes(t)
	k := &clusterScriptEnv{cloud: newCloud(t), balancer: "node_ports = [30080]", drain: "5m"}
	k.openstack = labtest.OpenStackSystems(t, labtest.OpenStackDocker, labtest.OpenStackNodes)
	dir, victims := realNodesPackage(t), filepath.Join(t.TempDir(), "victims")
	config := func(arguments ...string) string {
		cluster := k.cluster(dir, fmt.Sprintf("script_path = %q", clusterScript), "", arguments...)
		return k.withImage(cluster, k.openstack.Images[nodesImage], "masterNode", "workerNode") + vim + k.portal()
	}
	same := k.same()
	began := time.Now()
	step := func(what string, workers int, more resource.TestCheckFunc, arguments ...string) resource.TestStep {
		return resource.TestStep{
			Config: config(arguments...),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("vnf_instance.portal", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
				statecheck.ExpectKnownValue("data.vnf_vim.edge", tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
			},
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: resource.ComposeTestCheckFunc(same, k.realNodes(t, 3, workers), k.realMembers(t), k.points, k.portalAnswers(t), func(*terraform.State) error {
				t.Logf("%3.0f s: %s", time.Since(began).Seconds(), what)
				return k.passedOn(t)
			}, more),
		}
	}
	nothing := func(*terraform.State) error { return nil }
	one, two := "scale_levels = { master_instance = 1, worker_instance = 0 }", "scale_levels = { master_instance = 1, worker_instance = 1 }"
	heal := step("the first master and a worker replaced", 2, k.gone(t, victims), two,
		fmt.Sprintf(`heal = { trigger = "first", vnfc_ids = split(" ", file(%q)) }`, victims))
	heal.PreConfig = func() {
		acctest.Write(t, filepath.Dir(victims), "victims", k.nodeCalled(t, "master1")+" "+k.vnfcs()["workerNode"][0].ID)
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy: func(*terraform.State) error {
			if left := k.openstack.Holdings(t, k.user); len(left) > 0 {
				return fmt.Errorf("left in OpenStack: %v", left)
			}
			return nil
		},
		Steps: []resource.TestStep{
			step("made", 1, nothing, one),
			step("a worker more", 2, nothing, two),
			heal,
			step("a worker less", 1, nothing, one),
		},
	})
}

// realNodes checks how many nodes the cluster has, and that the kubelets of all of them are Ready and the real ones.
func (k *clusterScriptEnv) realNodes(t *testing.T, masters, workers int) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		got := strings.Fields(k.shells(t, "masterNode")[0].Root(t, "kubectl --kubeconfig /etc/kubernetes/admin.conf get nodes --output '%s'",
			`jsonpath={range .items[*]}{.metadata.name}={.status.nodeInfo.kubeletVersion}={.status.nodeInfo.containerRuntimeVersion}={.status.conditions[?(@.type=="Ready")].status} {end}`))
		counts := map[string]int{}
		for _, node := range got {
			parts := strings.Split(node, "=")
			if len(parts) != 4 || parts[1] != "v"+labtest.NodesVersion || !strings.HasPrefix(parts[2], "containerd://") || parts[3] != "True" {
				return fmt.Errorf("node %s", node)
			}
			counts[strings.TrimRight(parts[0], "0123456789")]++
		}
		if want := map[string]int{"master": masters, "worker": workers}; !maps.Equal(counts, want) {
			return fmt.Errorf("the nodes are %v, and not %v", got, want)
		}
		return nil
	}
}

// nodeCalled is the VNFC of a node.
func (k *clusterScriptEnv) nodeCalled(t *testing.T, name string) string {
	t.Helper()
	at := k.shells(t, "masterNode")[0].Root(t, `kubectl --kubeconfig /etc/kubernetes/admin.conf get node %s --output 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'`, name)
	for _, all := range k.vnfcs() {
		for _, v := range all {
			if slices.Contains(v.Addresses, at) {
				return v.ID
			}
		}
	}
	t.Fatalf("node %s, at %s, is no server", name, at)
	return ""
}

// realMembers checks that etcd has one member on each master that there is, which has started, and no others.
func (k *clusterScriptEnv) realMembers(t *testing.T) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		var want []string
		for _, v := range k.vnfcs()["masterNode"] {
			want = append(want, "started=https://"+v.Addresses[0]+":2380")
		}
		slices.Sort(want)
		got := strings.Fields(k.shells(t, "masterNode")[0].Root(t, `export KUBECONFIG=/etc/kubernetes/admin.conf
pod=$(kubectl --namespace kube-system get pods --selector component=etcd --output 'jsonpath={.items[0].metadata.name}')
kubectl --namespace kube-system exec "$pod" -- etcdctl --endpoints=https://127.0.0.1:2379 --cacert=/etc/kubernetes/pki/etcd/ca.crt \
	--cert=/etc/kubernetes/pki/etcd/server.crt --key=/etc/kubernetes/pki/etcd/server.key member list | awk -F ', ' '{ print $2 "=" $4 }'`))
		if slices.Sort(got); !slices.Equal(got, want) {
			return fmt.Errorf("etcd has members %v, not %v", got, want)
		}
		return nil
	}
}

// portalAnswers checks that both pods of the network function answer through the load balancer.
func (k *clusterScriptEnv) portalAnswers(t *testing.T) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		pods := strings.Fields(k.shells(t, "masterNode")[0].Root(t, "kubectl --kubeconfig /etc/kubernetes/admin.conf get pods --namespace portal --field-selector status.phase=Running --output 'jsonpath={.items[*].metadata.name}'"))
		url := fmt.Sprintf("http://%s:30080/", k.vnfcs()["externalLB"][0].Addresses[0])
		heard := map[string]bool{}
		labtest.Eventually(t, time.Minute, url, func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			name, err := labtest.Fetch(ctx, url)
			if err != nil {
				return err
			}
			heard[strings.TrimSpace(name)] = true
			for _, pod := range pods {
				if !heard[pod] {
					return fmt.Errorf("pod %s has not answered", pod)
				}
			}
			return nil
		})
		if len(pods) != 2 {
			return fmt.Errorf("the pods are %v", pods)
		}
		return nil
	}
}
