// Package registrytest serves OCI layouts as a registry, and makes hosts on which tests install private registries.
// The engine of such a host is a stand-in for Docker. Its containers are processes of the test's own program that
// serve an empty registry with the real one's settings for address, TLS and users.
package registrytest

import (
	_ "embed" // the stand-in
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/proctest"
)

//go:embed docker.sh
var docker string

// standIns are what cannot run on the machine of a test.
var standIns = map[string]string{
	"docker":  docker,
	"dockerd": "",
	"systemctl": `
echo "$*" >>/run/docker/calls
case "$1 $2" in
"is-active --quiet") [ -e /run/docker/active ] ;;
"start docker.service" | "restart docker.service") [ ! -e /run/docker/faults/daemon ] && : >/run/docker/active ;;
esac`,
	"journalctl": `echo "the log: $*"`,
	"ss":         `cat /run/docker/listens 2>/dev/null`,
	"uname":      "echo x86_64",
	"dpkg":       "",
	"apt-cache":  "false",
	"apt-get": `
echo "apt-get $*" >>/run/docker/calls
env | grep -i proxy >>/run/docker/proxies
case "$*" in *" install "*)
	if [ -e /run/docker/locked ]; then rm /run/docker/locked; echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7" >&2; exit 100; fi
	if [ -e /run/docker/faults/apt ]; then echo "Reading package lists..."; echo "E: Unable to locate package docker.io" >&2; exit 100; fi
	cp /stand-ins/docker.later /usr/local/sbin/docker
	: >/run/docker/active ;;
esac`,
}

// Host is a Debian, as root@127.0.0.1 reaches it.
type Host struct{ *hosttest.Host }

// New makes a host without an engine, which its apt-get installs. TestMain of the package calls Serve.
func New(t testing.TB) *Host {
	t.Helper()
	h := &Host{hosttest.New(t, standIns)}
	root := filepath.Join(h.Root, "stand-ins")
	require.NoError(t, os.Rename(filepath.Join(root, "docker"), filepath.Join(root, "docker.later")))
	require.NoError(t, provide(filepath.Join(root, "registry-stand-in")))
	h.Write(t, "/run/docker/calls", "")
	t.Cleanup(func() { h.killAll(t) })
	return h
}

// provide puts the program of the test where a host finds it: a link where that can be, which costs nothing.
func provide(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if os.Link(self, path) == nil {
		return nil
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755) //nolint:gosec // It is a program.
}

// killAll ends the containers of the host.
func (h *Host) killAll(t testing.TB) {
	pids, err := filepath.Glob(filepath.Join(h.Root, "run/docker/containers/*/pid"))
	require.NoError(t, err)
	for _, path := range pids {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = proctest.Kill(pid)
		}
	}
}

// InstallDocker gives the host its engine, which does not run yet.
func (h *Host) InstallDocker(t testing.TB) {
	t.Helper()
	h.StandIn(t, "docker", docker)
}

// TakeCalls are the calls of engine, systemd and apt since the last time.
func (h *Host) TakeCalls(t testing.TB) string {
	t.Helper()
	text := h.Read(t, "/run/docker/calls")
	h.Write(t, "/run/docker/calls", "")
	return text
}

// Fault switches a fault of the stand-ins on or off: apt (no such package), full (disk), unreachable (registry of the image), crash
// (container) or daemon (does not start).
func (h *Host) Fault(t testing.TB, name string, on bool) {
	t.Helper()
	path := "/run/docker/faults/" + name
	if on {
		h.Write(t, path, "")
		return
	}
	if err := os.Remove(filepath.Join(h.Root, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}
