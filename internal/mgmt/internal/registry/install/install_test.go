package install

import (
	"context"
	"crypto/tls"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/proctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func plain(t *testing.T) Config {
	t.Helper()
	return Config{Port: porttest.Free(t), Archive: archive("Files/images/registry.tar", saved(t, map[string]image{"registry:3": newImage(t, "amd64")}))}
}

func secured(t *testing.T, c Config) Config {
	t.Helper()
	c.Certificate, c.Key = pair(t, nil)
	c.Users = map[string]vnfm.Secret{"reader": "password of reader", "writer": "password of writer"}
	return c
}

// answer asks a registry of a host, which is this machine.
func answer(t *testing.T, c Config, user string) int {
	t.Helper()
	scheme := "http"
	if c.Secure() {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://127.0.0.1:"+strconv.Itoa(c.Port)+"/v2/", http.NoBody)
	require.NoError(t, err)
	if user != "" {
		request.SetBasicAuth(user, c.Users[user].Reveal())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // It has a name of its own.
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestInstall(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	client := h.Dial(t)
	c := plain(t)
	h.Write(t, "/run/docker/locked", "")

	state, err := Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	assert.True(t, state.Installed && state.Running && state.Ready)
	assert.Equal(t, c.Archive.Digest, state.ImageSource)
	assert.Equal(t, "20.10.24", state.EngineVersion)
	assert.Equal(t, http.StatusOK, answer(t, c, ""))
	first := h.TakeCalls(t)
	assert.Contains(t, first, "apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold install ca-certificates docker.io\n")
	assert.NotContains(t, first, "docker-cli", "there is no such package")
	assert.Contains(t, first, "--restart always")
	assert.NoDirExists(t, filepath.Join(h.Root, "var/tmp/private-registry-private_registry"), "the archive stays")

	read, err := Read(t.Context(), client, c)
	require.NoError(t, err)
	assert.Equal(t, state, read)
	assert.NotContains(t, h.TakeCalls(t), "start private_registry")

	// Again, and nothing happens.
	again, err := Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	assert.Equal(t, state, again)
	for line := range strings.Lines(h.TakeCalls(t)) {
		assert.Regexp(t, `^(container inspect|image inspect)`, line)
	}

	// HTTPS and users, on another port.
	c = secured(t, c)
	c.Port = porttest.Free(t)
	drifted, err := Read(t.Context(), client, c)
	require.NoError(t, err)
	assert.Equal(t, []string{"port is " + strconv.Itoa(state.Port) + ", not " + strconv.Itoa(c.Port), "users", "certificate", "key"}, drifted.Drift[:4])
	state, err = Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answer(t, c, "writer"))
	assert.Equal(t, http.StatusUnauthorized, answer(t, c, ""))
	for _, name := range []string{fileKey, fileUsers, fileCertificate, fileNote} {
		assert.Equal(t, fs.FileMode(0o600), h.Mode(t, c.completed().file(name)), name)
	}
	output := h.TakeCalls(t) + strings.Join(h.Commands(), "\n") + h.Read(t, "/run/docker/containers/private_registry/env")
	assert.NotContains(t, output, "password of")
	assert.NotContains(t, output, "load", "the image was there")

	// Without secrets, as a refresh is, it is right all the same.
	known := c
	known.Key, known.Users = "", map[string]vnfm.Secret{"reader": "", "writer": ""}
	read, err = Read(t.Context(), client, known)
	require.NoError(t, err)
	assert.Equal(t, state, read)

	// The host identifies the registry and lists its users, even if the config has none.
	known.Users = nil
	found, err := Find(t.Context(), client, known)
	require.NoError(t, err)
	assert.Equal(t, []string{"reader", "writer"}, found)
	known.Name = "another"
	_, err = Find(t.Context(), client, known)
	require.ErrorIs(t, err, vnfm.ErrNoRegistry)

	users := h.Read(t, c.completed().file(fileUsers))
	c.Users["reader"] = "another password"
	_, err = Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	_, writer, _ := strings.Cut(users, "\n")
	assert.True(t, strings.HasSuffix(h.Read(t, c.completed().file(fileUsers)), writer), "the other user has another hash")
	assert.Equal(t, http.StatusOK, answer(t, c, "reader"))

	// An image of another archive takes the place of the first, which goes.
	c.Archive = archive("Files/images/newer.tar", saved(t, map[string]image{"registry:3": newImage(t, "amd64")}))
	newer, err := Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	assert.NotEqual(t, state.Image, newer.Image)
	assert.Contains(t, h.TakeCalls(t), "image rm "+state.Image)

	h.Write(t, "/var/lib/private_registry/docker/registry/v2/blobs/data", "pushed")
	require.NoError(t, Remove(t.Context(), client, c, false))
	assert.Equal(t, "pushed", h.Read(t, "/var/lib/private_registry/docker/registry/v2/blobs/data"))
	assert.NoDirExists(t, filepath.Join(h.Root, "etc/private-registry"))
	assert.NoDirExists(t, filepath.Join(h.Root, "run/docker/containers/private_registry"))
	require.NoError(t, Remove(t.Context(), client, c, true))
	assert.NoDirExists(t, filepath.Join(h.Root, "var/lib/private_registry"))
	require.NoError(t, Remove(t.Context(), client, c, true), "it is gone already")
}

func TestInstallPulls(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	c := Config{Port: porttest.Free(t), Proxy: Proxy{HTTP: "http://user:password%40@proxy:3128", No: "10.0.0.0/8"}}
	_, err := Apply(t.Context(), h.Dial(t), c, silent)
	require.NoError(t, err)
	assert.Contains(t, h.TakeCalls(t), "pull --quiet docker.io/library/registry:3")
	assert.Contains(t, h.Read(t, "/run/docker/proxies"), "http_proxy=http://user:password%40@proxy:3128")
	c = c.completed()
	assert.Equal(t, "[Service]\nEnvironmentFile=/etc/private-registry/private_registry/proxy.env\n", h.Read(t, c.dropIn()))
	assert.Contains(t, h.Read(t, c.file(fileProxy)), "HTTP_PROXY=http://user:password%40@proxy:3128\n")
	assert.Equal(t, fs.FileMode(0o600), h.Mode(t, c.file(fileProxy)))

	// The daemon hears of another proxy, and of one that goes.
	c.Proxy.HTTPS = "http://proxy:3129"
	_, err = Apply(t.Context(), h.Dial(t), c, silent)
	require.NoError(t, err)
	assert.Contains(t, h.TakeCalls(t), "daemon-reload\nrestart docker.service\n")
	_, err = Apply(t.Context(), h.Dial(t), c, silent)
	require.NoError(t, err)
	assert.NotContains(t, h.TakeCalls(t), "restart docker.service")
	c.Proxy = Proxy{}
	_, err = Apply(t.Context(), h.Dial(t), c, silent)
	require.NoError(t, err)
	assert.Contains(t, h.TakeCalls(t), "daemon-reload\nrestart docker.service\n")
	assert.Empty(t, h.Read(t, c.dropIn()))
}

func TestInstallRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		osRelease, machine string
		texts              []string
	}{
		"another system":  {"ID=rocky\nPRETTY_NAME=\"Rocky Linux 9.4\"\nID_LIKE=\"rhel fedora\"\n", "x86_64", []string{"runs Rocky Linux 9.4", "Debian and Ubuntu only"}},
		"no system":       {"", "x86_64", []string{"a system without /etc/os-release"}},
		"another machine": {"ID=ubuntu\nPRETTY_NAME=\"Ubuntu 24.04\"\n", "riscv64", []string{"type riscv64", "aarch64"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := registrytest.New(t)
			h.Write(t, "/etc/os-release", test.osRelease)
			h.StandIn(t, "uname", "echo "+test.machine)
			_, err := Apply(t.Context(), h.Dial(t), plain(t), silent)
			for _, text := range test.texts {
				require.ErrorContains(t, err, text)
			}
			assert.Empty(t, h.TakeCalls(t), "nothing is done there")
		})
	}
}

// Each error has the original reason. A failure leaves no obstacles behind, and the next run succeeds once the cause is removed.
func TestInstallFaults(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	tests := map[string]struct {
		fault string
		texts []string
	}{
		"packages are missing": {"apt", []string{"docker is missing and cannot be installed from the packages of Debian GNU/Linux 12 (bookworm)", "a registry is run by docker or podman: install one of them on the host", "E: Unable to locate package docker.io"}},
		"disk is full":         {"full", []string{"the disk of root@", "is full: /var/lib has ", "no space left on device"}},
		"container crashes":    {"crash", []string{"the container private_registry does not keep running: it is exited, exit code 2", "panic: storage driver not registered"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := registrytest.New(t)
			c := plain(t)
			h.Fault(t, test.fault, true)
			_, err := Apply(t.Context(), h.Dial(t), c, silent)
			require.Error(t, err)
			for _, text := range test.texts {
				require.ErrorContains(t, err, text)
			}
			assert.NoDirExists(t, filepath.Join(h.Root, "var/tmp/private-registry-private_registry"))
			h.Fault(t, test.fault, false)
			_, err = Apply(t.Context(), h.Dial(t), c, silent)
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, answer(t, c, ""))
		})
	}
}

