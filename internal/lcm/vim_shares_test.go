package lcm_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/vaulttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func sharedVIM(share string) vnfm.VIMSpec {
	return vnfm.VIMSpec{
		Name: "twin", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6444"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "t0ken-of-the-test"}, Share: share,
	}
}

func register(t *testing.T, e *lcm.Engine, spec vnfm.VIMSpec) string {
	t.Helper()
	v, problems, err := e.RegisterVIM(t.Context(), "", spec)
	require.NoError(t, errors.Join(err, problems.Err()))
	return v.ID
}

// TestAVIMBelongsToEveryResource registers a VIM twice and gives the shares up one by one: it stays until the last one, and then
// until its last instance, is gone.
func TestAVIMBelongsToEveryResource(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	there := func(id string, want bool) {
		t.Helper()
		_, err := w.open(t).VIM(t.Context(), id)
		if want {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, vnfm.ErrNotFound)
	}
	id := register(t, w.Engine, sharedVIM("north"))
	require.NotEqual(t, w.vimID, id)
	// Another spelling of the same endpoint, and other arguments, which hold for both: the last one wins.
	other := sharedVIM("south")
	other.Description, other.Kubernetes = "by the south", &vnfm.KubernetesConnection{Endpoint: "HTTPS://127.0.0.1:6444/"}
	require.Equal(t, id, register(t, w.open(t), other))
	require.Equal(t, id, register(t, w.Engine, other))
	v, err := w.HoldVIM(t.Context(), id, "north")
	require.NoError(t, err)
	require.Equal(t, "by the south", v.Description)
	require.True(t, v.Shared)
	_, err = w.HoldVIM(t.Context(), id, "imported")
	require.NoError(t, err)

	for _, share := range []string{"north", "north", "of nobody", "imported"} {
		require.NoError(t, w.ReleaseVIM(t.Context(), id, share))
		there(id, true)
	}
	v, err = w.HoldVIM(t.Context(), id, "south")
	require.NoError(t, err)
	require.False(t, v.Shared)
	spec := w.spec()
	spec.VIMID = id
	i := w.mustInstantiate(t, spec)
	require.ErrorAs(t, w.ReleaseVIM(t.Context(), id, "south"), new(*vnfm.InUseError))
	there(id, true)
	require.Equal(t, id, register(t, w.Engine, sharedVIM("north")))
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "south"))
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "north"))
	there(id, false)
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "north"))

	// An import forgets shares of which no state knows any more. Those that are there come back.
	id = register(t, w.Engine, sharedVIM("lost"))
	require.Equal(t, id, register(t, w.Engine, sharedVIM("south")))
	_, _, err = w.RegisterVIM(t.Context(), id, vnfm.VIMSpec{Name: "twin", Type: v.Type, Kubernetes: v.Kubernetes, Share: vnfm.InstanceShare("i")})
	require.NoError(t, err)
	require.NoError(t, w.ForgetShares(t.Context(), id))
	for _, share := range []string{"imported", "south"} {
		_, err = w.HoldVIM(t.Context(), id, share)
		require.NoError(t, err)
		require.NoError(t, w.ReleaseVIM(t.Context(), id, share))
		there(id, true)
	}
	require.NoError(t, w.ReleaseVIM(t.Context(), id, vnfm.InstanceShare("i")))
	there(id, false)

	// A lost record comes back under its id with the share, and a management driver ends its VIM whoever shares it.
	_, _, err = w.RegisterVIM(t.Context(), id, sharedVIM("north"))
	require.NoError(t, err)
	_, _, err = w.RegisterVIM(t.Context(), id, sharedVIM("south"))
	require.NoError(t, err)
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "north"))
	there(id, true)
	require.NoError(t, w.DeregisterVIM(t.Context(), id))
	there(id, false)
}

