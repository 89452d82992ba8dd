package kubespray_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// scale.yml gets the facts of all nodes, just gathered by facts.yml, from a cache of this cluster that no other playbook reads. The cache
// is removed afterwards. The limit includes the masters if nodes are clients of etcd.
func TestScaleOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		release, plugin, local string
		limit                  []string
	}{
		{"2.28", "calico", "ansible_become: false\n", []string{"worker2", "localhost"}},
		{"2.29", "cilium", "", []string{"worker2", "master1", "localhost"}},
	} {
		t.Run(c.release, func(t *testing.T) {
			t.Parallel()
			w := newTestEnv(t, c.release, 1, 1)
			w.groupVars()["kube_network_plugin"] = c.plugin
			w.worker(t, 2)
			require.NoError(t, w.At(t, vnfm.OpScale, true))
			calls := w.take(t)
			require.Equal(t, []string{"playbooks/facts.yml", "scale.yml"}, playbooks(calls))
			assert.Empty(t, calls[0].Limit)
			assert.Equal(t, c.limit, calls[1].Limit)
			cache := filepath.Join(w.inventory, "facts")
			assert.Equal(t, []string{cache, cache}, []string{calls[0].Cache, calls[1].Cache})
			assert.Equal(t, []bool{false, true}, []bool{calls[0].Used, calls[1].Used})
			assert.NoDirExists(t, cache)
			assert.Equal(t, "127.0.7.12", calls[1].Hosts["worker2"]["main_access_ip"])
			// Release 2.28 becomes root on the Ansible server itself, where the user need not be able to.
			assert.Equal(t, c.local, readFile(t, calls[1], "host_vars/localhost.yml"))

			w.Gone("w1")
			require.NoError(t, w.At(t, vnfm.OpHeal, false, "w1"))
			calls = w.take(t)
			require.Equal(t, []string{"remove-node.yml"}, playbooks(calls))
			assert.False(t, calls[0].Used)
			assert.NotEqual(t, cache, calls[0].Cache)
		})
	}
}

// The member of etcd of a master that leaves is found by its whole address, where the release takes any line that has it. A member
// that an interrupted removal has taken out is not looked for, where the release fails without one.
func TestRemovalOfAMember(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	w := newTestEnv(t, "2.31", 3, 0)
	w.Gone("m3")
	installed := w.State()
	const members = "a1, started, etcd1, https://127.0.7.1:2380, https://127.0.7.1:2379, false\nb2, started, etcd2, https://127.0.7.2:2380, https://127.0.7.2:2379, false\n"
	const third = "c3, started, etcd3, https://127.0.7.3:2380, https://127.0.7.3:2379, false\n"
	for _, c := range []struct {
		release, members string
		nodeIP           any
		etcd             []string
	}{
		{"2.23", members + third, "//127.0.7.3:", []string{"master1", "master2", "master3"}},
		{"2.23", members, "//127.0.7.3:", []string{"master1", "master2", "master3"}},
		{"2.26", members, nil, []string{"master1", "master2", "master3"}},
		{"2.28", members + third, nil, []string{"master1", "master2", "master3"}},
		{"2.28", members, nil, []string{"master1", "master2"}},
		// Another address begins with the same digits.
		{"2.29", members + "c3, started, etcd3, https://127.0.7.30:2380, https://127.0.7.30:2379, false\n", nil, []string{"master1", "master2"}},
		{"2.31", members, nil, []string{"master1", "master2", "master3"}},
		{"2.28", "", nil, []string{"master1", "master2", "master3"}},
	} {
		t.Run(fmt.Sprint(c.release, " ", strings.Count(c.members, "\n")), func(t *testing.T) {
			w.replaceTree(t, c.release)
			w.SetState(installed)
			w.Each(t, "/run/members", c.members)
			require.NoError(t, w.At(t, vnfm.OpHeal, false, "m3"))
			calls := w.take(t)
			require.Equal(t, []string{"remove-node.yml"}, playbooks(calls))
			extra := calls[0].Extra
			assert.Equal(t, "master3", extra["node"])
			assert.Equal(t, c.nodeIP, extra["node_ip"])
			assert.Equal(t, false, extra["reset_nodes"])
			assert.Equal(t, true, extra["allow_ungraceful_removal"])
			assert.Equal(t, c.etcd, calls[0].Groups["etcd"])
			assert.Equal(t, len(c.etcd) == 2, extra["ignore_assert_errors"] == true)
			assert.Equal(t, "127.0.7.3", calls[0].Hosts["master3"]["main_access_ip"], "nothing is gathered of a dead master")
		})
	}
}