func TestInstallUnreachableRegistry(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	h.Fault(t, "unreachable", true)
	_, err := Apply(t.Context(), h.Dial(t), Config{Port: porttest.Free(t)}, silent)
	require.ErrorContains(t, err, "lookup registry-1.docker.io: no such host")
	require.ErrorContains(t, err, "give the image as a file of the package in image_path, or a proxy")
}

func TestInstallEngineThatDoesNotStart(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	h.InstallDocker(t)
	h.Fault(t, "daemon", true)
	_, err := Apply(t.Context(), h.Dial(t), plain(t), silent)
	require.ErrorContains(t, err, "docker.service does not start")
	require.ErrorContains(t, err, "the log: --no-pager -o cat -n 20 -u docker.service")
}

func TestInstallPortInUse(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	c := plain(t)
	h.Write(t, "/run/docker/listens", `LISTEN 0 511 0.0.0.0:5000 0.0.0.0:* users:(("nginx",pid=812,fd=6),("nginx",pid=813,fd=6))`)
	_, err := Apply(t.Context(), h.Dial(t), c, silent)
	require.ErrorContains(t, err, "is in use by nginx (pid 812): end that program, or give the registry another port")
}

func TestInstallLeavesContainersOfOthersAlone(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	h.InstallDocker(t)
	h.Write(t, "/run/docker/active", "")
	h.Write(t, "/run/docker/containers/private_registry/digest", "\n")
	_, err := Apply(t.Context(), h.Dial(t), plain(t), silent)
	var conflict *vnfm.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.NoError(t, Remove(t.Context(), h.Dial(t), plain(t), true))
	assert.DirExists(t, filepath.Join(h.Root, "run/docker/containers/private_registry"))
}

