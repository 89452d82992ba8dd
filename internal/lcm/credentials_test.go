package lcm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/vaulttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func vaultVIM() vnfm.VIMSpec {
	return vnfm.VIMSpec{
		Name: "edge", Type: vnfm.VIMTypeKubernetes,
		Kubernetes:  &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "t0ken-of-the-test"},
	}
}

// newVaultEnv is a store without anything whose keys are in a vault.
func newVaultEnv(t *testing.T) (*env, *vaulttest.Vault) {
	t.Helper()
	vault := vaulttest.New()
	return &env{driver: &driver{objects: map[string]string{}}, dir: t.TempDir(), vault: vault}, vault
}

// TestVIMRegistrationIsKilled stops a registration in the vault at each of its requests.
// The next one leaves one VIM and one key.
func TestVIMRegistrationIsKilled(t *testing.T) {
	for n := range 10 {
		w, vault := newVaultEnv(t)
		vault.Budget = vaulttest.Steps(n)
		_, _, err := w.open(t).RegisterVIM(t.Context(), "", vaultVIM())
		if err != nil && (!errors.Is(err, vaulttest.ErrKilled) || !strings.Contains(err.Error(), `sealing the credentials of VIM "edge"`)) {
			t.Fatal(err)
		}
		vault.Budget = nil
		if err == nil {
			require.NotEqual(t, 0, n, "nothing was asked of the vault")
			return
		}
		e := w.open(t)
		v, _, err := e.RegisterVIM(t.Context(), "", vaultVIM())
		require.NoError(t, err)
		if found, err := e.VIMByName(t.Context(), "edge"); err != nil || found.ID != v.ID {
			t.Errorf("after %d steps: %v, %v", n, found, err)
		}
		require.NoError(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)), "after %d steps", n)
		if got := vault.Names(); len(got) != 1 || got[0] != "terraform-provider-vnf/"+v.ID {
			t.Errorf("after %d steps the vault has %v", n, got)
		}
	}
	t.Fatal("a registration does not end")
}

// TestVaultIsAway leaves nothing of a registration and the key of a deregistration.
func TestVaultIsAway(t *testing.T) {
	w, vault := newVaultEnv(t)
	away := errors.New("the vault is away")
	vault.Outage = away
	e := w.open(t)
	if _, _, err := e.RegisterVIM(t.Context(), "", vaultVIM()); !errors.Is(err, away) {
		t.Errorf("RegisterVIM = %v", err)
	}
	if v, err := e.VIMByName(t.Context(), "edge"); !errors.Is(err, vnfm.ErrNotFound) {
		t.Errorf("left of a registration that failed: %v, %v", v, err)
	}
	vault.Outage = nil
	v, _, err := e.RegisterVIM(t.Context(), "", vaultVIM())
	require.NoError(t, err)
	vault.Outage = away
	if _, _, err := w.open(t).UpdateVIM(t.Context(), v.ID, vaultVIM()); !errors.Is(err, away) {
		t.Errorf("UpdateVIM = %v", err)
	}
	if _, err := w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0); !errors.Is(err, away) || !strings.Contains(err.Error(), `opening the credentials of VIM "edge"`) {
		t.Errorf("CheckRegisteredVIM = %v", err)
	}
	if err := e.DeregisterVIM(t.Context(), v.ID); !errors.Is(err, away) || !strings.Contains(err.Error(), "the key of its credentials is not") {
		t.Errorf("DeregisterVIM = %v", err)
	}
	vault.Outage = nil
	require.NoError(t, w.open(t).DeregisterVIM(t.Context(), v.ID))
	require.Empty(t, vault.Names(), "left in the vault")
}

// TestLostKeyIsReplaced gives the credentials again when their key is gone.
func TestLostKeyIsReplaced(t *testing.T) {
	w, vault := newVaultEnv(t)
	v, _, err := w.open(t).RegisterVIM(t.Context(), "", vaultVIM())
	require.NoError(t, err)
	clear(vault.NameOf)
	clear(vault.Texts)
	e := w.open(t)
	if _, err := e.CheckRegisteredVIM(t.Context(), v.ID, 0); err == nil || !strings.Contains(err.Error(), "its key is gone") || !strings.Contains(err.Error(), "apply again: secrets are then taken from the configuration") {
		t.Errorf("CheckRegisteredVIM = %v", err)
	}
	if _, _, err := e.UpdateVIM(t.Context(), v.ID, vaultVIM()); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, second(w.open(t).CheckRegisteredVIM(t.Context(), v.ID, 0)))
}
