package remote_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// TestIsGone tells a host that is gone from one that lets nobody in.
func TestIsGone(t *testing.T) {
	t.Parallel()
	server, stopped := sshtest.New(t, sshtest.Options{}), sshtest.New(t, sshtest.Options{})
	stopped.Stop()
	another, _ := sshtest.NewKey(t)
	for name, c := range map[string]struct {
		change func(h *remote.Host)
		dial   bool
		probe  bool
	}{
		"stopped":            {change: func(h *remote.Host) { *h = stopped.Host() }, dial: true, probe: true},
		"jump host stopped":  {change: func(h *remote.Host) { h.Jump = new(stopped.Host()) }, dial: true, probe: true},
		"another host key":   {change: func(h *remote.Host) { h.HostKeys = []string{sshtest.Line(another.PublicKey())} }, dial: true},
		"unknown host key":   {change: func(h *remote.Host) { h.HostKeys, h.Pins, h.Strict = nil, &labtest.HostKeys{}, true }},
		"rejected password":  {change: func(h *remote.Host) { h.Password = "wrong" }},
		"login not complete": {change: func(h *remote.Host) { h.Password = "" }},
		"there":              {change: func(*remote.Host) {}},
	} {
		t.Run(name, func(t *testing.T) {
			h := server.Host()
			c.change(&h)
			client, err := remote.Dial(t.Context(), h, 0)
			if err == nil {
				require.NoError(t, client.Close())
			}
			require.Equal(t, c.dial, remote.IsGone(err), "%v", err)
			err = remote.Probe(t.Context(), h)
			require.Equal(t, c.probe, remote.IsGone(err), "%v", err)
			require.Equal(t, c.probe, err != nil)
		})
	}
	require.True(t, remote.IsGone(fmt.Errorf("connecting: %w", &net.DNSError{IsNotFound: true})))
	require.False(t, remote.IsGone(fmt.Errorf("connecting: %w", &net.DNSError{IsTemporary: true})))
}
