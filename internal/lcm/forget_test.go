package lcm

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// anyVIM is an infra driver that can be asked for its VIM and nothing else.
type anyVIM struct{ vnfm.InfraDriver }

func (anyVIM) Params() vnfm.InfraParams { return vnfm.InfraParams{} }

func (anyVIM) CheckVIM(context.Context, vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return vnfm.VIMCheck{}, nil
}

// TestForgets: what the instance says goes before what its VIM says, and that before what the provider says.
func TestForgets(t *testing.T) {
	dir := t.TempDir()
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(dir, "key.txt")})
	require.NoError(t, err)
	e := New(Config{
		OpenStore: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(dir, "store.db"), "test")
		},
		Keyring: keys, Drivers: map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: anyVIM{}},
	})
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	const unset, fail, forget = vnfm.OnUnreachable(""), vnfm.OnUnreachableFail, vnfm.OnUnreachableForget
	vim, _, err := e.RegisterVIM(t.Context(), "", vnfm.VIMSpec{
		Name: "edge", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://127.0.0.1:6443"},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "t0ken-of-the-test"},
	})
	require.NoError(t, err)
	for _, c := range []struct {
		own, vim, provider vnfm.OnUnreachable
		want               bool
	}{
		{unset, unset, unset, false},
		{unset, unset, fail, false},
		{unset, unset, forget, true},
		{unset, forget, fail, true},
		{unset, fail, forget, false},
		{forget, fail, fail, true},
		{forget, unset, fail, true},
		{fail, forget, forget, false},
		{fail, unset, forget, false},
	} {
		require.NoError(t, e.SetOnUnreachable(t.Context(), vim.ID, c.vim))
		require.Equal(t, c.want, e.forgets(t.Context(), vim.ID, c.own, c.provider), "%+v", c)
	}
	require.True(t, e.forgets(t.Context(), "lost", unset, forget), "a VIM without a record says nothing")
	require.False(t, e.forgets(t.Context(), "lost", fail, forget))
}
