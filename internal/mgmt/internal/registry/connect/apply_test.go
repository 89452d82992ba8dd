package connect

import (
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// The stand-ins: services that note their calls in /run/calls, a containerd that reads
// its configuration as it is written, and a Docker that has read daemon.json when it was last
// takeCalls to.
var standIns = map[string]string{
	"systemctl": `
case "$1 $2" in
"is-active --quiet") [ -e "/run/$3.active" ] ;;
*)
	echo "$*" >>/run/calls
	case $1 in restart | reload-or-restart) unit=$2 ;; esac
	if [ -e "/run/$unit.broken" ] && grep -q 'config_path = "/' /etc/containerd/config.toml; then rm -f "/run/$unit.active"; exit 1; fi
	: >"/run/$unit.active"
	if [ "$unit" = docker ]; then cp /etc/docker/daemon.json /run/docker.json 2>/dev/null || rm -f /run/docker.json; fi
	;;
esac`,
	"journalctl": `echo "what $* knows"`,
	"containerd": `
config=/etc/containerd/config.toml
if [ "$1" = --config ]; then config=$2; fi
cat "$config"`,
	"dockerd": "",
	"docker":  `[ -e /run/docker.json ] && sed -n 's/^ *"\([^"]*:[0-9]*\)",*$/\1/p' /run/docker.json; true`,
	"crio":    "",
}

// engineHost is a node with all engines.
func engineHost(t *testing.T) *hosttest.Host {
	t.Helper()
	h := hosttest.New(t, standIns)
	for _, unit := range []string{"docker", "containerd", "crio"} {
		h.Write(t, "/run/"+unit+".active", "")
	}
	h.Write(t, "/etc/hosts", "127.0.0.1 localhost\n")
	h.Write(t, containerdConfig, string(text(t, "containerd-2.toml").content))
	h.Write(t, "/var/lib/kubelet/kubeadm-flags.env", `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock"`)
	h.Write(t, dockerAuth, `{"auths":{"ghcr.io":{"auth":"eDp5"}}}`)
	return h
}

func silent(string) {}

// everything is each file of a host below /etc, /root and /var, with its mode.
func everything(t *testing.T, h *hosttest.Host) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, folder := range []string{"etc", "root", "var"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(h.Root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			name := strings.TrimPrefix(path, h.Root)
			sum := sha256.Sum256([]byte(h.Read(t, name)))
			info, err := entry.Info()
			out[name] = h.Mode(t, name).String() + string(sum[:]) + info.ModTime().String()
			return err
		}))
	}
	return out
}

func TestApplyChangeAndRemove(t *testing.T) {
	h := engineHost(t)
	client := h.Dial(t)

	changed, err := Apply(t.Context(), client, both(t), silent)
	require.NoError(t, err)
	assert.Contains(t, changed, "wrote "+containerdConfig)
	assert.Equal(t, []string{"reload-or-restart crio", "reload-or-restart docker", "restart containerd", "restart crio"}, takeCalls(t, h))
	assert.Contains(t, h.Read(t, "/etc/containerd/certs.d/registry.example.com/hosts.toml"), both(t)[1].basic())
	for _, name := range []string{"/etc/containerd/certs.d/registry.example.com/hosts.toml", dockerAuth, kubeletAuth, crioAuth, recordFile} {
		assert.Equal(t, fs.FileMode(0o600), h.Mode(t, name), name)
	}
	for _, command := range h.Commands() {
		assert.NotContains(t, command, "password of user01")
		assert.NotContains(t, command, both(t)[1].basic())
	}

	// Nothing is written and no service told when nothing is to be done.
	before := everything(t, h)
	changed, err = Apply(t.Context(), client, both(t), silent)
	require.NoError(t, err)
	assert.Empty(t, changed)
	assert.Equal(t, before, everything(t, h))
	assert.Empty(t, takeCalls(t, h))

	// Another password is for files that are read at each pull.
	other := both(t)
	other[1].Password = "another password"
	changed, err = Apply(t.Context(), client, other, silent)
	require.NoError(t, err)
	assert.Len(t, changed, 4, "%v", changed)
	assert.Empty(t, takeCalls(t, h))

	changed, err = Apply(t.Context(), client, nil, silent)
	require.NoError(t, err)
	assert.NotEmpty(t, changed)
	assert.Equal(t, "127.0.0.1 localhost\n", h.Read(t, "/etc/hosts"))
	assert.JSONEq(t, `{"auths":{"ghcr.io":{"auth":"eDp5"}}}`, h.Read(t, dockerAuth))
	for _, gone := range []string{recordFile, kubeletAuth, crioAuth, crioDropIn, daemonConfig, "/etc/containerd/certs.d/registry.example.com/hosts.toml"} {
		assert.Empty(t, h.Read(t, gone), gone)
	}
}

