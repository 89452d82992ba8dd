package lcm_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// encodedStore is what every store is.
type encodedStore interface {
	store.Store
	store.EncodedBlobs
}

// newEngine returns an engine over the store in a directory, with the keys that are there unless cfg has others. wrap, when set, is put
// around the store.
func newEngine(t *testing.T, dir string, cfg lcm.Config, wrap func(encodedStore) store.Store) *lcm.Engine {
	t.Helper()
	if cfg.Keyring == nil {
		cfg.Keyring = keyring(t, seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")})
	}
	cfg.OpenStore = func(ctx context.Context) (store.Store, error) {
		db, err := sqlite.Open(ctx, filepath.Join(dir, "store.db"), "test")
		if err != nil || wrap == nil {
			return db, err
		}
		encoded, ok := db.(encodedStore)
		if !ok {
			return nil, errors.New("the store keeps no encoded contents")
		}
		return wrap(encoded), nil
	}
	e := lcm.New(cfg)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func keyring(t *testing.T, source seal.Source) *seal.Keyring {
	t.Helper()
	keys, err := seal.New(source)
	require.NoError(t, err)
	return keys
}

// opened is the store in a directory, as another process has it.
func opened(t *testing.T, dir string) encodedStore {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	encoded, ok := db.(encodedStore)
	require.True(t, ok, "the store keeps no encoded contents")
	return encoded
}

func onKubernetes(d vnfm.InfraDriver) map[vnfm.VIMType]vnfm.InfraDriver {
	return map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: d}
}

// over returns another engine on the same store, which is wrapped.
func (w *env) over(t *testing.T, wrap func(encodedStore) store.Store) *lcm.Engine {
	t.Helper()
	return newEngine(t, w.dir, lcm.Config{Drivers: onKubernetes(w.driver)}, wrap)
}

// lost returns the same VIM without its store, in which the VIM is registered again under its id.
func (w *env) lost(t *testing.T) *env {
	t.Helper()
	other := &env{driver: w.driver, dir: t.TempDir(), sources: w.sources, management: w.management, vimID: w.vimID}
	other.Engine = other.open(t)
	_, _, err := other.RegisterVIM(t.Context(), w.vimID, vaultVIM())
	require.NoError(t, err)
	return other
}

// does has a driver call a function at a point, which says how the driver goes on.
func (d *driver) does(at string, do func() error) {
	d.fail = func(point string) error {
		if point != at {
			return nil
		}
		return do()
	}
}

// breaks has a driver fail at a point.
func (d *driver) breaks(at string) {
	d.does(at, func() error { return errBroken })
}

// called is how often a driver has come to a point.
func (d *driver) called(at string) (times int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, point := range d.calls {
		if point == at {
			times++
		}
	}
	return times
}

// failedInstance is the instance that a failed operation has left.
func failedInstance(t *testing.T, err error) *vnfm.Instance {
	t.Helper()
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed)
	require.NotNil(t, failed.Instance)
	return failed.Instance
}
