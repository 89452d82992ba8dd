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
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hottest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubeadmtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const clusterScript = "Scripts/install_k8s_cluster.sh"

// clusterServers are the VDUs of the example package.
var clusterServers = []hottest.Server{
	{VDU: "masterNode", Points: []string{"masterNode_CP1"}}, {VDU: "workerNode", Points: []string{"workerNode_CP2"}}, {VDU: "externalLB", Points: []string{"externalLB_CP1"}},
}

// scriptedPackage is the example package with the driver that calls its script, with all servers in the top template, and with two load
// balancers. The script
// brings a stand-in of kubeadm along.
func scriptedPackage(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "kubernetes-cluster")
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", "mgmt-drivers-kubespray", "mgmt-drivers-kubernetes")
	const one = "levels:\n            small: { number_of_instances: 1 }\n            large: { number_of_instances: 1 }"
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", one, strings.ReplaceAll(one, "instances: 1", "instances: 2"))
	const balancers = "properties: { initial_delta: { number_of_instances: 1 } }\n        targets: [externalLB]"
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", balancers, strings.Replace(balancers, "instances: 1", "instances: 2", 1))
	acctest.Edit(t, dir, "Definitions/kubernetes-cluster_df_simple.yaml", "max_number_of_instances: 1\n", "max_number_of_instances: 2\n")
	acctest.UseForm(t, dir, "simple", hottest.Flat, clusterServers...)
	script, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(clusterScript))) //nolint:gosec // a path of the test
	require.NoError(t, err)
	acctest.Write(t, dir, clusterScript, kubeadmtest.Carried(t, string(script)))
	acctest.Hash(t, dir)
	return dir
}

// The script of the example package makes a cluster with three masters behind two load balancers that share an address,
// which is scaled, whose workers get another image, and in which the master that began it is replaced. Traffic for the API
// server and for a Service goes through the load balancers, also when HAProxy has ended on the one that has the address. A
// Service that comes between two applies is drift. All its nodes pull from a registry over HTTPS that asks for a login.
// kubeadm is a stand-in: the real one needs bin/nodes and more processor time, see TestAccInstance_openStackScriptedNodes.
func TestAccInstance_openStackScriptedCluster(t *testing.T) {
	k := newClusterScriptEnv(t)
	k.balancer = fmt.Sprintf("virtual_address = %q, node_ports = [30080], follow_services = true", k.reserve(t))
	dir, victim := scriptedPackage(t), filepath.Join(t.TempDir(), "victim")
	k.useHTTPS(t, dir)
	config := func(arguments ...string) string {
		return k.cluster(dir, fmt.Sprintf("script_path = %q", clusterScript), "", arguments...) + k.connected() + vim
	}
	other := k.openstack.NewImage(t, "docker-next-"+k.user.Name)
	renewed := func(arguments ...string) string {
		return k.withImage(config(arguments...), other, "workerNode")
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
					k.checkBackend(t, "master1", "master2", "master3", "worker1"), k.members(t), k.quiet(t), k.points, k.asksForLogin(t)),
			},
			after(func() { k.expose(t) }, checked(config("scale_levels = { master_instance = 1, worker_instance = 1 }"),
				empty, resource.ComposeTestCheckFunc(same, k.checkBackend(t, "master1", "master2", "master3", "worker1", "worker2"), k.points, k.failOver(t)))),
			{
				// Nova rebuilds the workers with the new image, one after the other, and one goes in the same apply. Rebuilt ones have
				// lost everything and are nodes again, which the registry knows.
				PreConfig: func() { k.kubectl(t, "delete service web") },
				Config:    renewed(small),
				Check: resource.ComposeTestCheckFunc(same, k.nodes(t, 4), k.hasImage(t, "workerNode", other), k.hasImage(t, "masterNode", k.openstack.Images[labtest.OpenStackDockerImage]),
					k.ports(t, map[int]bool{apiServerPort: true, webPort: false}),
					func(*terraform.State) error { k.create(t, "later", laterPort); return nil }),
				ExpectNonEmptyPlan: true,
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction("vnf_instance.test", plancheck.ResourceActionUpdate),
				}},
			},
			{
				PreConfig: func() {
					require.NoError(t, os.WriteFile(victim, []byte(k.first(t)), 0o600))
				},
				Config:            renewed(small, fmt.Sprintf(`heal = { trigger = "first", vnfc_ids = [file(%q)] }`, victim)),
				ConfigStateChecks: reachable, ConfigPlanChecks: empty,
				Check: resource.ComposeTestCheckFunc(same, k.checkBackend(t, "master1", "master2", "master3", "worker1"), k.members(t), k.quiet(t), k.gone(t, victim),
					k.ports(t, map[int]bool{apiServerPort: true, laterPort: true})),
			},
		},
	})
}

// points checks that each server is known by the connection points of the VNFD.
func (k *clusterScriptEnv) points(*terraform.State) error {
	all := k.vnfcs()
	for _, s := range clusterServers {
		for _, v := range all[s.VDU] {
			if at := v.ConnectionPoints[s.Points[0]]; !slices.Equal(at, v.Addresses) {
				return fmt.Errorf("VNFC %s is at %v, and its connection points are %v", v.ID, v.Addresses, v.ConnectionPoints)
			}
		}
	}
	return nil
}

// asksForLogin checks that the registry gives nothing to a node without the login of the driver.
func (k *clusterScriptEnv) asksForLogin(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		node := k.shells(t, "workerNode")[0]
		if out := node.Root(t, "docker --config /tmp/nobody pull %s 2>&1 || true", k.sample()); !strings.Contains(out, "no basic auth credentials") {
			return fmt.Errorf("a node without a login gets %q", out)
		}
		return nil
	}
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