// takeCalls are the calls of services since the last time.
func takeCalls(t *testing.T, h *hosttest.Host) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(h.Read(t, "/run/calls")) {
		out = append(out, strings.TrimSpace(line))
	}
	h.Write(t, "/run/calls", "")
	slices.Sort(out)
	return out
}

// An apply that is stopped at any step is finished by the next one.
func TestKillApply(t *testing.T) {
	labtest.FullRun(t, "failures")
	intact := engineHost(t)
	changed, err := Apply(t.Context(), intact.Dial(t), both(t), silent)
	require.NoError(t, err)
	want := content(everything(t, intact))
	sampler := killtest.New(t)
	// After the last step there is nothing left to do.
	for _, number := range sampler.Of(len(changed)-1, 4) {
		t.Run(changed[number], func(t *testing.T) {
			t.Parallel()
			defer sampler.Begin(t, "apply")()
			h := engineHost(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := 0
			_, err := Apply(ctx, h.Dial(t), both(t), func(string) {
				if done++; done == number+1 {
					stop()
				}
			})
			require.ErrorIs(t, err, context.Canceled)
			sampler.Met("apply")
			_, err = Apply(t.Context(), h.Dial(t), both(t), silent)
			require.NoError(t, err)
			assert.Equal(t, want, content(everything(t, h)))
			services := takeCalls(t, h)
			for _, unit := range []string{"reload-or-restart docker", "restart containerd", "restart crio"} {
				assert.Contains(t, services, unit)
			}
		})
	}
}

// content leaves the times out.
func content(files map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		out[name] = text[:len("-rw-------")+sha256.Size]
	}
	return out
}

func TestApplyPutsContainerdBack(t *testing.T) {
	h := engineHost(t)
	h.Write(t, "/run/containerd.broken", "")
	before := h.Read(t, containerdConfig)
	_, err := Apply(t.Context(), h.Dial(t), both(t), silent)
	require.ErrorContains(t, err, "containerd runs with its former configuration again")
	require.ErrorContains(t, err, "what --no-pager -o cat -n 15 -u containerd knows")
	assert.Equal(t, before, h.Read(t, containerdConfig))
}

func TestApplyWantsAnEngine(t *testing.T) {
	h := hosttest.New(t, standIns)
	_, err := Apply(t.Context(), h.Dial(t), both(t), silent)
	require.ErrorContains(t, err, "containerd, Docker or CRI-O must run")
	_, err = Apply(t.Context(), h.Dial(t), nil, silent)
	require.NoError(t, err)
}

// A registry that is reached from the node is one, whatever its users.
func TestVerify(t *testing.T) {
	h := hosttest.New(t, standIns)
	client := h.Dial(t)
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "a" || password != "right" {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(registry.Close)
	server := strings.TrimPrefix(registry.URL, "http://")
	require.NoError(t, Verify(t.Context(), client, []Connection{{Type: HTTP, Server: server, Username: "a", Password: "right"}}))
	require.NoError(t, Verify(t.Context(), client, []Connection{{Type: HTTP, Server: server}}), "a node without a login may have one for each pod")
	err := Verify(t.Context(), client, []Connection{{Type: HTTP, Server: server, Username: "a", Password: "wrong one"}})
	require.ErrorContains(t, err, `rejects user "a"`)
	assert.NotContains(t, err.Error(), "wrong one")
	registry.Close()
	err = Verify(t.Context(), client, []Connection{{Type: HTTP, Server: server}})
	require.ErrorContains(t, err, "registry "+server+" is unreachable from node "+client.Name())
}

func TestVerifyTrusts(t *testing.T) {
	h := hosttest.New(t, standIns)
	registry := httptest.NewTLSServer(http.NotFoundHandler())
	registry.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(registry.Close)
	server := strings.TrimPrefix(registry.URL, "https://")
	err := Verify(t.Context(), h.Dial(t), []Connection{{Type: HTTPS, Server: server, Certificate: authority(t)}})
	require.ErrorContains(t, err, "certificate signed by unknown authority")
}