// TestVIMOfAnotherPlace refuses a name that others have at another place, and changes that would take a VIM away from others.
func TestVIMOfAnotherPlace(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	refused := func(err error, want string) {
		t.Helper()
		var invalid *vnfm.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "name", invalid.Problems[0].Attribute)
		require.EqualError(t, err, want)
	}
	at := func(share, endpoint string) vnfm.VIMSpec {
		spec := sharedVIM(share)
		spec.Kubernetes = &vnfm.KubernetesConnection{Endpoint: endpoint}
		return spec
	}
	place := func(endpoint string) vnfm.VIMPlace {
		return vnfm.VIMPlace{Type: vnfm.VIMTypeKubernetes, Endpoint: endpoint}
	}
	const here, there = "https://127.0.0.1:6444", "https://192.0.2.1:6443"
	id := register(t, w.Engine, at("north", here))
	const taken = `the name "twin" is taken in this store: a VIM of that name is registered at https://127.0.0.1:6444, and this one is at https://192.0.2.1:6443. ` +
		`Give this vnf_vim another name; or, to share the VIM, the same endpoint, project and region`
	_, _, err := w.open(t).RegisterVIM(t.Context(), "", at("south", there))
	refused(err, taken)
	refused(w.PlanVIM(t.Context(), "", at("south", there), place(there)), taken)
	require.NoError(t, w.PlanVIM(t.Context(), "", at("south", there), place("")), "an endpoint that is not known yet")
	require.NoError(t, w.PlanVIM(t.Context(), "", at("north", there), place(there)), "the replacement of the only vnf_vim")

	// Nobody shares it.
	_, _, err = w.UpdateVIM(t.Context(), id, at("north", there))
	require.NoError(t, err)
	_, _, err = w.UpdateVIM(t.Context(), id, at("north", here))
	require.NoError(t, err)
	renamed := at("north", here)
	renamed.Name = "edge"
	_, err = w.VIM(t.Context(), w.vimID)
	require.NoError(t, err)
	_, _, err = w.UpdateVIM(t.Context(), id, renamed)
	require.ErrorContains(t, err, `the name "edge" is taken in this store: a VIM of that name is registered at https://127.0.0.1:6443, and this one is at`)

	require.Equal(t, id, register(t, w.Engine, at("south", here)))
	const shared = `VIM "twin" is shared with other vnf_vim resources of this store: `
	const ways = `. Undo the change; or destroy the others first; or add a vnf_vim of another name and destroy this one`
	_, _, err = w.UpdateVIM(t.Context(), id, at("north", there))
	moves := shared + `it is at https://127.0.0.1:6444, and this change would lead it to https://192.0.2.1:6443 for all of them` + ways
	refused(err, moves)
	refused(w.PlanVIM(t.Context(), id, at("north", there), place(there)), moves)
	renamed.Name = "other"
	_, _, err = w.UpdateVIM(t.Context(), id, renamed)
	renames := shared + `a change to "other" would rename it for all of them` + ways
	refused(err, renames)
	refused(w.PlanVIM(t.Context(), id, renamed, place(here)), renames)
	rotated := at("north", here)
	rotated.Description = "rotated"
	_, _, err = w.UpdateVIM(t.Context(), id, rotated)
	require.NoError(t, err)
	require.NoError(t, w.PlanVIM(t.Context(), id, rotated, place(here)))
	require.NoError(t, w.PlanVIM(t.Context(), "lost", rotated, place(here)))

	// The second of a name at its place is shared, whoever asks, and a rename to it is none.
	third := sharedVIM("third")
	third.Name = "third"
	thirdID := register(t, w.Engine, third)
	third.Name = "twin"
	_, _, err = w.UpdateVIM(t.Context(), thirdID, third)
	refused(err, `the name "twin" is taken in this store: VIM `+id+` has it, at the same place. Choose another name; or, to share that VIM, add a vnf_vim of that name and destroy this one`)
}

