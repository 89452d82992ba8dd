package lcm_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// elsewhere is an engine with an empty store, on which the VIM has another id.
func (w *env) elsewhere(t *testing.T, packages ...string) *env {
	t.Helper()
	other := &env{driver: w.driver, dir: t.TempDir(), sources: w.sources, management: w.management}
	other.Engine = other.open(t)
	other.vimID = register(t, other.Engine, vaultVIM())
	for _, version := range packages {
		other.pkg = other.onboard(t, version)
	}
	return other
}

// The VIM tells what was asked for: an update that asks for the same runs no operation.
func TestAdopt(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.Description, spec.Metadata = "the core", map[string]string{"site": "a"}
	spec.LevelID, spec.ScaleLevels = "large", map[string]int{"workers": 1}
	spec.AdditionalParams, spec.SecretParams = map[string]any{"depth": 2.0}, map[string]any{"password": "planted"}
	spec.Heal = &vnfm.HealSpec{Trigger: "one"}
	i := w.mustInstantiate(t, spec)
	assert.NotContains(t, string(w.driver.found[i.ID].Arguments), "planted")

	for name, place := range map[string]vnfm.InstancePlace{
		"id":                     {ID: i.ID},
		"name":                   {VIM: "edge", Name: "core"},
		"namespace and name":     {VIM: "edge", Namespace: "default", Name: "core"},
		"id of the VIM and name": {Name: "core"},
	} {
		t.Run(name, func(t *testing.T) {
			other := w.elsewhere(t, "1.0")
			if place.VIM == "" && place.Name != "" {
				place.VIM = other.vimID
			}
			place.Kind = vnfm.NetworkFunction
			unrecorded := func(namespace string) []vnfm.Instance {
				all, err := other.UnrecordedInstances(t.Context(), other.vimID, namespace)
				require.NoError(t, err)
				return all
			}
			all := unrecorded("")
			require.Len(t, all, 1)
			assert.Equal(t, []any{i.ID, other.vimID, i.PackageID, i.ScaleLevels}, []any{all[0].ID, all[0].VIMID, all[0].PackageID, all[0].ScaleLevels})
			assert.Empty(t, unrecorded("elsewhere"))
			got, err := other.AdoptInstance(t.Context(), place)
			require.NoError(t, err)
			assert.Empty(t, unrecorded(""), "it is recorded now")
			assert.Equal(t, i.ID, got.ID)
			assert.Equal(t, other.vimID, got.VIMID)
			assert.Equal(t, vnfm.StatusInstantiated, got.Status)
			assert.Len(t, got.Inventory, 2)
			for _, pair := range [][2]any{
				{i.PackageID, got.PackageID}, {i.LevelID, got.LevelID}, {i.ScaleLevels, got.ScaleLevels}, {i.AdditionalParams, got.AdditionalParams},
				{i.Description, got.Description}, {i.Metadata, got.Metadata}, {i.OperationalState, got.OperationalState}, {"one", got.HealTrigger},
			} {
				assert.Equal(t, pair[0], pair[1])
			}
			same := spec
			same.VIMID = other.vimID
			updated := other.mustUpdate(t, i.ID, same)
			assert.Equal(t, got.Generation, updated.Generation)
			assert.Empty(t, other.operations(t, i.ID))

			_, err = other.AdoptInstance(t.Context(), place)
			require.ErrorContains(t, err, "belongs to another instance of this store")
		})
	}
}

// The arguments come back as they were written, with the ids that their VIMs have in this store.
func TestAdopt_asWritten(t *testing.T) {
	w := newEnv(t)
	written := func(vim string) string {
		return `{"timeouts":{"update":"20m"},"vim_connections":{"far":{"vim_id":"` + vim + `"}}}`
	}
	spec, far := w.spec(), w.registerFar(t)
	spec.Connections = map[string]vnfm.Connection{"far": {VIMID: far, Namespace: "edge", VDUIDs: []string{"VDU1"}}}
	spec.Arguments = []byte(written(far))
	i := w.mustInstantiate(t, spec)
	other := w.elsewhere(t, "1.0")
	there := other.registerFar(t)
	got, err := other.AdoptInstance(t.Context(), vnfm.InstancePlace{VIM: "edge", ID: i.ID, Kind: vnfm.NetworkFunction})
	require.NoError(t, err)
	assert.NotEqual(t, far, there)
	assert.Equal(t, there, got.Connections["far"].VIMID)
	assert.JSONEq(t, written(there), string(got.Arguments))
}

