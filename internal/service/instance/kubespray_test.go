package instance_test

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// kubesprayEnv is a cloud for clusters with an Ansible server that has kubespray.
type kubesprayEnv struct {
	*clusterScriptEnv
	ansible *labtest.Shell
	spray   kubespraytest.Host
}

const inventoryPath = "/home/ubuntu/inventory/edge"

func newKubesprayEnv(t *testing.T) *kubesprayEnv {
	t.Helper()
	k := &kubesprayEnv{clusterScriptEnv: newClusterScriptEnv(t, labtest.OpenStackAnsible)}
	k.ansible = k.openstack.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	k.spray = kubespraytest.Install(t, k.ansible)
	return k
}

// config is a registry and a cluster that uses it.
func (k *kubesprayEnv) config(arguments ...string) string {
	return k.configOf(func(text string) string { return text }, arguments...)
}

func (k *kubesprayEnv) configOf(edit func(string) string, arguments ...string) string {
	params := fmt.Sprintf(`ansible = {
        ip_address                  = %q
        username                    = "ubuntu"
        kubespray_root_path         = %q
        transferring_inventory_path = %q
      }`, k.ansible.Address, kubespraytest.Root, inventoryPath)
	return edit(k.cluster(examplePackage(k, "kubernetes-cluster"), params, `ansible           = { password = "ubuntu" }`, arguments...)) + k.connected()
}

// A cluster of servers is made by kubespray, has a load balancer by a script of its package, pulls from a registry of
// the same apply, is made again as a whole, gets more masters and workers at once, is healed and goes. What is replaced in the end
// is a worker and two masters, of which kubespray has one and then the other as its first: that is dead, and this
// works. The test of failures scales workers.
func TestAccInstance_openStackKubespray(t *testing.T) {
	k := newKubesprayEnv(t)
	k.balancer = `script_path = "./Scripts/external_lb.sh", node_ports = [30080]`
	same := k.same()
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	proxied := k.checkProxies(t)
	three := "scale_levels = { master_instance = 1, worker_instance = 1 }"
	victims := filepath.Join(t.TempDir(), "victims")
	nodes := []string{"master1", "master2", "master3", "worker1", "worker2"}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy: func(*terraform.State) error {
			if out, _ := k.ansible.Try(t.Context(), "ls -A /home/ubuntu/inventory"); strings.TrimSpace(out) != "" {
				return fmt.Errorf("the Ansible server still has %s", out)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{
				Config: k.config() + vim,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
					statecheck.ExpectKnownValue("data.vnf_vim.edge", tfjsonpath.New("status"), knownvalue.StringExact("REACHABLE")),
				},
				Check:            resource.ComposeTestCheckFunc(same, func(*terraform.State) error { k.push(t); return nil }, k.checkBackend(t, "master1", "worker1"), proxied, k.checkPrivateFiles(t), k.scripted(t)),
				ConfigPlanChecks: empty,
			},
			// All of it is made again while it is small.
			checked(k.config(`heal = { trigger = "all" }`), empty, resource.ComposeTestCheckFunc(same, k.checkBackend(t, "master1", "worker1"), proxied)),
			checked(k.config(three), empty, resource.ComposeTestCheckFunc(same, k.checkBackend(t, nodes...), k.started(t, 3), proxied)),
			after(func() {
				masters := k.controlPlaneOrder(t)
				acctest.Write(t, filepath.Dir(victims), "victims", strings.Join([]string{masters[0].ID, masters[1].ID, k.vnfcs()["workerNode"][0].ID}, " "))
				labtest.Login(t, masters[0].Addresses[0]).Root(t, "systemctl stop kwok kube-scheduler kube-controller-manager kube-apiserver etcd && systemctl stop ssh")
			}, checked(k.config(three, fmt.Sprintf(`heal = { trigger = "some", vnfc_ids = split(" ", file(%q)) }`, victims)),
				empty, resource.ComposeTestCheckFunc(same, k.nodes(t, 5), k.gone(t, victims), k.started(t, 3), proxied))),
		},
	})
}

// scripted checks that the configuration of the load balancer is that of the script of the package, which only root can write.
func (k *kubesprayEnv) scripted(t *testing.T) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		got := k.shells(t, "externalLB")[0].Root(t, "stat -c %%U /etc/haproxy/haproxy.cfg; grep -c leastconn /etc/haproxy/haproxy.cfg; ls -d /tmp/tmp.* 2>/dev/null || true")
		if got != "root\n2\n" {
			return fmt.Errorf("owner, sections and leftovers of the configuration of the load balancer are %q", got)
		}
		return nil
	}
}

