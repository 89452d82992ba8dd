package vnfm_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestClients has one client for one VIM and its credentials, and another one for others.
func TestClients(t *testing.T) {
	t.Parallel()
	var clients vnfm.Clients[int]
	made := 0
	get := func(vim, endpoint, token string) int {
		t.Helper()
		n, err := clients.Get(vim, &vnfm.KubernetesConnection{Endpoint: endpoint}, vnfm.Credentials{"token": vnfm.Secret(token)}, func() (int, error) {
			made++
			return made, nil
		})
		require.NoError(t, err)
		return n
	}
	for i, want := range []int{get("a", "x", "1"), get("b", "x", "1"), get("a", "y", "1"), get("a", "x", "2")} {
		require.Equal(t, want, i+1, "client")
	}
	require.Equal(t, 1, get("a", "x", "1"), "the first client again is number")
	require.Equal(t, 4, made, "the first client again is number")
	failed := errors.New("no certificate")
	for range 2 {
		if _, err := clients.Get("c", "x", nil, func() (int, error) { return 0, failed }); !errors.Is(err, failed) {
			t.Errorf("a client that cannot be made: %v", err)
		}
	}
}
