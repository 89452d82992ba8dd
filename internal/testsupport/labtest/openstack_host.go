package labtest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// The user of all servers of the lab.
const (
	ServerUser     = "ubuntu"
	ServerPassword = "ubuntu"
)

// serverPatience is how long a server has to boot.
const serverPatience = 2 * time.Minute

// Shell is a server of the lab, with a session on it.
type Shell struct {
	*remote.Client
	Address string
	pins    *HostKeys
}

// NewServer boots a server of an image on a network of the lab, both by name, and
// returns a session on it. It is gone when the test is over.
func (e OpenStackEnv) NewServer(t testing.TB, name, image, network string) *Shell {
	t.Helper()
	var made struct{ Server struct{ ID string } }
	e.Post(t, "compute", "/servers", map[string]any{"server": map[string]any{
		"name": name, "imageRef": e.Images[image], "flavorRef": e.Flavors["m1.tiny"], "networks": []map[string]any{{"uuid": e.Networks[network]}},
	}}, &made)
	t.Cleanup(func() { e.Delete(t, "compute", "/servers/"+made.Server.ID) })
	deadline := time.Now().Add(serverPatience)
	for {
		var seen struct {
			Server struct {
				Status    string
				Addresses map[string][]struct{ Addr string }
			}
		}
		e.Get(t, "compute", "/servers/"+made.Server.ID, &seen)
		if seen.Server.Status == "ACTIVE" {
			return Login(t, seen.Server.Addresses[network][0].Addr)
		}
		require.NotEqual(t, "ERROR", seen.Server.Status)
		require.False(t, time.Now().After(deadline), "server %s", name)
		require.NoError(t, poll.Sleep(t.Context(), 200*time.Millisecond))
	}
}

// Login opens a session on a server of the lab, whatever its host key is.
func Login(t testing.TB, address string) *Shell {
	t.Helper()
	s := &Shell{Address: address, pins: &HostKeys{}}
	client, err := remote.Dial(t.Context(), remote.Host{Address: address, User: ServerUser, Password: ServerPassword, Pins: s.pins}, serverPatience)
	require.NoError(t, err)
	s.Client = client
	t.Cleanup(func() { _ = client.Close() })
	return s
}

// Try runs a script as root and returns what it says.
func (s *Shell) Try(ctx context.Context, script string) (string, error) {
	result, err := s.Run(ctx, remote.Command{What: "a command of the test", Script: script, Sudo: true, Timeout: time.Minute})
	return result.Stdout, err
}

// Root runs a script as root, which must succeed, and returns what it says.
func (s *Shell) Root(t testing.TB, format string, args ...any) string {
	t.Helper()
	out, err := s.Try(t.Context(), fmt.Sprintf(format, args...))
	require.NoError(t, err, "%s", s.Address)
	return out
}

// Upload brings a file of this machine to the server.
func (s *Shell) Upload(t testing.TB, from, to string) {
	t.Helper()
	file, err := os.Open(from) //nolint:gosec // the test's own
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err == nil {
		err = s.Client.Upload(t.Context(), to, info.Size(), file, 0o600, true)
	}
	require.NoError(t, err)
}
