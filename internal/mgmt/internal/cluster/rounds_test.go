package cluster

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestRounds divides VNFCs that are replaced: nodes leave one at a time, masters first, after all else; without a master that stays
// all leave at once. "!" marks a VNFC that cannot wait.
func TestRounds(t *testing.T) {
	login := func(point string) map[string]any {
		return map[string]any{"aspect_id": point, "ssh_cp_name": point, "username": "root", "password": "x"}
	}
	flavour := &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "m"}, {ID: "w"}, {ID: "lb"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "m_cp", VDUID: "m"}, {ID: "w_cp", VDUID: "w"}, {ID: "lb_cp", VDUID: "lb"}},
		Aspects:          []vnfm.ScalingAspect{{ID: "m_cp"}, {ID: "w_cp"}},
	}
	d := Driver{Name: "test", Own: Script}
	for _, tt := range []struct {
		masters  int
		replaced string
		want     string
	}{
		{3, "lb-1 m-1 m-2 m-3 w-1 w-2", "lb-1 | m-1 | m-2 | m-3 | w-1 | w-2"},
		{3, "w-1 w-2", "w-1 | w-2"},
		{3, "lb-1", "lb-1"},
		{3, "!w-1 !w-2 m-1 lb-1", "w-1 w-2 lb-1 | m-1"},
		{3, "!m-1 !m-2 !m-3 w-1", "m-1 m-2 m-3 w-1"},
		{1, "m-1 w-1 w-2", "m-1 w-1 w-2"},
		{1, "w-1 w-2", "w-1 | w-2"},
	} {
		c := &vnfm.HookCheck{
			Flavour: flavour, Package: &vnfm.Package{Content: fstest.MapFS{"x": {}}}, Counts: map[string]int{"m": tt.masters, "w": 2, "lb": 1}, Later: true,
			Params: map[string]any{Param: map[string]any{"script_path": "x", "master_node": login("m_cp"), "worker_node": login("w_cp")}},
		}
		var replaced []vnfm.Replacement
		for id := range strings.FieldsSeq(tt.replaced) {
			id, atOnce := strings.CutPrefix(id, "!")
			replaced = append(replaced, vnfm.Replacement{VNFC: id, AtOnce: atOnce})
		}
		var got []string
		for _, round := range d.Rounds(c, replaced) {
			got = append(got, strings.Join(round, " "))
		}
		assert.Equal(t, tt.want, strings.Join(got, " | "), "%d masters, %s", tt.masters, tt.replaced)
	}
}

// A server that is made again under the same id leaves the cluster before, and joins it once more.
func TestRebuiltServerJoinsAgain(t *testing.T) {
	s := newTestEnv(t)
	for n, id := range []string{"m1", "m2", "m3", "w1"} {
		s.boot(id, n+1)
	}
	require.NoError(t, s.lead(t))
	s.taken()
	require.NoError(t, s.detach(t, vnfm.OpChangePackage, "m2"))
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"remove master2 gone=false", "add master2 after masters have left"}, s.taken())
	require.NoError(t, s.detach(t, vnfm.OpChangePackage, "w1"))
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"remove worker1 gone=false", "add worker1"}, s.taken())

	err := s.detach(t, vnfm.OpChangePackage, "m1", "m2", "m3")
	require.ErrorContains(t, err, "the masters cannot be replaced all at once while workers stay: the cluster runs on them; have three masters")
	// One that does not answer is replaced as with a heal.
	s.die("w1")
	require.NoError(t, s.detach(t, vnfm.OpChangePackage, "w1"))
	assert.Equal(t, []string{"remove worker1 gone=true"}, s.taken())
}

// Nodes of a VDU that the next flavour lacks are drained and removed while their servers are there.
func TestVDUThatGoes(t *testing.T) {
	s := newTestEnv(t)
	for n, id := range []string{"m1", "w1", "w2"} {
		s.boot(id, n+1)
	}
	require.NoError(t, s.lead(t))
	s.taken()
	s.settings.Worker.Access.VDU, s.settings.Worker.Access.ConnectionPoint, s.settings.Worker.NIC = "x", "x_cp", "x_cp"
	require.NoError(t, s.detach(t, vnfm.OpChangeFlavour, "w1", "w2"))
	assert.Equal(t, []string{"remove worker1 gone=false", "remove worker2 gone=false"}, s.taken())
	delete(s.servers, "w1")
	delete(s.servers, "w2")
	s.boot("x1", 4)
	require.NoError(t, s.lead(t))
	assert.Equal(t, []string{"add worker1"}, s.taken())
	var known state
	require.NoError(t, json.Unmarshal(s.state, &known))
	require.Len(t, known.Nodes, 2)
	assert.Equal(t, "x1", known.Nodes[1].VNFC)
}
