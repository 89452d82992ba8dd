package kubespraytest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestCluster installs a cluster of one master and one worker, adds a worker and removes it again, after calls that
// kubespray would not take.
func TestCluster(t *testing.T) {
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker, labtest.OpenStackAnsible)
	ansible := lab.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	var hosts []*labtest.Shell
	for _, name := range []string{"master1", "worker1", "worker2"} {
		hosts = append(hosts, lab.NewServer(t, name, labtest.OpenStackDockerImage, "net0"))
	}
	master, worker := hosts[0], hosts[2]
	host := kubespraytest.Install(t, ansible)
	play := func(workers int, args string) (string, error) {
		inventory := "[all]\n" + node("master1", hosts[0]) + node("worker1", hosts[1])
		nodes := "worker1\n"
		if workers > 1 {
			inventory, nodes = inventory+node("worker2", hosts[2]), nodes+"worker2\n"
		}
		inventory += "[kube_control_plane]\nmaster1\n[etcd]\nmaster1\n[kube_node]\n" + nodes +
			"[calico_rr]\n[k8s_cluster:children]\nkube_control_plane\nkube_node\ncalico_rr\n"
		run(t, ansible, "cd "+kubespraytest.Root+" && { [ -e inventory/test ] || cp -r inventory/sample inventory/test; } && cat >inventory/test/hosts.ini <<'X'\n"+inventory+"X\n")
		return try(t, ansible, "cd "+kubespraytest.Root+" && ansible-playbook -i inventory/test/hosts.ini --become --become-user=root "+args)
	}
	must := func(workers int, args string) {
		t.Helper()
		start := time.Now()
		out, err := play(workers, args)
		require.NoError(t, err, "%s: %v\n%s", args, err, out)
		t.Logf("%s took %s", args, time.Since(start).Round(time.Second))
	}
	must(1, "cluster.yml")
	nodes := func() string {
		return run(t, master, "sudo kubectl get nodes -o name | sort")
	}
	assert.Equal(t, "node/master1\nnode/worker1\n", nodes(), "the cluster has")
	if got := run(t, master, "sudo stat -c %a /etc/kubernetes/admin.conf /root/.kube/config && sudo grep -c 'server: https://"+hosts[0].Address+":6443' /etc/kubernetes/admin.conf"); got != "600\n600\n1\n" {
		t.Errorf("the configuration of the administrator: %s", got)
	}
	run(t, master, "sudo kubectl wait --for=condition=Ready --timeout=60s node --all && sudo kubectl create deployment web --image=web --replicas=3 && sudo kubectl rollout status deployment web --timeout=60s || { sudo kubectl get events; false; }")

	// The first is about facts, which cluster.yml has kept, and the last gathers.
	run(t, ansible, "rm /tmp/master1 /tmp/worker1")
	for _, refused := range []struct{ args, want string }{
		{"scale.yml --limit=worker2,localhost", "run playbooks/facts.yml without the limit first"},
		{"scale.yml --limit=worker2", "want localhost in the limit"},
		{"scale.yml -e nodes=worker2", "it has no variable nodes"},
		{"remove-node.yml -e skip_confirmation=yes", "without -e node="},
		{"remove-node.yml -e node=worker9 -e skip_confirmation=yes", "node worker9 is not in the inventory"},
		{"remove-node.yml -e node=master1 -e skip_confirmation=yes", "cannot be removed"},
		{"remove-node.yml -e node=worker2 </dev/null", "confirm"},
	} {
		if out, err := play(2, refused.args); err == nil || !strings.Contains(out, refused.want) {
			t.Errorf("%s: %v\n%s", refused.args, err, out)
		}
	}
	must(2, "playbooks/facts.yml")
	must(2, "scale.yml --limit=worker2,localhost")
	assert.Equal(t, "node/master1\nnode/worker1\nnode/worker2\n", nodes(), "after a scale the cluster has")
	run(t, worker, "systemctl is-active kubelet && ls /etc/kubernetes/kubelet.env")
	must(2, "remove-node.yml -e node=worker2 -e skip_confirmation=yes")
	assert.Equal(t, "node/master1\nnode/worker1\n", nodes(), "after a removal the cluster has")
	if out, err := try(t, worker, "ls -d /etc/kubernetes /usr/local/bin/kubectl /etc/systemd/system/kubelet.service"); err == nil || strings.Contains(out, "\n/") {
		t.Errorf("the removed node has %s", out)
	}
	calls := host.Calls(t)
	last := calls[len(calls)-1]
	if last.Playbook != "remove-node.yml" || last.Extra["node"] != "worker2" || len(last.Groups["kube_node"]) != 2 || len(last.Problems) > 0 {
		t.Errorf("the last call is %+v", last)
	}
	must(1, "reset.yml -e reset_confirmation=yes")
	out, err := try(t, master, "systemctl is-active kube-apiserver etcd")
	require.Error(t, err, "after a reset the master runs %s", out)
}

func node(name string, host *labtest.Shell) string {
	return fmt.Sprintf("%s ansible_host=%[2]s ip=%[2]s etcd_member_name=etcd-%[1]s ansible_user=ubuntu ansible_password=ubuntu ansible_become_password=ubuntu\n", name, host.Address)
}

func try(t *testing.T, host *labtest.Shell, script string) (string, error) {
	t.Helper()
	result, err := host.Run(t.Context(), remote.Command{What: "a command of the test", Script: script})
	return result.Stdout + result.Stderr, err
}

func run(t *testing.T, host *labtest.Shell, script string) string {
	t.Helper()
	out, err := try(t, host, script)
	require.NoError(t, err, "%s: %v\n%s", script, err, out)
	return out
}