func TestInstallImageOfAnotherMachine(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	c := plain(t)
	c.Archive = archive("Files/arm.tar", saved(t, map[string]image{"registry:3": newImage(t, "arm64")}))
	_, err := Apply(t.Context(), h.Dial(t), c, silent)
	require.ErrorContains(t, err, "the image registry:3 in Files/arm.tar is for arm64")
	c.Archive.Size = 1 << 60
	c.Archive.Open = archive("", saved(t, map[string]image{"registry:3": newImage(t, "amd64")})).Open
	_, err = Apply(t.Context(), h.Dial(t), c, silent)
	require.ErrorContains(t, err, "is too full for the image registry:3: /var/tmp has ")
}

func TestInstallDigestThatIsNotTheArchives(t *testing.T) {
	t.Parallel()
	h := registrytest.New(t)
	c := plain(t)
	c.Archive.Digest = "sha256:" + strings.Repeat("0", 64)
	_, err := Apply(t.Context(), h.Dial(t), c, silent)
	require.ErrorContains(t, err, "does not have the digest sha256:000")
	assert.NoDirExists(t, filepath.Join(h.Root, "var/tmp/private-registry-private_registry"))
}

// Changes on the host by others are named and repaired.
func TestDrift(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	h := registrytest.New(t)
	client := h.Dial(t)
	c := secured(t, plain(t))
	want, err := Apply(t.Context(), client, c, silent)
	require.NoError(t, err)
	tests := map[string]struct {
		change func()
		drift  string
	}{
		"files":     {func() { h.Write(t, c.completed().file(fileCertificate), "x") }, "certificate"},
		"a user":    {func() { h.Write(t, c.completed().file(fileUsers), "reader:x\n") }, "users"},
		"the image": {func() { removeAll(t, h.Root, "run/docker/images") }, "image is missing on the host"},
		"note":      {func() { h.Write(t, c.completed().file(fileNote), "{") }, "image is from another file"},
		"container": {func() { end(t, h) }, "the container private_registry does not run"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.change()
			read, err := Read(t.Context(), client, c)
			require.NoError(t, err)
			assert.Contains(t, strings.Join(read.Drift, "\n"), test.drift)
			got, err := Apply(t.Context(), client, c, silent)
			require.NoError(t, err)
			assert.True(t, got.Ready)
			assert.Equal(t, want.Image, got.Image)
			read, err = Read(t.Context(), client, c)
			require.NoError(t, err)
			assert.Empty(t, read.Drift)
		})
	}
}

