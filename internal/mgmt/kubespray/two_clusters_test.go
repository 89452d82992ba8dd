package kubespray_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Two clusters share an Ansible server and have nodes with the same names. Changes of one never reach the other, although kubespray
// caches facts of hosts by name: each cluster ends with exactly the nodes and etcd members of its servers, and without remains of a
// dead master.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	for _, release := range []string{"2.23", "2.29"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			tree := kubespraytest.Shape(t, release)
			kubespraytest.Record(t, tree, kubespraytest.AtLeast(t, tree), kubespraytest.Effects)
			server := ansibleServer{tree: tree, Server: sshtest.New(t, sshtest.Options{Env: []string{"HOME=" + t.TempDir()}})}
			a, b := newInstance(t, server, "7", "127.0.8."), newInstance(t, server, "8", "127.0.9.")
			both := func(what string) {
				t.Helper()
				a.check(t, "the first cluster after "+what)
				b.check(t, "the second cluster after "+what)
			}
			a.install(t, 3, 1)
			b.install(t, 3, 1)
			both("the installation")
			for _, w := range []*testEnv{a, b} {
				w.worker(t, 2)
				require.NoError(t, w.At(t, vnfm.OpScale, true))
			}
			both("a scale out of each")
			a.leave(t, vnfm.OpScale, "w1")
			both("a scale in of the first")

			// The first master of the first cluster is silent, and the last one of the other has no server any more.
			a.Below("master_node")["boot_timeout"] = "1s"
			a.Hosts["m1"].Write(t, "/run/dead", "")
			a.Hosts["m1"].Stop()
			a.leave(t, vnfm.OpHeal, "m1", func() { a.master(t, 4) })
			both("the heal of a silent master of the first")
			b.Hosts["m3"].Write(t, "/run/dead", "")
			b.Gone("m3")
			b.leave(t, vnfm.OpHeal, "m3", func() { b.master(t, 4) })
			both("the heal of a lost master of the second")
			b.leave(t, vnfm.OpHeal, "w1", func() { b.worker(t, 3) })
			both("the heal of a worker of the second")
			assert.NoDirExists(t, filepath.Join(tree+".lab", "facts"), "the folder that ansible.cfg has for all facts")

			// The folder of another cluster is rejected, and so is a folder in it, which would be removed with that cluster.
			c := newInstance(t, server, "9", "127.0.10.")
			c.master(t, 1)
			for path, want := range map[string]string{
				a.inventory:                        a.inventory + " is the inventory of the cluster of another VNF instance, 7: ",
				filepath.Join(a.inventory, "more"): a.inventory + "/more is in " + a.inventory + ", the inventory of the cluster of VNF instance 7, which is removed with that cluster: ",
			} {
				c.Below("ansible")["transferring_inventory_path"] = path
				require.ErrorContains(t, c.At(t, vnfm.OpInstantiate, true), want+"transferring_inventory_path must name a folder ")
			}
		})
	}
}

// leave runs an operation that takes a server away, and gives others.
func (w *testEnv) leave(t *testing.T, kind vnfm.OperationType, id string, others ...func()) {
	t.Helper()
	require.NoError(t, w.At(t, kind, false, id))
	w.Gone(id)
	for _, add := range others {
		add()
	}
	require.NoError(t, w.At(t, kind, true, id))
}

// check compares the nodes and the members of etcd that each master knows with the servers that there are.
func (w *testEnv) check(t *testing.T, what string) {
	t.Helper()
	var nodes, masters []string
	for _, v := range w.VNFCs() {
		nodes = append(nodes, v.Addresses[0])
		if v.VDUID == "masterNode" {
			masters = append(masters, v.Addresses[0])
		}
	}
	slices.Sort(nodes)
	slices.Sort(masters)
	for _, v := range w.VNFCs() {
		if v.VDUID != "masterNode" {
			continue
		}
		known := map[string]string{}
		for line := range strings.Lines(w.Hosts[v.ID].Read(t, "/run/nodes")) {
			name, address, _ := strings.Cut(strings.TrimSpace(line), " ")
			known[name] = address
		}
		var members []string
		for line := range strings.Lines(w.Hosts[v.ID].Read(t, "/run/members")) {
			_, peer, _ := strings.Cut(line, "https://")
			address, _, _ := strings.Cut(peer, ":")
			members = append(members, address)
		}
		slices.Sort(members)
		require.Equal(t, nodes, slices.Sorted(maps.Values(known)), "%s: the nodes that %s knows", what, v.ID)
		require.Equal(t, masters, members, "%s: the members of etcd that %s knows", what, v.ID)
	}
	for n := range len(masters) {
		require.Contains(t, w.Hosts[w.VNFCs()[0].ID].Read(t, "/run/nodes"), fmt.Sprintf("master%d ", n+1), what)
	}
}