// TestVIMsAreRegisteredAtOnce has several processes register one name at once, with keys in a vault: one VIM, one key and all shares.
func TestVIMsAreRegisteredAtOnce(t *testing.T) {
	t.Parallel()
	w, vault := newVaultEnv(t)
	shares := []string{"a", "b", "c", "d"}
	ids := make([]string, len(shares))
	var group errgroup.Group
	for n, share := range shares {
		e := w.open(t)
		group.Go(func() error {
			v, _, err := e.RegisterVIM(t.Context(), "", sharedVIM(share))
			if err == nil {
				ids[n] = v.ID
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, []string{ids[0], ids[0], ids[0], ids[0]}, ids)
	_, err := w.open(t).CheckRegisteredVIM(t.Context(), ids[0], 0)
	require.NoError(t, err)
	require.Equal(t, []string{"terraform-provider-vnf/" + ids[0]}, vault.Names())
	for n, share := range shares {
		require.Len(t, w.records(t, store.KindVIM), 1, n)
		require.NoError(t, w.open(t).ReleaseVIM(t.Context(), ids[0], share))
	}
	require.Empty(t, w.records(t, store.KindVIM))
	require.Empty(t, vault.Names())
}

// TestARegistrationThatFailsTakesNoShare: the VIM of the others stays as it was, and goes with their last share.
func TestARegistrationThatFailsTakesNoShare(t *testing.T) {
	t.Parallel()
	w, vault := newVaultEnv(t)
	id := register(t, w.open(t), sharedVIM("north"))
	vault.Outage = vaulttest.ErrKilled
	_, _, err := w.open(t).RegisterVIM(t.Context(), "", sharedVIM("south"))
	require.ErrorIs(t, err, vaulttest.ErrKilled)
	vault.Outage = nil
	_, err = w.open(t).CheckRegisteredVIM(t.Context(), id, 0)
	require.NoError(t, err)
	require.NoError(t, w.open(t).ReleaseVIM(t.Context(), id, "north"))
	require.Empty(t, w.records(t, store.KindVIM))
}

// TestForeignInstances tells the instances of a configuration, which are read after its vnf_vim, from those of others.
func TestForeignInstances(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	id := register(t, w.Engine, sharedVIM("north"))
	foreign := func(share string, want ...string) {
		t.Helper()
		got, err := w.open(t).ForeignInstances(t.Context(), id, share)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got)
	}
	instance := func(name string) *vnfm.Instance {
		spec := w.spec()
		spec.VIMID, spec.Name = id, name
		return w.mustInstantiate(t, spec)
	}
	ours, theirs := instance("ours"), instance("theirs")
	foreign("north")
	// A refresh reads the vnf_vim first; another configuration knows the id alone.
	refresh, elsewhere := w.open(t), w.open(t)
	_, err := refresh.HoldVIM(t.Context(), id, "north")
	require.NoError(t, err)
	_, err = refresh.Instance(t.Context(), ours.ID)
	require.NoError(t, err)
	_, err = elsewhere.Instance(t.Context(), theirs.ID)
	require.NoError(t, err)
	foreign("north", `VNF instance "theirs" (`+theirs.ID+`)`)
	foreign("")
	// The mark outlives operations, and a second refresh writes nothing.
	spec := w.spec()
	spec.VIMID, spec.Name, spec.LevelID = id, "ours", "large"
	w.mustUpdate(t, ours.ID, spec)
	before := w.records(t, store.KindInstance)
	again := w.open(t)
	_, err = again.HoldVIM(t.Context(), id, "north")
	require.NoError(t, err)
	_, err = again.Instance(t.Context(), ours.ID)
	require.NoError(t, err)
	require.Equal(t, before, w.records(t, store.KindInstance))
	foreign("north", `VNF instance "theirs" (`+theirs.ID+`)`)
	// The VIM stays for those who share it.
	require.Equal(t, id, register(t, w.Engine, sharedVIM("south")))
	foreign("north")
	// A vnf_vim that was imported has another share.
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "south"))
	_, err = again.HoldVIM(t.Context(), id, "imported")
	require.NoError(t, err)
	require.NoError(t, w.ReleaseVIM(t.Context(), id, "north"))
	foreign("imported", `VNF instance "ours" (`+ours.ID+`)`, `VNF instance "theirs" (`+theirs.ID+`)`)
	fresh := w.open(t)
	_, err = fresh.HoldVIM(t.Context(), id, "imported")
	require.NoError(t, err)
	_, err = fresh.Instance(t.Context(), ours.ID)
	require.NoError(t, err)
	foreign("imported", `VNF instance "theirs" (`+theirs.ID+`)`)
}

// TestAKilledRegistrationOfAnotherPlace: a record that nobody has does not keep its name.
func TestAKilledRegistrationOfAnotherPlace(t *testing.T) {
	t.Parallel()
	w, vault := newVaultEnv(t)
	vault.Budget = vaulttest.Steps(1)
	_, _, err := w.open(t).RegisterVIM(t.Context(), "", sharedVIM(""))
	require.ErrorIs(t, err, vaulttest.ErrKilled)
	require.Len(t, w.records(t, store.KindVIM), 1)
	vault.Budget = nil
	spec := sharedVIM("north")
	spec.Kubernetes = &vnfm.KubernetesConnection{Endpoint: "https://192.0.2.1:6443"}
	id := register(t, w.open(t), spec)
	left := w.records(t, store.KindVIM)
	require.Len(t, left, 1)
	require.Equal(t, id, left[0].ID)
	v, err := w.open(t).VIM(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "https://192.0.2.1:6443", v.Kubernetes.Endpoint)
}
