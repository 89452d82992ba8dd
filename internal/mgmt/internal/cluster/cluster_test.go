package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// notes is an installer that records its calls.
type notes struct {
	calls []string
	fail  string
}

func (n *notes) note(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	n.calls = append(n.calls, line)
	if n.fail != "" && strings.HasPrefix(line, n.fail) {
		return errors.New("the disk is full")
	}
	return nil
}

func (n *notes) taken() []string {
	out := n.calls
	n.calls = nil
	return out
}

func (n *notes) Prepare(context.Context, *Cluster) error { return nil }

func (n *notes) Install(_ context.Context, c *Cluster) error {
	return n.note("install %s", strings.Join(named(c.All()), ","))
}

func (n *notes) Add(_ context.Context, _ *Cluster, added []*Node, mastersLeft bool) error {
	if mastersLeft {
		return n.note("add %s after masters have left", strings.Join(named(added), ","))
	}
	return n.note("add %s", strings.Join(named(added), ","))
}

func (n *notes) Remove(_ context.Context, _ *Cluster, node *Node) error {
	return n.note("remove %s gone=%t", node.Name, node.Gone)
}

func (n *notes) Discard(context.Context, *Cluster) error { return n.note("discard") }

func named(all []*Node) []string {
	var out []string
	for _, n := range all {
		out = append(out, n.Name)
	}
	return out
}

// testEnv is an instance whose servers are hosts of the test.
type testEnv struct {
	*notes
	*vnfm.HookCall
	servers  map[string]vnfm.VNFC
	state    json.RawMessage
	settings *Settings
	kubectl  string
}

// Load implements vnfm.DriverState.
func (s *testEnv) Load(into any) error {
	if s.state == nil {
		return nil
	}
	return json.Unmarshal(s.state, into)
}

// Save implements vnfm.DriverState.
func (s *testEnv) Save(_ context.Context, value any) (err error) {
	s.state, err = json.Marshal(value)
	return err
}

func (s *testEnv) Pinned(string) string                      { return "" }
func (s *testEnv) Pin(context.Context, string, string) error { return nil }

// quiet is a recorder without output.
type quiet struct{ vnfm.Recorder }

func (quiet) Progress(context.Context, string) {}

func newTestEnv(t *testing.T) *testEnv {
	t.Helper()
	s := &testEnv{notes: &notes{}, servers: map[string]vnfm.VNFC{}}
	bin := t.TempDir()
	s.kubectl = filepath.Join(bin, "calls")
	program := "#!/bin/sh\necho \"$@\" >>" + s.kubectl + "\ncase $1 in get) echo node/x;; drain) [ ! -e " + s.kubectl + ".blocked ];; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(program), 0o700)) //nolint:gosec // it is run
	first := sshtest.New(t, sshtest.Options{Address: "127.0.0.41", Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}})
	for n := range 6 {
		sshtest.New(t, sshtest.Options{Address: fmt.Sprintf("127.0.0.4%d", n+2), Port: first.Host().Port, Env: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}})
	}
	login := first.Host()
	login.Address, login.HostKeys = "", nil
	s.settings = &Settings{
		Master:       Group{Access: hosts.Access{VDU: "m", ConnectionPoint: "m_cp", Login: login, Patience: time.Second}, NIC: "m_cp", Cluster: "m_cp"},
		Worker:       Group{Access: hosts.Access{VDU: "w", ConnectionPoint: "w_cp", Login: login, Patience: time.Second}, NIC: "w_cp"},
		DrainTimeout: defaultDrainTimeout,
	}
	s.HookCall = &vnfm.HookCall{
		Instance: &vnfm.Instance{ID: "7"}, Recorder: quiet{}, HostKeys: s, State: s,
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) {
			has := &vnfm.ResourceInfo{}
			for _, v := range s.servers {
				has.VNFCs = append(has.VNFCs, v)
			}
			return has, nil
		},
	}
	return s
}

// boot adds a server at one of seven addresses. die moves it to an address without a listener.
func (s *testEnv) boot(id string, address int) { s.place(id, fmt.Sprintf("127.0.0.4%d", address)) }

func (s *testEnv) die(id string) { s.place(id, "127.0.0.99") }

func (s *testEnv) place(id, at string) {
	vdu := id[:1]
	s.servers[id] = vnfm.VNFC{ID: id, VDUID: vdu, State: "ACTIVE", Addresses: []string{at}, ConnectionPoints: map[string][]string{vdu + "_cp": {at}}}
}

// lead and detach run a hook like a process of its own.
func (s *testEnv) lead(t *testing.T) error {
	t.Helper()
	c := s.open(t)
	if err := c.find(t.Context()); err != nil {
		return err
	}
	return c.lead(t.Context())
}

func (s *testEnv) detach(t *testing.T, operation vnfm.OperationType, leaving ...string) error {
	t.Helper()
	s.Operation, s.Leaving = operation, leaving
	return s.open(t).detachLeavingNodes(t.Context())
}

