package seal_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/storetest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// inBarbican is a source of keys in the Barbican of the lab.
func inBarbican(t *testing.T) seal.Source {
	t.Helper()
	env := labtest.OpenStackCompute(t)
	user := env.Users[labtest.OpenStackNFV]
	vault, err := openstack.NewKeyManager(openstack.Config{
		Connection:  vnfm.OpenStackConnection{AuthURL: env.AuthURL, Username: user.Name, ProjectName: user.Project},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
	})
	require.NoError(t, err)
	return seal.Source{Vault: vault, DefaultKeyFile: filepath.Join(t.TempDir(), "key.txt")}
}

// newPlace is the path of a store whose key is removed from Barbican after the test.
func newPlace(t *testing.T, src seal.Source) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state", "store.db")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s, err := sqlite.Open(ctx, path, "test")
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close() //nolint:errcheck // The test is over.
		rec, err := s.Get(ctx, store.KindKey, "contents")
		if err != nil {
			return
		}
		var owner struct {
			Owner string `json:"owner"`
		}
		keys, err := seal.New(src)
		if err == nil {
			err = json.Unmarshal(rec.Data, &owner)
		}
		if err == nil {
			err = keys.Forget(ctx, owner.Owner)
		}
		require.NoError(t, err)
	})
	return path
}

// TestBarbicanConformance runs the suite with keys in Barbican.
func TestBarbicanConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("only the source of the keys differs from TestConformance: nothing more runs at once")
	}
	src := inBarbican(t)
	storetest.Run(t, storetest.Backend{
		New: func(t *testing.T) string { return newPlace(t, src) },
		Open: func(ctx context.Context, path string) (store.Store, error) {
			s, err := sqlite.OpenBriefly(ctx, path, lease)
			if err != nil {
				return nil, err
			}
			keys, err := seal.New(src)
			if err != nil {
				return nil, err
			}
			return seal.NewStore(s, keys), nil
		},
		Lease: lease,
		// As in TestConformance.
		Records: 300,
	})
}

// TestBarbicanPlantedSecretsAreNowhere is the search with keys in Barbican.
func TestBarbicanPlantedSecretsAreNowhere(t *testing.T) {
	src, vim := inBarbican(t), uuid.NewString()
	t.Cleanup(func() {
		keys, err := seal.New(src)
		if err == nil {
			err = keys.Forget(context.WithoutCancel(t.Context()), vim)
		}
		require.NoError(t, err)
	})
	path := newPlace(t, src)
	plantAndSearch(t, path, src, vim)
	require.Equal(t, 0, grep(t, filepath.Dir(path), "AGE-SECRET-KEY-1"), "files hold a key")
}
