package registry

import (
	"crypto/tls"
	_ "embed"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	containers "github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
)

// TestMain is the registry in a container of the stand-in for Docker, when its environment says so.
func TestMain(m *testing.M) {
	if address := os.Getenv("STAND_IN_REGISTRY"); address != "" {
		log.Fatal(serve(address))
	}
	os.Exit(m.Run())
}

// serve serves a registry as its environment says, which is that of the real one.
func serve(address string) error {
	handler := containers.New(containers.Logger(log.New(io.Discard, "", 0)))
	if os.Getenv("REGISTRY_AUTH") == "htpasswd" {
		users, err := os.ReadFile(os.Getenv("REGISTRY_AUTH_HTPASSWD_PATH"))
		if err != nil {
			return err
		}
		handler = loggedIn(handler, string(users))
	}
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if certificate := os.Getenv("REGISTRY_HTTP_TLS_CERTIFICATE"); certificate != "" {
		return server.ListenAndServeTLS(certificate, os.Getenv("REGISTRY_HTTP_TLS_KEY"))
	}
	return server.ListenAndServe()
}

func loggedIn(next http.Handler, users string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, _ := r.BasicAuth()
		for line := range strings.Lines(users) {
			user, hash, _ := strings.Cut(strings.TrimSpace(line), ":")
			if user == name && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil {
				next.ServeHTTP(w, r)
				return
			}
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

//go:embed testdata/docker.sh
var dockerStandIn string

// standIns are what cannot run on the machine of a test.
var standIns = map[string]string{
	"docker":  dockerStandIn,
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

// debianHost is a Debian without an engine.
func debianHost(t *testing.T) *hosttest.Host {
	t.Helper()
	h := hosttest.New(t, standIns)
	root := filepath.Join(h.Root, "stand-ins")
	require.NoError(t, os.Rename(filepath.Join(root, "docker"), filepath.Join(root, "docker.later")))
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "registry-stand-in"), program, 0o755)) //nolint:gosec // It is a program.
	h.Write(t, "/run/docker/calls", "")
	t.Cleanup(func() {
		pids, err := filepath.Glob(filepath.Join(h.Root, "run/docker/containers/*/pid"))
		require.NoError(t, err)
		for _, path := range pids {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return h
}

// takeCalls are the calls of engine, systemd and apt since the last time.
func takeCalls(t *testing.T, h *hosttest.Host) string {
	t.Helper()
	text := h.Read(t, "/run/docker/calls")
	h.Write(t, "/run/docker/calls", "")
	return text
}

// fault switches a fault of the stand-ins on or off.
func fault(t *testing.T, h *hosttest.Host, name string, on bool) {
	t.Helper()
	h.Write(t, "/run/docker/faults/"+name, "")
	if !on {
		require.NoError(t, os.Remove(filepath.Join(h.Root, "run/docker/faults", name)))
	}
}

func silent(string) {}
