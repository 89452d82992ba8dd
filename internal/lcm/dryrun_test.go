package lcm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDryRun hands the driver what an instance would be, new or as its record is,
// and nothing any more in a process that applies.
func TestDryRun(t *testing.T) {
	w := newEnv(t)
	keys := []string{"v1/ConfigMap a"}
	spec := w.spec()
	planning := w.open(t)
	try := func(id string, want ...string) {
		t.Helper()
		ps, err := planning.DryRunInstance(t.Context(), id, spec, keys)
		require.NoError(t, err)
		var got []string
		for _, p := range ps {
			got = append(got, p.Summary)
		}
		require.Equal(t, want, got)
	}
	try("", `v1/ConfigMap a in default as ""`)
	i := w.mustInstantiate(t, spec)
	spec.Namespace = "default"
	try(i.ID, `v1/ConfigMap a in default as "`+i.ID+`"`)
	try("lost", `v1/ConfigMap a in default as "lost"`)
	spec.VIMID = "unknown"
	require.ErrorIs(t, second(planning.DryRunInstance(t.Context(), "", spec, keys)), vnfm.ErrNotFound, "a VIM that is not registered")
	spec.VIMID = w.vimID
	planning = w.Engine
	try(i.ID)
}

// TestDryRunBesideOthers: an object of another instance is in the way of a new one, but not if that instance may be gone by then, because
// it has the same name, is incomplete, or was planned to get the name.
func TestDryRunBesideOthers(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	i := w.mustInstantiate(t, spec)
	yieldsIn := func(e *lcm.Engine, id string, spec vnfm.InstanceSpec) (yes bool) {
		t.Helper()
		w.driver.yields = func(asked func(context.Context, string) bool) { yes = asked != nil && asked(t.Context(), i.ID) }
		_, err := e.DryRunInstance(t.Context(), id, spec, []string{"v1/ConfigMap a"})
		require.NoError(t, err)
		return yes
	}
	yields := func(id string, spec vnfm.InstanceSpec) bool {
		t.Helper()
		return yieldsIn(w.open(t), id, spec)
	}
	require.True(t, yields("", spec), "of the same name")
	require.False(t, yields(i.ID, spec), "an update")
	spec.Name = "other"
	require.False(t, yields("", spec))
	replacing, renamed := w.open(t), w.spec()
	renamed.Name = "renamed"
	_, problems, err := replacing.PreviewInstance(t.Context(), i.ID, renamed)
	require.NoError(t, errors.Join(err, problems.Err()))
	require.True(t, yieldsIn(replacing, "", renamed), "planned under another name, and then replaced")
	spec.Name = "beside it"
	require.False(t, yieldsIn(replacing, "", spec))
	broken := w.spec()
	broken.Name, broken.OnFailure = "broken", vnfm.OnFailureResume
	w.driver.breaks("first write")
	_, err = w.Instantiate(t.Context(), broken)
	w.driver.fail, i = nil, failedInstance(t, err)
	spec.Name = "third" // the same question is not asked again
	require.True(t, yields("", spec), "incomplete")
}

// TestDryRunOnce asks once for the plan and the apply of one run of Terraform, and
// again for another plan, another question, or another run.
func TestDryRunOnce(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	asks := func(e *lcm.Engine, keys ...string) bool {
		t.Helper()
		ps, err := e.DryRunInstance(t.Context(), "", spec, keys)
		require.NoError(t, err)
		return len(ps) > 0
	}
	for _, step := range []struct {
		by   *lcm.Engine
		keys []string
		want bool
	}{
		{w.open(t), []string{"a"}, true},
		{w.open(t), []string{"a"}, false}, // The apply of that plan.
		{w.open(t), []string{"a"}, true},
		{w.open(t), []string{"a", "b"}, true}, // Another plan in between.
		{w.open(t), []string{"a", "b"}, false},
	} {
		require.Equal(t, step.want, asks(step.by, step.keys...), "asked for")
	}
	planning := w.open(t)
	for range 2 {
		require.True(t, asks(planning, "a"), "one process must ask whenever it plans")
	}
	require.Len(t, w.records(t, store.KindDryRun), 1)
	require.NoError(t, w.DeregisterVIM(t.Context(), w.vimID))
	require.Empty(t, w.records(t, store.KindDryRun), "notes after the VIM was deregistered")
}