// What cannot be adopted is an error that says why, and leaves no record.
func TestAdopt_errors(t *testing.T) {
	w := newEnv(t)
	i := w.mustInstantiate(t, w.spec())
	other := w.elsewhere(t)
	refused := func(p vnfm.InstancePlace, want string) {
		t.Helper()
		_, err := other.AdoptInstance(t.Context(), p)
		require.ErrorContains(t, err, want)
		all, err := other.Instances(t.Context(), vnfm.InstanceFilter{})
		require.NoError(t, err)
		assert.Empty(t, all)
	}
	place := vnfm.InstancePlace{VIM: "edge", Name: "core", Kind: vnfm.NetworkFunction}
	refused(place, `onboard that package before the import`)
	other.onboard(t, "1.0")
	refused(vnfm.InstancePlace{VIM: "edge", Name: "nobody", Kind: vnfm.NetworkFunction}, `looking for network function "edge/nobody" on VIM "edge": not found`)
	refused(vnfm.InstancePlace{VIM: "far", Name: "core"}, `the store has no VIM with the name or id "far"; it has "edge"`)
	refused(vnfm.InstancePlace{VIM: "edge", Name: "core", Kind: vnfm.WorkloadCluster}, `belongs to a network function, with the id `+i.ID)

	twin := w.driver.found[i.ID]
	twin.ID = "0b9a2d4e-6f1c-4f0a-9d3b-2f7c1f5c8a11"
	w.driver.found[twin.ID] = twin
	refused(place, `"edge/core" can be one of 2 instances: `)
	refused(vnfm.InstancePlace{ID: "7", Kind: vnfm.NetworkFunction}, "not found")
}

// Without arguments the objects tell package and name: the rest shows as a difference.
func TestAdopt_withoutArguments(t *testing.T) {
	w := newEnv(t)
	spec := w.spec()
	spec.ScaleLevels = map[string]int{"workers": 1}
	i := w.mustInstantiate(t, spec)
	w.driver.found[i.ID] = vnfm.FoundInstance{ID: i.ID, Name: "core", Namespace: "default", PackageID: i.PackageID}
	got, err := w.elsewhere(t, "1.0").AdoptInstance(t.Context(), vnfm.InstancePlace{ID: i.ID, Kind: vnfm.NetworkFunction})
	require.NoError(t, err)
	assert.Equal(t, i.PackageID, got.PackageID)
	assert.Empty(t, got.ScaleLevels)
}

// A destroy over an empty store names the parameters of management drivers that the state does not have, before anything goes. An
// apply takes them from the configuration, or the run brings them, which seals them nowhere and replaces nothing that the state has.
func TestTerminateWithoutParams(t *testing.T) {
	lose := func(t *testing.T) (lost *env, d *worker, spec vnfm.InstanceSpec, id string) {
		t.Helper()
		w, d, spec := newWorkerEnv(t)
		i := w.mustInstantiate(t, spec)
		d.taken()
		lost = w.lost(t)
		onboardAs(t, lost.Engine, "test", w.sources+"/worked")
		known := spec
		known.SecretParams, known.Known = nil, vnfm.KnownState{Status: vnfm.StatusInstantiated, Generation: i.Generation, Ending: true}
		require.NoError(t, second(lost.RecoverInstance(t.Context(), i.ID, known)))
		err := lost.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{})
		require.ErrorContains(t, err, "the password is missing")
		require.ErrorContains(t, err, "run terraform apply once")
		require.ErrorContains(t, err, `management_params = { "core" = { ... } }`)
		require.NotErrorAs(t, err, new(*vnfm.InvalidError), "what to do is lost among findings")
		assert.Empty(t, d.taken())
		assert.Len(t, w.driver.objects, 2)
		assert.Empty(t, lost.operations(t, i.ID))
		return lost, d, spec, i.ID
	}
	ended := []string{"TERMINATE terminate_start", "TERMINATE terminate_end"}
	t.Run("apply", func(t *testing.T) {
		lost, d, spec, id := lose(t)
		lost.mustUpdate(t, id, spec)
		require.NoError(t, lost.Terminate(t.Context(), id, vnfm.TerminateSpec{}))
		assert.Equal(t, ended, d.taken())
		assert.Empty(t, lost.driver.objects)
	})
	for _, key := range []string{"name", "id"} {
		t.Run("run by "+key, func(t *testing.T) {
			lost, d, _, id := lose(t)
			given := map[string]any{"site": map[string]any{"username": "nobody", "password": "planted-per-run"}, "other": "ignored"}
			lost.params = vnfm.RunParams{"else": {"site": map[string]any{"password": "wrong"}}, map[string]string{"name": "core", "id": id}[key]: given}
			d.fail = func(string) error { return errors.New("no login with planted-per-run") }
			err := lost.open(t).Terminate(t.Context(), id, vnfm.TerminateSpec{})
			require.ErrorContains(t, err, "no login with")
			require.NotContains(t, err.Error(), "planted-per-run")
			d.fail = nil
			d.taken()
			require.NoError(t, lost.open(t).Terminate(t.Context(), id, vnfm.TerminateSpec{}))
			assert.Equal(t, ended, d.taken())
			assert.Equal(t, map[string]any{"site": map[string]any{"username": "root", "password": "planted-per-run"}}, d.seen)
			assert.Empty(t, lost.driver.objects)
			notIn(t, lost.dir, "planted-per-run")
		})
	}
}
