package lcm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestHealRunsOnceForEachTrigger follows the trigger through a creation, a failure
// and repetitions.
func TestHealRunsOnceForEachTrigger(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.Heal = &vnfm.HealSpec{Trigger: "at birth"}
	i := w.mustInstantiate(t, spec)
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Empty(t, w.driver.heals, "a new instance was healed")

	spec.Heal = &vnfm.HealSpec{Trigger: "second", Cause: "it hangs", VNFCIDs: []string{"VDU1-1"}}
	w.driver.breaks("heal")
	require.ErrorIs(t, second(w.Update(t.Context(), i.ID, spec)), errBroken, "a heal that fails")
	w.driver.fail = nil
	// A VNFC that was replaced already no longer exists: that is not the user's mistake.
	w.driver.vnfcs = []string{"VDU1-2", "VDU1-3"}
	healed := w.mustUpdate(t, i.ID, spec)
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	if n := len(w.driver.heals); n != 2 || w.driver.heals[0].ID == "" || w.driver.heals[0].ID != w.driver.heals[1].ID {
		t.Errorf("heals: %+v", w.driver.heals)
	}
	require.Equal(t, []string{"", w.driver.heals[0].ID}, w.driver.kept, "notes that the driver found")
	require.Equal(t, i.Generation+1, healed.Generation, "healed: generation")
	require.Equal(t, vnfm.StatusInstantiated, healed.Status, "healed: generation")
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED"}, w.operations(t, i.ID), "operations")
}

// TestHealOfAnother fails and is followed by a heal with another trigger, or of others:
// an operation of its own, since what was done for the first was not done for it.
func TestHealOfAnother(t *testing.T) {
	for name, next := range map[string]vnfm.HealSpec{
		"trigger": {Trigger: "second", VDUIDs: []string{"VDU1"}},
		"VNFCs":   {Trigger: "first", VNFCIDs: []string{"VDU1-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			i := w.mustInstantiate(t, w.spec())
			spec := w.spec()
			spec.Heal = &vnfm.HealSpec{Trigger: "first", VDUIDs: []string{"VDU1"}}
			w.driver.breaks("heal")
			require.ErrorIs(t, second(w.Update(t.Context(), i.ID, spec)), errBroken, "a heal that fails")
			w.driver.fail = nil
			spec.Heal = &next
			healed := w.mustUpdate(t, i.ID, spec)
			if n := len(w.driver.heals); n != 2 || w.driver.heals[0].ID == w.driver.heals[1].ID || w.driver.kept[1] != "" {
				t.Errorf("heals: %+v with the notes %q", w.driver.heals, w.driver.kept)
			}
			require.Equal(t, vnfm.StatusInstantiated, healed.Status, "healed")
			require.Equal(t, next.Trigger, healed.HealTrigger, "healed")
			// A repair finishes the first operation.
			require.Equal(t, []string{"INSTANTIATE COMPLETED", "HEAL COMPLETED", "HEAL COMPLETED"}, w.operations(t, i.ID), "operations")
		})
	}
}

// TestHealRefusesWhatIsNotThere names what there is, and begins no operation.
func TestHealRefusesWhatIsNotThere(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	for want, heal := range map[string]vnfm.HealSpec{
		`has no VNFC "VDU1-9": its VNFCs are "VDU1-1", "VDU1-2"`: {Trigger: "a", VNFCIDs: []string{"VDU1-9"}},
		`VNFC "amf-1" is of no VDU of deployment flavour`:        {Trigger: "a", VNFCIDs: []string{"amf-1"}},
		`has no VDU "amf": its VDUs are "VDU1"`:                  {Trigger: "a", VDUIDs: []string{"amf"}},
	} {
		spec := w.spec()
		spec.Heal = &heal
		_, err := w.Update(t.Context(), i.ID, spec)
		var invalid *vnfm.InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(invalid.Problems[0].Attribute, "heal.v") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	require.Len(t, w.operations(t, i.ID), 1, "operations")
	require.Empty(t, w.driver.heals, "operations")
}

// TestOperationThatCannotBe is over when the driver refuses what it was given: the
// instance is what it was, and nothing is to be continued.
func TestOperationThatCannotBe(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	spec := w.spec()
	spec.LevelID = "large"
	w.driver.does("scale", func() error { return &vnfm.InvalidError{Problems: vnfm.Problems{{Summary: "not these"}}} })
	_, err = w.Update(t.Context(), i.ID, spec)
	var invalid *vnfm.InvalidError
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &invalid)
	require.NotErrorAs(t, err, &failed)
	after, err := w.Existing(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, vnfm.StatusInstantiated, after.Status, "left in")
	require.Equal(t, i.LevelID, after.LevelID, "left in")
	require.Equal(t, []string{"INSTANTIATE COMPLETED", "SCALE_TO_LEVEL FAILED"}, w.operations(t, i.ID), "operations")
}
