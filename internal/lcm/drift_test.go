package lcm_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// VNFCs that a repair replaces, because the VIM was given another definition of them, leave one after the other. A scale that comes first
// leaves them as they are; those that cannot wait leave with it, also when it is resumed.
func TestDriftInTurn(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	w.manage(t, nodeKeeper{d})
	i := w.mustInstantiate(t, spec)
	drift := func(replacing ...vnfm.Replacement) {
		w.driver.objects["apps/v1/Deployment b"] = vnfm.Drifted + "another image"
		w.driver.replacing, w.driver.held, w.driver.scaledIn = replacing, nil, nil
		d.taken()
	}
	w.driver.vnfcs = []string{"VDU1-1"}
	drift(vnfm.Replacement{VNFC: "VDU1-2"}, vnfm.Replacement{VNFC: "VDU1-1"})
	w.mustUpdate(t, i.ID, spec)
	same(t, "repair", d.taken(), []string{
		"HEAL heal_start leaving VDU1-1", "HEAL heal_end leaving VDU1-1", "HEAL heal_start leaving VDU1-2", "HEAL heal_end leaving VDU1-2",
	})
	same(t, "left as they are", w.driver.held, [][]string{{"VDU1-2"}, nil})

	w.driver.vnfcs = []string{"VDU1-1", "VDU1-2", "VDU1-3"}
	drift(vnfm.Replacement{VNFC: "VDU1-1", AtOnce: true}, vnfm.Replacement{VNFC: "VDU1-2"})
	tries := 0
	w.driver.fail = func(point string) error {
		if point != "scale" {
			return nil
		}
		if tries++; tries == 1 {
			return errBroken
		}
		w.driver.vnfcs, w.driver.replacing = []string{"VDU1-1", "VDU1-2"}, []vnfm.Replacement{{VNFC: "VDU1-2"}}
		return nil
	}
	spec.ScaleLevels = map[string]int{"workers": 1}
	_, err := w.Update(t.Context(), i.ID, spec)
	require.ErrorIs(t, err, errBroken)
	w.mustUpdate(t, i.ID, spec)
	start, end := "SCALE scale_start leaving VDU1-3,VDU1-1", "SCALE scale_end leaving VDU1-3,VDU1-1"
	same(t, "scale", d.taken(), []string{start, start, end, "HEAL heal_start leaving VDU1-2", "HEAL heal_end leaving VDU1-2"})
	same(t, "left as they are", w.driver.held, [][]string{{"VDU1-2"}, {"VDU1-2"}, nil})
	same(t, "scaled in", w.driver.scaledIn, [][]string{{"VDU1-3"}, {"VDU1-3"}})
}

// TestDriftBesideTheRecord: drift is looked for while the record of the operation before is written, and is repaired.
func TestDriftBesideTheRecord(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	spec := w.spec()
	i := w.mustInstantiate(t, spec)
	w.driver.vnfcs = []string{"VDU1-1"}
	w.driver.objects["apps/v1/Deployment b"] = vnfm.Drifted + "another image"
	observed := make(chan struct{})
	w.driver.observing = sync.OnceFunc(func() { close(observed) })
	ctx := vnfm.WithFollower(t.Context(), func(p vnfm.Progress) {
		if p.Operation.State != vnfm.StateCompleted {
			return
		}
		select {
		case <-observed:
		case <-time.After(time.Minute):
			t.Error("the operation was completed, and nothing looked for drift")
		}
	})
	spec.Heal = &vnfm.HealSpec{Trigger: "1", VNFCIDs: []string{"VDU1-1"}}
	_, err := w.Update(ctx, i.ID, spec)
	require.NoError(t, err)
	same(t, "operations", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED", "HEAL COMPLETED"})
}

// TestInSync: an update whose plan has seen no drift does not look for any. It repairs what an earlier operation has left.
func TestInSync(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	spec := w.spec()
	i := w.mustInstantiate(t, spec)
	w.driver.vnfcs = []string{"VDU1-1"}
	w.driver.objects["apps/v1/Deployment b"] = vnfm.Drifted + "another image"
	looked := false
	w.driver.observing = func() { looked = true }
	spec.Known.InSync = true
	spec.Heal = &vnfm.HealSpec{Trigger: "1", VNFCIDs: []string{"VDU1-1"}}
	w.mustUpdate(t, i.ID, spec)
	same(t, "operations", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED"})
	require.False(t, looked, "drift was looked for")

	w.driver.missing = true
	spec.Heal = &vnfm.HealSpec{Trigger: "again", VNFCIDs: []string{"VDU1-1"}}
	w.mustUpdate(t, i.ID, spec)
	require.True(t, looked, "nothing looked for drift although something is missing")
	same(t, "operations", w.operations(t, i.ID)[2:], []string{"HEAL COMPLETED", "HEAL COMPLETED"})
	w.driver.missing = false

	w.driver.fail = func(string) error { return errBroken }
	spec.Heal = &vnfm.HealSpec{Trigger: "2", VNFCIDs: []string{"VDU1-1"}}
	_, err := w.Update(t.Context(), i.ID, spec)
	require.ErrorIs(t, err, errBroken)
	w.driver.fail = nil
	spec.Heal = nil
	w.mustUpdate(t, i.ID, spec)
	same(t, "operations", w.operations(t, i.ID)[4:], []string{"HEAL COMPLETED"})
}

// TestTerminationLeavesItsOperation: of an instance that is terminated one operation stays, and the record names what there was until it
// goes, whatever is interrupted.
func TestTerminationLeavesItsOperation(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	named := 0
	ctx := vnfm.WithFollower(t.Context(), func(p vnfm.Progress) {
		if p.Operation.State == vnfm.StateCompleted {
			there, err := w.Instance(t.Context(), i.ID)
			if err == nil {
				named = len(there.Inventory)
			}
		}
	})
	require.NoError(t, w.Terminate(ctx, i.ID, vnfm.TerminateSpec{Type: vnfm.Graceful}))
	same(t, "operations", w.operations(t, i.ID), []string{"TERMINATE COMPLETED"})
	require.Equal(t, 2, named, "objects that the record names when the termination is completed")
	_, err := w.Instance(t.Context(), i.ID)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}