// started checks how many members etcd has that have started, by each of the masters: others
// say no address.
func (k *kubesprayEnv) started(t *testing.T, want int) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		for _, master := range k.shells(t, "masterNode") {
			got := strings.Count(master.Root(t, "curl -sf -d '{}' http://127.0.0.1:2379/v3/cluster/member/list"), `"clientURLs"`)
			if got != want {
				return fmt.Errorf("etcd on %s has %d members, not %d", master.Address, got, want)
			}
		}
		return nil
	}
}

// controlPlaneOrder are the masters as kubespray has them: the first is the hardest to replace.
func (k *kubesprayEnv) controlPlaneOrder(t *testing.T) []vnfm.VNFC {
	t.Helper()
	master := k.shells(t, "masterNode")[0]
	calls := k.spray.Calls(t)
	var out []vnfm.VNFC
	for _, name := range calls[len(calls)-1].Groups["kube_control_plane"] {
		address := strings.TrimSpace(master.Root(t, "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf get node %s -o 'jsonpath={.status.addresses[?(@.type==\"InternalIP\")].address}'", name))
		for _, v := range k.vnfcs()["masterNode"] {
			if slices.Contains(v.Addresses, address) {
				out = append(out, v)
			}
		}
	}
	return out
}

// checkProxies checks that the proxy of each worker leads to the API servers of the masters, and
// to no others.
func (k *kubesprayEnv) checkProxies(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var want []string
		for _, v := range k.vnfcs()["masterNode"] {
			want = append(want, v.Addresses[0]+":6443;")
		}
		slices.Sort(want)
		for _, worker := range k.shells(t, "workerNode") {
			got := strings.Fields(worker.Root(t, "sed -n 's/^ *server //p' /etc/nginx/nginx.conf"))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				return fmt.Errorf("the proxy on %s leads to %v, and the masters are %v", worker.Address, got, want)
			}
		}
		return nil
	}
}

// expectPlaybook checks that a playbook was run last for some nodes.
func (k *kubesprayEnv) expectPlaybook(t *testing.T, playbook, limit string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		for _, call := range k.spray.Calls(t) {
			if call.Playbook == playbook && call.Limit == limit {
				return nil
			}
		}
		return fmt.Errorf("%s was not run for %q: %+v", playbook, limit, k.spray.Calls(t))
	}
}

// checkPrivateFiles checks that nobody but the user can read what the Ansible server has of the
// cluster.
func (k *kubesprayEnv) checkPrivateFiles(t *testing.T) resource.TestCheckFunc {
	return func(*terraform.State) error {
		out := strings.TrimSpace(k.ansible.Root(t, "find %s -perm /077 | head -n 3; ls -d /tmp/vnf-* /tmp/tmp.* 2>/dev/null || true", path.Dir(inventoryPath)))
		if out != "" {
			return fmt.Errorf("others can read %s", out)
		}
		return nil
	}
}

// failingStep is a step whose apply fails with an error that says why; the next one goes on.
func (k *kubesprayEnv) failingStep(config, want string, before func()) resource.TestStep {
	return resource.TestStep{PreConfig: before, Config: config, ExpectError: acctest.Says(want)}
}

// brokenPlay fails on one node.
const brokenPlay = `- name: Break
  hosts: worker2
  gather_facts: false
  tasks:
    - name: Download images
      ansible.builtin.fail:
        msg: No space left on device`

// watchCommandLines prints the command lines of all processes. It reads only those of young processes, which costs
// less: a process has its last command line soon after its fork.
const watchCommandLines = `import os, time
born = {}
while True:
    now = time.monotonic()
    born = {pid: born.get(pid, now) for pid in os.listdir("/proc") if pid.isdigit()}
    for pid, since in born.items():
        if now - since < 2:
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    print(f.read().replace(b"\0", b" "), flush=True)
            except OSError:
                pass
    time.sleep(0.05)`