func (s *testEnv) open(t *testing.T) *Cluster {
	t.Helper()
	c, err := openCluster(s.HookCall, s.settings, s.notes)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func (s *testEnv) known(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, n := range s.open(t).state.Nodes {
		out = append(out, fmt.Sprintf("%s=%s joined=%t", n.Name, n.VNFC, n.Joined))
	}
	slices.Sort(out)
	return out
}

// The cluster follows the servers: nodes have the lowest free name, and one that did not come
// to be is tried again.
func TestClusterFollowsItsServers(t *testing.T) {
	s := newTestEnv(t)
	s.boot("m1", 1)
	s.boot("w1", 2)
	s.fail = "install"
	require.ErrorContains(t, s.lead(t), "the disk is full")
	s.fail = ""
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"install master1,worker1", "install master1,worker1"}, s.taken())
	require.NoError(t, s.lead(t))
	assert.Empty(t, s.taken(), "there is nothing to do")

	s.boot("w2", 3)
	s.boot("w3", 4)
	s.fail = "add"
	require.Error(t, s.lead(t))
	assert.Equal(t, []string{"add worker2,worker3"}, s.taken())
	delete(s.servers, "w2")
	s.fail = ""
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"add worker3"}, s.taken(), "one that never joined is not removed")
	assert.Equal(t, []string{"master1=m1 joined=true", "worker1=w1 joined=true", "worker3=w3 joined=true"}, s.known(t))

	delete(s.servers, "w1")
	s.boot("w4", 5)
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"remove worker1 gone=true", "add worker1"}, s.taken(), "one that was lost is taken out, and its name given again")

	delete(s.servers, "m1")
	s.boot("m2", 6)
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"install master1,worker1,worker2"}, s.taken(), "without a master it is another cluster")
}

// Leaving nodes are drained and removed first; nodes that cannot leave are reported before anything is done.
func TestNodesLeave(t *testing.T) {
	s := newTestEnv(t)
	for n, id := range []string{"m1", "m2", "m3", "w1", "w2"} {
		s.boot(id, n+1)
	}
	require.NoError(t, s.lead(t))
	s.taken()

	require.NoError(t, os.WriteFile(s.kubectl+".blocked", nil, 0o600))
	err := s.detach(t, vnfm.OpScale, "w2")
	require.ErrorContains(t, err, "node worker2 cannot be drained within 5m0s")
	assert.Empty(t, s.taken())
	require.NoError(t, os.Remove(s.kubectl+".blocked"))
	require.NoError(t, s.detach(t, vnfm.OpScale, "w2"))
	assert.Equal(t, []string{"remove worker2 gone=false"}, s.taken())
	calls, err := os.ReadFile(s.kubectl)
	require.NoError(t, err)
	assert.Contains(t, string(calls), "drain worker2 --ignore-daemonsets --delete-emptydir-data --timeout=5m0s")

	require.NoError(t, s.detach(t, vnfm.OpHeal, "m1"))
	assert.Equal(t, []string{"remove master1 gone=false"}, s.taken(), "a master goes while others are there")
	delete(s.servers, "m1")
	s.boot("m4", 6)
	delete(s.servers, "w2")
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"add master1 after masters have left"}, s.taken())

	err = s.detach(t, vnfm.OpHeal, "m2", "m3", "m4")
	require.ErrorContains(t, err, "the masters cannot be replaced all at once while workers stay")
	assert.Empty(t, s.taken())

	// A server that does not answer is no reason not to replace it; with a scale it is.
	s.die("w1")
	require.NoError(t, s.detach(t, vnfm.OpHeal, "w1"))
	assert.Equal(t, []string{"remove worker1 gone=true"}, s.taken())

	// The whole cluster: nothing is removed node by node.
	require.NoError(t, s.detach(t, vnfm.OpHeal, "m2", "m3", "m4"))
	assert.Empty(t, s.taken())
	assert.Empty(t, s.known(t))
}

// Silent nodes are removed before the others: playbooks for all nodes would fail at them.
func TestTheDeadLeaveFirst(t *testing.T) {
	s := newTestEnv(t)
	for n, id := range []string{"m1", "m2", "m3", "w1", "w2"} {
		s.boot(id, n+1)
	}
	require.NoError(t, s.lead(t))
	s.taken()
	s.die("m3")
	s.die("w2")
	require.ErrorContains(t, s.detach(t, vnfm.OpScale, "w1", "w2"), "node worker2: ")
	assert.Empty(t, s.taken(), "nothing is removed before all were asked")
	require.NoError(t, s.detach(t, vnfm.OpHeal, "m1", "m3", "w1", "w2"))
	assert.Equal(t, []string{"remove master3 gone=true", "remove worker2 gone=true", "remove master1 gone=false", "remove worker1 gone=false"}, s.taken())
}

// Masters go one after the other, and workers after them.
func TestMastersLeaveFirst(t *testing.T) {
	s := newTestEnv(t)
	for n, id := range []string{"m1", "m2", "m3", "w1", "w2"} {
		s.boot(id, n+1)
	}
	require.NoError(t, s.lead(t))
	s.taken()
	require.NoError(t, s.detach(t, vnfm.OpHeal, "m1", "w1", "m3"))
	assert.Equal(t, []string{"remove master1 gone=false", "remove master3 gone=false", "remove worker1 gone=false"}, s.taken())

	for _, id := range []string{"m1", "w1", "m3"} {
		delete(s.servers, id)
	}
	s.boot("m4", 1)
	s.boot("m5", 3)
	s.boot("w3", 4)
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"add master1,master3,worker1 after masters have left"}, s.taken())
	delete(s.servers, "m4")
	delete(s.servers, "w2")
	s.fail = "add"
	require.Error(t, s.lead(t))
	assert.Equal(t, []string{"remove master1 gone=true", "remove worker2 gone=true", "add  after masters have left"}, s.taken(), "of servers that were lost as well")
	s.fail = ""
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"add  after masters have left"}, s.taken(), "the others are updated, though none has come")
	require.NoError(t, s.lead(t))
	assert.Empty(t, s.taken())
}
