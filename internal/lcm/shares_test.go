package lcm_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAPackageBelongsToEveryResource gives up the shares of a package one by one: it stays until the last share and the
// last instance are gone.
func TestAPackageBelongsToEveryResource(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	dir := filepath.Join(w.sources, "shared")
	writePackage(t, dir, "3.0")
	onboard := func(share string) *vnfm.Package {
		p, problems, err := w.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "shared", Source: dir, Integrity: "enforce", Signature: "verify_if_present", Share: share}, "")
		require.NoError(t, errors.Join(err, problems.Err()))
		return p
	}
	there := func(p *vnfm.Package, want bool) {
		t.Helper()
		_, err := w.open(t).Package(t.Context(), p.ID)
		if want {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, vnfm.ErrNotFound)
	}
	p := onboard("north")
	require.Equal(t, p.ID, onboard("south").ID)
	onboard("south")
	held, err := w.HoldPackage(t.Context(), p.ID, "imported")
	require.NoError(t, err)
	require.Equal(t, p.ID, held.ID)
	for _, share := range []string{"north", "north", "of nobody", "imported"} {
		require.NoError(t, w.ReleasePackage(t.Context(), p.ID, share))
		there(p, true)
	}
	require.NoError(t, w.ReleasePackage(t.Context(), p.ID, "south"))
	there(p, false)
	require.NoError(t, w.ReleasePackage(t.Context(), p.ID, "south"))
	_, err = w.HoldPackage(t.Context(), p.ID, "late")
	require.ErrorIs(t, err, vnfm.ErrNotFound)

	onboard("north")
	spec := w.spec()
	spec.PackageID = p.ID
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	require.NoError(t, w.ReleasePackage(t.Context(), p.ID, "north"))
	there(p, true)
	// A package that is onboarded again outlives its instance.
	onboard("south")
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	there(p, true)
	require.NoError(t, w.ReleasePackage(t.Context(), p.ID, "south"))
	there(p, false)
}

// TestARefreshReadsAPackageOnce counts the reads of a refresh, which are requests in a remote store.
func TestARefreshReadsAPackageOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	dir := filepath.Join(w.sources, "counted")
	writePackage(t, dir, "3.0")
	p, problems, err := w.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "counted", Source: dir, Integrity: "enforce", Signature: "verify_if_present", Share: "one"}, "")
	require.NoError(t, errors.Join(err, problems.Err()))
	_, err = w.HoldPackage(t.Context(), p.ID, "one")
	require.NoError(t, err)
	var asked []string
	held, err := w.watch(t, func(what string) { asked = append(asked, what) }, asItIs).HoldPackage(t.Context(), p.ID, "one")
	require.NoError(t, err)
	require.NotNil(t, held.Content)
	require.Equal(t, []string{"get package"}, asked)
}