// budget forbids that the only pod of a deployment on worker2 goes.
const budget = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeName: worker2
      containers: [{name: web, image: web}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}`

// Every failure is reported with the object that it is about, and the operation goes on
// once it is put right. What is secret shows up on no command line meanwhile.
func TestAccInstance_openStackKubesprayFailures(t *testing.T) {
	k := newKubesprayEnv(t)
	out := "scale_levels = { worker_instance = 1 }"
	in := "scale_levels = { worker_instance = 0 }"
	// The playbooks take the proxy for a word.
	planted := func(text string) string {
		return strings.Replace(text, "    k8s_cluster_installation_param = {\n      ansible           =", "    k8s_cluster_installation_param = {\n      proxy = { http_proxy = \"http://planter:planted-proxy@192.0.2.9:3128\", no_proxy = \"10.0.0.0/8\" }\n      ansible           =", 1)
	}
	config := func(arguments ...string) string { return k.configOf(planted, arguments...) }
	edited := func(from, to string, arguments ...string) string {
		return k.configOf(func(text string) string {
			if !strings.Contains(text, from) {
				t.Fatalf("the configuration has no %s", from)
			}
			return planted(strings.Replace(text, from, to, 1))
		}, arguments...)
	}
	k.ansible.Root(t, "cat > /root/watch.py <<'X'\n%s\nX\nsetsid nohup python3 /root/watch.py > /root/ps.log 2>/dev/null < /dev/null & echo", watchCommandLines)
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	worker := func() *labtest.Shell { return k.shells(t, "workerNode")[0] }
	master := func() *labtest.Shell { return k.shells(t, "masterNode")[0] }
	kubectl := "lab-kubectl --kubeconfig /etc/kubernetes/admin.conf "
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy: func(*terraform.State) error {
			// The brackets keep the command lines of grep itself out of it.
			seen := k.ansible.Root(t, "grep -ac 'ansible-playboo[k]' /root/ps.log; grep -ac 'planted-prox[y]' /root/ps.log || true")
			if lines := strings.Fields(seen); lines[0] == "0" || lines[1] != "0" {
				return fmt.Errorf("the Ansible server ran Ansible %s times, and %s command lines show a secret", lines[0], lines[1])
			}
			return nil
		},
		Steps: []resource.TestStep{
			// Before anything is made.
			{Config: edited(`ssh_cp_name = "workerNode_CP2"`, `ssh_cp_name = "workerNode_CP1"`), PlanOnly: true, ExpectError: acctest.Says(`(?s)worker_node.ssh_cp_name names no connection point of a server: "workerNode_CP1".*id you mean "workerNode_CP2"`)},
			// The first apply finds the wrong password of a node; the servers stay.
			{
				Config:             edited(`worker_node       = { password = "ubuntu" }`, `worker_node       = { password = "wrong-password" }`, resume),
				ExpectNonEmptyPlan: true,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("FAILED_TEMP")),
				},
			},
			{
				Config: config(),
				Check:  resource.ComposeTestCheckFunc(func(*terraform.State) error { k.push(t); return nil }, k.checkBackend(t, "master1", "worker1")),
			},
			// A playbook fails on one node. It is the one for nodes that come, although the store was lost: the cluster and the marks on
			// its servers tell which nodes there are.
			k.failingStep(config(out), `(?s)playbook scale.yml on ubuntu@\S+ failed.*node worker2, play "Break": task "Download images" failed: No space left on device`, func() {
				k.store.Clear(t)
				k.ansible.Root(t, "cp %[1]s/playbooks/scale.yml /root/; cat > %[1]s/playbooks/scale.yml <<'X'\n%s\nX", kubespraytest.Root, brokenPlay)
			}),
			after(func() { k.ansible.Root(t, "cp /root/scale.yml %s/playbooks/scale.yml", kubespraytest.Root) }, checked(config(out), empty, resource.ComposeTestCheckFunc(k.checkBackend(t, "master1", "worker1", "worker2"), k.expectPlaybook(t, "scale.yml", "worker2,localhost")))),
			// A budget forbids that a node is drained.
			k.failingStep(config(in), `(?s)node worker\d cannot be drained within 20s`, func() {
				master().Root(t, "k='%s'; $k apply -f - <<'X' && $k rollout status deployment web --timeout=30s\n%s\nX\n", kubectl, budget)
			}),
			after(func() { master().Root(t, "%s delete pdb web", kubectl) }, checked(config(in), empty, resource.ComposeTestCheckFunc(k.nodes(t, 2), k.expectPlaybook(t, "remove-node.yml", "")))),
			// A registry does not answer the nodes.
			k.failingStep(edited(`server = vnf_private_registry.registry.server`, fmt.Sprintf("server = %q", k.registry.Address+":5999"), in), `(?s)node \w+: .*:5999`, nil),
			{Config: config(in), Check: k.nodes(t, 2), ConfigPlanChecks: empty},
			// The connection to the Ansible server is cut in the middle of a playbook: not while
			// Ansible is asked for its version.
			k.failingStep(config(out), `(?s)playbook \S+ on ubuntu@\S+: no connection.*run the playbook again`, func() {
				k.ansible.Root(t, "setsid nohup sh -c 'until pgrep -f \"[a]nsible-playbook.*scale[.]yml\"; do sleep 0.1; done; sleep 3; pkill -KILL -f \"sshd: [u]buntu\"' >/dev/null 2>&1 </dev/null & echo")
			}),
			after(func() { k.ansible = labtest.Login(t, k.ansible.Address) }, checked(config(out), empty, k.nodes(t, 3))),
			// The host key of a node is another one.
			k.failingStep(edited(`drain_timeout     = "20s"`, `drain_timeout     = "21s"`, out), `(?s)host key`, func() {
				worker().Root(t, "rm -f /etc/ssh/ssh_host_*; ssh-keygen -q -A; systemctl restart ssh")
			}),
		},
	})
}