// An installation that is stopped at any step is finished by the next one.
func TestKillInstall(t *testing.T) {
	t.Parallel()
	labtest.FullRun(t, "failures")
	var steps []string
	_, err := Apply(t.Context(), registrytest.New(t).Dial(t), secured(t, plain(t)), func(line string) { steps = append(steps, line) })
	require.NoError(t, err)
	require.Greater(t, len(steps), 6)
	sampler := killtest.New(t)
	for _, number := range sampler.Of(len(steps), 4) {
		t.Run(steps[number], func(t *testing.T) {
			t.Parallel()
			defer sampler.Begin(t, "install")()
			h := registrytest.New(t)
			c := secured(t, plain(t))
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			done := 0
			state, err := Apply(ctx, h.Dial(t), c, func(string) {
				if done++; done == number+1 {
					interrupt()
				}
			})
			if err == nil {
				// The last step may be over before the interruption reaches it.
				require.Equal(t, len(steps), number+1)
				require.True(t, state.Ready)
			} else {
				require.ErrorIs(t, err, context.Canceled)
				sampler.Met("install")
			}
			state, err = Apply(t.Context(), h.Dial(t), c, silent)
			require.NoError(t, err)
			assert.True(t, state.Ready)
			assert.Equal(t, http.StatusOK, answer(t, c, "writer"))
			h.TakeCalls(t)
			_, err = Apply(t.Context(), h.Dial(t), c, silent)
			require.NoError(t, err)
			assert.NotContains(t, h.TakeCalls(t), "create")
			require.NoError(t, Remove(t.Context(), h.Dial(t), c, true))
		})
	}
}

func removeAll(t *testing.T, root, path string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(root, path)))
}

// end kills the registry, like a user who stops its container.
func end(t *testing.T, h *registrytest.Host) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(h.Read(t, "/run/docker/containers/private_registry/pid")))
	require.NoError(t, err)
	require.NoError(t, proctest.Kill(pid))
}
