package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestActHeals: an action heals each time, says each step, and leaves the trigger of the configuration and drift alone.
func TestActHeals(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.Heal = &vnfm.HealSpec{Trigger: "configured"}
	i := w.mustInstantiate(t, spec)
	var said []string
	ctx := vnfm.WithFollower(t.Context(), func(p vnfm.Progress) { said = append(said, string(p.Operation.State)) })
	for range 2 {
		_, err := w.Act(ctx, i.ID, vnfm.Act{Heal: &vnfm.HealSpec{VDUIDs: []string{"VDU1"}}})
		require.NoError(t, err)
	}
	require.Len(t, w.driver.heals, 2)
	require.Equal(t, []string{"PROCESSING", "COMPLETED", "PROCESSING", "COMPLETED"}, said)
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil || len(w.driver.heals) != 2 {
		t.Errorf("the apply after the action: %v, %d heals", err, len(w.driver.heals))
	}
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED", "HEAL COMPLETED"}, w.operations(t, i.ID), "operations")
}

// TestActRefuses: what cannot be done is found before anything is.
func TestActRefuses(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	nobody := vnfm.Act{Heal: &vnfm.HealSpec{VDUIDs: []string{"VDU9"}}}
	var invalid *vnfm.InvalidError
	err := w.CheckAct(t.Context(), i.ID, nobody)
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "heal.vdu_ids", invalid.Problems[0].Attribute)
	require.ErrorAs(t, second(w.Act(t.Context(), i.ID, nobody)), &invalid)
	require.ErrorContains(t, w.CheckAct(t.Context(), i.ID, vnfm.Act{RotateKubeconfig: true}), "is no workload cluster")
	require.ErrorIs(t, w.CheckAct(t.Context(), "none", nobody), vnfm.ErrNotFound)

	w.driver.breaks("heal")
	all := vnfm.Act{Heal: &vnfm.HealSpec{VDUIDs: []string{"VDU1"}}}
	require.ErrorIs(t, second(w.Act(t.Context(), i.ID, all)), errBroken)
	w.driver.fail = nil
	require.ErrorContains(t, second(w.Act(t.Context(), i.ID, all)), "run terraform apply, which resumes it")
	w.mustUpdate(t, i.ID, w.spec())
	require.NoError(t, second(w.Act(t.Context(), i.ID, all)))
}

// TestActRotates: each action makes a kubeconfig again, and an apply with the trigger of before does not.
func TestActRotates(t *testing.T) {
	w, c := newClusterEnv(t)
	spec := w.clusterSpec()
	spec.RotationTrigger = "configured"
	i := w.mustInstantiate(t, spec)
	rotate := vnfm.Act{RotateKubeconfig: true}
	require.NoError(t, second(w.Act(t.Context(), i.ID, rotate)))
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, 2, c.number)
	// One that has failed is made up for by the next apply.
	c.rotated = func() error { return errBroken }
	require.ErrorIs(t, second(w.Act(t.Context(), i.ID, rotate)), errBroken)
	c.rotated = nil
	require.Equal(t, vnfm.StatusInstantiated, w.mustUpdate(t, i.ID, spec).Status)
	n := c.number
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, n, c.number)
}

// second is the error of two results.
func second[T any](_ T, err error) error { return err }

// TestActRunsAHook: a management driver works again with the parameters of the record, secret ones included; a heal has its hooks as well.
func TestActRunsAHook(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i := w.mustInstantiate(t, spec)
	d.taken()
	once := d.once
	hook := vnfm.Act{Hook: "instantiate_end"}
	require.NoError(t, w.CheckAct(t.Context(), i.ID, hook))
	require.NoError(t, second(w.open(t).Act(t.Context(), i.ID, hook)))
	same(t, "calls", d.taken(), []string{"INSTANTIATE instantiate_end"})
	same(t, "parameters", d.seen, map[string]any{"site": map[string]any{"username": "root", "password": "planted-secret"}})
	require.Equal(t, once+1, d.once, "a step that is done once in an operation")
	w.mustUpdate(t, i.ID, spec)
	same(t, "after the action", d.taken(), []string(nil))

	require.NoError(t, second(w.Act(t.Context(), i.ID, vnfm.Act{Heal: &vnfm.HealSpec{VNFCIDs: []string{"VDU1-1"}}})))
	same(t, "at a heal", d.taken(), []string{"HEAL heal_start leaving VDU1-1", "HEAL heal_end leaving VDU1-1"})
	same(t, "operations", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED", "HEAL COMPLETED"})

	for _, name := range []string{"terminate_end", "operate_end"} {
		var invalid *vnfm.InvalidError
		require.ErrorAs(t, w.CheckAct(t.Context(), i.ID, vnfm.Act{Hook: name}), &invalid)
		require.Equal(t, vnfm.AttributeHook, invalid.Problems[0].Attribute)
	}
	d.fail = func(string) error { return errBroken }
	require.ErrorIs(t, second(w.Act(t.Context(), i.ID, hook)), errBroken)
	d.fail = nil
	require.Equal(t, vnfm.StatusInstantiated, w.mustUpdate(t, i.ID, spec).Status)
	require.NoError(t, second(w.Act(t.Context(), i.ID, hook)))
}
