package instance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubeadmtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const clusterScript = "Scripts/install_k8s_cluster.sh"

// scriptedPackage is the example package with the driver that calls its script. The script
// brings a stand-in of kubeadm along.
func scriptedPackage(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "kubernetes-cluster")
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", "mgmt-drivers-kubespray", "mgmt-drivers-kubernetes")
	script, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(clusterScript))) //nolint:gosec // a path of the test
	require.NoError(t, err)
	acctest.Write(t, dir, clusterScript, kubeadmtest.Carried(t, string(script)))
	acctest.Hash(t, dir)
	return dir
}

// The script of the example package makes a cluster with three masters behind a load
// balancer, which is scaled, and in which the master that began it is replaced.
func TestAccInstance_openStackScriptedCluster(t *testing.T) {
	k := newClusterScriptEnv(t)
	dir, victim := scriptedPackage(t), filepath.Join(t.TempDir(), "victim")
	config := func(arguments ...string) string {
		return k.cluster(dir, fmt.Sprintf("script_path = %q", clusterScript), "", arguments...) + k.connected() + vim
	}
	same := k.same()
	reachable := []statecheck.StateCheck{
		statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
		statecheck.ExpectKnownValue("data.vnf_vim.edge", tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
	}
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	small := "scale_levels = { master_instance = 1, worker_instance = 0 }"
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config(small), ConfigStateChecks: reachable, ConfigPlanChecks: empty,
				Check: resource.ComposeTestCheckFunc(same, func(*terraform.State) error { k.push(t); return nil },
					k.checkBackend(t, "master1", "master2", "master3", "worker1"), k.members(t), k.quiet(t)),
			},
			{
				Config: config("scale_levels = { master_instance = 1, worker_instance = 1 }"), ConfigPlanChecks: empty,
				Check: resource.ComposeTestCheckFunc(same, k.checkBackend(t, "master1", "master2", "master3", "worker1", "worker2")),
			},
			{
				Config: config(small), ConfigPlanChecks: empty,
				Check: resource.ComposeTestCheckFunc(same, k.nodes(t, 4)),
			},
			{
				PreConfig: func() {
					require.NoError(t, os.WriteFile(victim, []byte(k.first(t)), 0o600))
				},
				Config:            config(small, fmt.Sprintf(`heal = { trigger = "first", vnfc_ids = [file(%q)] }`, victim)),
				ConfigStateChecks: reachable, ConfigPlanChecks: empty,
				Check: resource.ComposeTestCheckFunc(same, k.checkBackend(t, "master1", "master2", "master3", "worker1"), k.members(t), k.quiet(t), k.gone(t, victim)),
			},
		},
	})
}

// first is the VNFC that began the cluster.
func (k *clusterScriptEnv) first(t *testing.T) string {
	t.Helper()
	for _, v := range k.vnfcs()["masterNode"] {
		began := func(call string) bool { return strings.HasPrefix(call, "init --config") }
		if slices.ContainsFunc(kubeadmtest.Calls(t, labtest.Login(t, v.Addresses[0])), began) {
			return v.ID
		}
	}
	t.Fatal("no master has begun the cluster")
	return ""
}

// members checks that etcd has one member on each master that there is, and no others, that
// all of them have started, and that nodes are Ready.
func (k *clusterScriptEnv) members(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var want []string
		for _, v := range k.vnfcs()["masterNode"] {
			want = append(want, v.Addresses[0])
		}
		slices.Sort(want)
		for _, s := range k.shells(t, "masterNode") {
			var list struct {
				Members []struct {
					Name     string   `json:"name"`
					PeerURLs []string `json:"peerURLs"`
				} `json:"members"`
			}
			output := s.Root(t, "cd /etc/kubernetes/pki/etcd && curl -sf --cacert ca.crt --cert server.crt --key server.key -d '{}' https://127.0.0.1:2379/v3/cluster/member/list")
			if err := json.Unmarshal([]byte(output), &list); err != nil {
				return fmt.Errorf("etcd on %s says %s: %w", s.Address, output, err)
			}
			var got []string
			for _, m := range list.Members {
				if m.Name == "" {
					return fmt.Errorf("a member of etcd has not started: %s", output)
				}
				got = append(got, strings.TrimSuffix(strings.TrimPrefix(m.PeerURLs[0], "https://"), ":2380"))
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Errorf("etcd on %s has members at %v, and masters are at %v", s.Address, got, want)
			}
		}
		_, err := k.shells(t, "masterNode")[0].Try(t.Context(), "kubectl --kubeconfig /etc/kubernetes/admin.conf wait --for=condition=Ready node --all --timeout=30s")
		return err
	}
}

// keys are tokens and certificate keys of kubeadm.
var keys = regexp.MustCompile(`[a-z0-9]{6}\.[a-z0-9]{16}|\b[0-9a-f]{64}\b`)

// quiet checks that the command lines of kubeadm show no secret, and that nothing is left
// of the way by which nodes join before there is a load balancer.
func (k *clusterScriptEnv) quiet(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		for _, s := range append(k.shells(t, "masterNode"), k.shells(t, "workerNode")...) {
			for _, call := range kubeadmtest.Calls(t, s) {
				if keys.MatchString(call) {
					return fmt.Errorf("a command line on %s shows a secret: kubeadm %s", s.Address, call)
				}
			}
			if out := strings.TrimSpace(s.Root(t, "iptables -t nat -S | grep VNF-API || true; ls -d /tmp/tmp.* /tmp/vnf-* 2>/dev/null || true")); out != "" {
				return fmt.Errorf("%s still has %s", s.Address, out)
			}
		}
		return nil
	}
}
