package lcm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestPackageIsOpenedOnce decodes the record of a package once as long as it stays as it is, and finds each change of it.
func TestPackageIsOpenedOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	opened := func() *vnfm.Package {
		t.Helper()
		p, err := w.Package(t.Context(), w.pkg.ID)
		require.NoError(t, err)
		return p
	}
	first := opened()
	require.Same(t, first, opened())
	for _, version := range []string{"4.1", "4.2", "4.3", "4.4"} {
		p := w.onboard(t, version)
		_, err := w.Package(t.Context(), p.ID)
		require.NoError(t, err)
	}
	again := opened()
	require.NotSame(t, first, again, "more packages than are kept were opened since")
	require.Equal(t, first.Files, again.Files)

	i := w.mustInstantiate(t, w.spec())
	require.NoError(t, w.ReleasePackage(t.Context(), w.pkg.ID, ""))
	require.True(t, opened().Superseded, "the change of the record was not seen")
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	_, err := w.Package(t.Context(), w.pkg.ID)
	require.ErrorIs(t, err, vnfm.ErrNotFound)
}
