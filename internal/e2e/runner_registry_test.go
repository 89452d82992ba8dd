//go:build unix

package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

const registryAddress = "vnf_private_registry.test"

// TestAccRunners_registry leads a private registry through its life, on a host with Docker. Where the store keeps no password each runner
// has an SSH agent.
func TestAccRunners_registry(t *testing.T) {
	t.Parallel()
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	eachStore(t, func(t *testing.T, name string) *life {
		t.Helper()
		env := newEnv(t)
		host := lab.NewServer(t, "registry-"+name, labtest.OpenStackDockerImage, "net0")
		image, err := os.ReadFile(lab.RegistryArchive)
		require.NoError(t, err)
		archive := filepath.Join(t.TempDir(), "registry.tar")
		require.NoError(t, os.WriteFile(archive, image, 0o600))
		env.useRemote(t, name)
		env.ownUsers(t, archive)
		login := fmt.Sprintf("username = %q, password_wo = %q, password_wo_version = 1", labtest.ServerUser, labtest.ServerPassword)
		if env.forgetful {
			login = fmt.Sprintf("username = %q, use_agent = true", labtest.ServerUser)
			env.variables = []string{"SSH_AUTH_SOCK=" + sshAgent(t, host)}
		}
		configure := func(port int) {
			env.write(env.provider(), fmt.Sprintf(`
resource "vnf_private_registry" "test" {
  host       = %q
  port       = %d
  ssh        = { %s }
  image_path = %q
}
`, host.Address, port, login, archive))
		}
		return &life{
			env: env, address: registryAddress,
			made:    func() { configure(5000) },
			changed: func() { configure(5001) },
			drift:   func() { host.Root(t, "docker rm -f private_registry") },
			parts: func() map[string]string {
				return map[string]string{"the storage": host.Root(t, "stat -c %%i /var/lib/private_registry")}
			},
			check: func(changed bool) {
				url := fmt.Sprintf("http://%s:%d", host.Address, map[bool]int{false: 5000, true: 5001}[changed])
				status, err := labtest.RegistryStatus(t.Context(), url, "", "")
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, status)
			},
			gone: func() {
				require.Empty(t, strings.TrimSpace(host.Root(t, "docker ps -aq; ls -d /etc/private-registry/private_registry 2>/dev/null || true")))
				require.Empty(t, env.list(store.KindRegistry))
			},
		}
	})
}

// sshAgent is the path of the socket of an agent with a key that the host takes.
func sshAgent(t *testing.T, host *labtest.Shell) string {
	t.Helper()
	signer, private := sshtest.NewKey(t)
	host.Root(t, "install -d -o %[1]s -m 700 ~%[1]s/.ssh && echo '%[2]s' >>~%[1]s/.ssh/authorized_keys && chown %[1]s ~%[1]s/.ssh/authorized_keys",
		labtest.ServerUser, sshtest.Line(signer.PublicKey()))
	key, err := ssh.ParseRawPrivateKey([]byte(private.Reveal()))
	require.NoError(t, err)
	ring := agent.NewKeyring()
	require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	// The path of a socket is short.
	dir, err := os.MkdirTemp("", "vnf-agent-*") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "agent")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	reachable(t, socket)
	require.NoError(t, os.Chmod(socket, 0o666)) //nolint:gosec // runners are other users
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	return socket
}
