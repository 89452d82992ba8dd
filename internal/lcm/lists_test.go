package lcm_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLists lists records in the order of their creation, filtered by each field and by two at once,
// and dials nothing.
func TestLists(t *testing.T) {
	w := newEnv(t)
	far, instance := w.registerFar(t), w.mustInstantiate(t, w.spec())
	next := w.onboard(t, "2.0")
	require.NoError(t, w.ReleasePackage(t.Context(), w.pkg.ID, ""))
	calls := len(w.driver.calls)
	other := w.open(t)

	vims := func(filter vnfm.VIMFilter) (ids []string) {
		found, err := other.VIMs(t.Context(), filter)
		require.NoError(t, err)
		for _, v := range found {
			ids = append(ids, v.ID)
		}
		return ids
	}
	require.Equal(t, []string{w.vimID, far}, vims(vnfm.VIMFilter{}))
	require.Equal(t, []string{far}, vims(vnfm.VIMFilter{Name: "far", Type: vnfm.VIMTypeKubernetes}))
	require.Equal(t, []string{w.vimID, far}, vims(vnfm.VIMFilter{Type: vnfm.VIMTypeKubernetes}))
	require.Empty(t, vims(vnfm.VIMFilter{Name: "far", Type: vnfm.VIMTypeOpenStack}))

	packages := func(filter vnfm.PackageFilter) (ids []string) {
		found, err := other.Packages(t.Context(), filter)
		require.NoError(t, err)
		for _, p := range found {
			require.Equal(t, p.ID == w.pkg.ID, p.Superseded)
			ids = append(ids, p.ID)
		}
		return ids
	}
	require.Equal(t, []string{w.pkg.ID, next.ID}, packages(vnfm.PackageFilter{}))
	require.Equal(t, []string{w.pkg.ID, next.ID}, packages(vnfm.PackageFilter{Name: "test", VNFDID: "test"}))
	require.Empty(t, packages(vnfm.PackageFilter{Name: "test", VNFDID: "none"}))
	require.Empty(t, packages(vnfm.PackageFilter{Name: "none"}))

	instances := func(filter vnfm.InstanceFilter) (ids []string) {
		found, err := other.Instances(t.Context(), filter)
		require.NoError(t, err)
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		return ids
	}
	require.Equal(t, []string{instance.ID}, instances(vnfm.InstanceFilter{Kind: vnfm.NetworkFunction, VIMID: w.vimID, PackageID: w.pkg.ID}))
	require.Empty(t, instances(vnfm.InstanceFilter{Kind: vnfm.WorkloadCluster}))
	require.Empty(t, instances(vnfm.InstanceFilter{Kind: vnfm.NetworkFunction, VIMID: far}))
	require.Len(t, w.driver.calls, calls, "a list dials no VIM")
}

// TestRegistriesAreListed lists private registries without their secrets, for which no key is needed.
func TestRegistriesAreListed(t *testing.T) {
	dir := t.TempDir()
	open := func(key string) *lcm.Engine {
		return newEngine(t, dir, lcm.Config{Keyring: keyring(t, seal.Source{DefaultKeyFile: filepath.Join(dir, key)}), Registries: &busyHosts{}}, nil)
	}
	e := open("key.txt")
	var ids []string
	for _, host := range []string{"192.0.2.1", "192.0.2.2"} {
		r, err := e.InstallRegistry(t.Context(), "", vnfm.RegistrySpec{Name: "r", SSH: vnfm.SSHAccess{Address: host, User: "u", Password: "planted"}})
		require.NoError(t, err)
		ids = append(ids, r.ID)
	}
	other := open("other.txt")
	list := func(filter vnfm.RegistryFilter) (listed []string) {
		found, err := other.Registries(t.Context(), filter)
		require.NoError(t, err)
		for i := range found {
			require.Empty(t, found[i].Spec.Secrets())
			listed = append(listed, found[i].ID)
		}
		return listed
	}
	require.Equal(t, ids, list(vnfm.RegistryFilter{}))
	require.Equal(t, ids, list(vnfm.RegistryFilter{Name: "r"}))
	require.Equal(t, ids[1:], list(vnfm.RegistryFilter{Name: "r", Host: "192.0.2.2"}))
	require.Empty(t, list(vnfm.RegistryFilter{InstanceID: "none"}))
}
