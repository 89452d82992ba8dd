// Package hosttest is hosts that management drivers work on, for tests: a folder that
// commands over SSH take for the root of a system. Programs are those of the machine, but for
// the stand-ins that a test brings for what cannot run there, such as systemctl; /etc, /var,
// /root and /run are the test's own, and what is written there is really written.
package hosttest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// Host is a host of a test.
type Host struct {
	*sshtest.Server
	// Root is the folder that is the host's root.
	Root string
}

// occupy makes the mounts of a host in a namespace of their own, of which nobody else sees anything, and holds the namespace until its
// standard input ends. $1 is the root. Engines of the machine are not there.
const occupy = `root=$1
for folder in usr proc dev; do mount --rbind "/$folder" "$root/$folder" || exit 125; done
mount --bind "$root/stand-ins" "$root/usr/local/sbin" || exit 125
for program in docker dockerd podman containerd ctr crio kubelet; do
	for folder in usr/local/bin usr/bin usr/sbin; do
		if [ -e "$root/$folder/$program" ]; then mount --bind /dev/null "$root/$folder/$program" || exit 125; fi
	done
done
chroot "$root" /bin/sh -c 'echo ready' && exec cat`

// enter makes the mounts of a host, which end with the test, and returns what its commands are appended to.
func enter(t testing.TB, root string) []string {
	t.Helper()
	unshare, join := []string{"--mount"}, []string{"--mount"}
	if os.Geteuid() != 0 {
		unshare, join = append(unshare, "--map-root-user"), append(join, "--user", "--preserve-credentials")
	}
	holder := exec.Command("unshare", append(unshare, "/bin/sh", "-c", occupy, "sh", root)...) //nolint:gosec,noctx // Arguments of the test; it ends with its input.
	var said strings.Builder
	holder.Stderr = &said
	input, err := holder.StdinPipe()
	require.NoError(t, err)
	output, err := holder.StdoutPipe()
	require.NoError(t, err)
	if err := holder.Start(); err != nil {
		labtest.Missing(t, "mount namespaces: "+err.Error())
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = holder.Wait()
	})
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "ready\n" {
		_ = input.Close()
		_ = holder.Wait()
		labtest.Missing(t, "mount namespaces: "+strings.TrimSpace(said.String()))
	}
	return slices.Concat([]string{"nsenter", "--target", strconv.Itoa(holder.Process.Pid)}, join, []string{"chroot", root, "/bin/sh", "-c"})
}

// New makes a host with Debian's /etc/os-release and systemd, and with stand-ins: shell
// scripts by the names of the programs. It needs Linux and namespaces.
func New(t testing.TB, standIns map[string]string) *Host {
	t.Helper()
	return NewAt(t, "", 0, standIns)
}

// NewAt makes a host at an address of the loopback network and a port, as sshtest.Options
// have them: several hosts can have the same port.
func NewAt(t testing.TB, address string, port int, standIns map[string]string) *Host {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{
		"usr", "proc", "dev", "etc", "var/lib", "var/tmp", "root", "run/systemd/system", "tmp", "stand-ins",
	} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil { //nolint:gosec // As in any system.
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		require.NoError(t, os.Symlink("usr/"+name, filepath.Join(root, name)))
	}
	h := &Host{Server: sshtest.New(t, sshtest.Options{Address: address, Port: port, Shell: enter(t, root), Password: "debian"}), Root: root}
	for name, script := range standIns {
		h.StandIn(t, name, script)
	}
	h.Write(t, "/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n")
	return h
}

// StandIn gives the host a program, a script of the shell.
func (h *Host) StandIn(t testing.TB, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.Root, "stand-ins", name), []byte("#!/bin/sh\n"+script), 0o755); err != nil { //nolint:gosec // It is a program.
		t.Fatal(err)
	}
}

// Write writes a file of the host.
func (h *Host) Write(t testing.TB, path, content string) {
	t.Helper()
	at := filepath.Join(h.Root, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // As in any system.
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil { //nolint:gosec // As in any system.
		t.Fatal(err)
	}
}

// Read returns a file of the host; empty when there is none.
func (h *Host) Read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(h.Root, path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}

// Mode returns the mode of a file of the host.
func (h *Host) Mode(t testing.TB, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(filepath.Join(h.Root, path))
	require.NoError(t, err)
	return info.Mode().Perm()
}

// Dial connects to the host for as long as the test runs.
func (h *Host) Dial(t testing.TB) *remote.Client {
	t.Helper()
	client, err := remote.Dial(t.Context(), h.Host(), 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
