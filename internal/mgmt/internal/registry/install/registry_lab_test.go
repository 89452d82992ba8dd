package install_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/install"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// serverPatience bounds the boot of a server on a loaded machine.
const serverPatience = 3 * time.Minute

// TestRegistryOfServer has the real Docker of servers run the real registry,
// which other servers push to and pull from.
func TestRegistryOfServer(t *testing.T) {
	t.Parallel()
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	first, second := newServer(t, lab, "registry"), newServer(t, lab, "node")
	host, node := first.dial(t), second.dial(t)
	c := install.Config{Archive: fileArchive(t, lab.RegistryArchive)}
	require.Empty(t, c.Check())
	server := first.address(t) + ":5000"

	state, err := install.Apply(t.Context(), host, c, logLines(t))
	require.NoError(t, err)
	assert.True(t, state.Ready)
	process := shell(t, host, "docker inspect --format '{{.State.Pid}} {{.State.StartedAt}}' private_registry")
	again, err := install.Apply(t.Context(), host, c, logLines(t))
	require.NoError(t, err)
	assert.Equal(t, state, again)
	assert.Equal(t, process, shell(t, host, "docker inspect --format '{{.State.Pid}} {{.State.StartedAt}}' private_registry"))

	// HTTP.
	connections := []connect.Connection{{Type: connect.HTTP, Server: server}}
	require.NoError(t, connect.Verify(t.Context(), node, connections))
	apply(t, node, connections)
	send(t, node, lab.SampleArchive, "docker load")
	sample := server + "/sample:1"
	shell(t, node, fmt.Sprintf("docker tag sample:latest %[1]s && docker push %[1]s && docker rmi %[1]s", sample))
	assert.Equal(t, "hello\n", shell(t, node, "docker run --rm --pull always "+sample+" echo hello 2>/dev/null"))

	// HTTPS with users takes its place and has the same images.
	authority, certificate, key := registrytest.Certificates(t, "registry.example.com")
	c.Certificate, c.Key = certificate, vnfm.Secret(key)
	c.Users = map[string]vnfm.Secret{"user01": "the password of user01"}
	state, err = install.Apply(t.Context(), host, c, logLines(t))
	require.NoError(t, err)
	assert.True(t, state.Ready)
	connections = []connect.Connection{{
		Type: connect.HTTPS, Server: "registry.example.com:5000", Username: "user01", Password: c.Users["user01"], Certificate: authority,
		HostsString: first.address(t) + " registry.example.com",
	}}
	// As on a node whose kubelet uses containerd, though Docker is there too, and whose containerd names mirrors, as kubespray did up to 2.26.
	shell(t, node, `mkdir -p /etc/containerd/certs.d/docker.io && echo 'server = "https://docker.io"' >/etc/containerd/certs.d/docker.io/hosts.toml
printf '%s\n' 'version = 2' '[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]' 'endpoint = ["https://mirror.example.com"]' >/etc/containerd/config.toml
systemctl restart containerd`)
	require.Contains(t, shell(t, node, "containerd config dump"), "mirror.example.com")
	shell(t, node, `mkdir -p /var/lib/kubelet && echo 'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock"' >/var/lib/kubelet/kubeadm-flags.env`)
	changed := apply(t, node, connections)
	assert.Contains(t, changed, "restarted containerd")
	assert.Contains(t, changed, "removed /etc/docker/daemon.json")
	require.NoError(t, connect.Verify(t.Context(), node, connections))
	sample = "registry.example.com:5000/sample:1"
	assert.Equal(t, "hello\n", shell(t, node, "docker run --rm --pull always "+sample+" echo hello 2>/dev/null"))
	assert.Contains(t, shell(t, node, "docker --config /tmp/nobody pull "+sample+" 2>&1 || true"), "no basic auth credentials")
	assert.Contains(t, shell(t, node, "containerd config dump"), `config_path = "/etc/containerd/certs.d"`)
	assert.NotContains(t, shell(t, node, "containerd config dump"), "mirror.example.com", "containerd refuses mirrors beside config_path")
	shell(t, node, "ctr images pull --hosts-dir /etc/containerd/certs.d "+sample)
	assert.Contains(t, shell(t, node, "ctr images pull "+sample+" 2>&1 || true"), "x509: certificate signed by unknown authority")
	for _, line := range []string{
		"docker inspect private_registry", "docker logs private_registry 2>&1", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", "journalctl --no-pager -o cat",
		"find / -xdev -type f -perm /077 -newer /etc/os-release -exec grep -l 'the password of user01' {} + 2>/dev/null || true",
	} {
		assert.NotContains(t, shell(t, host, line), "the password of user01", line)
	}
	wrong := connections[0]
	wrong.Password = "another one"
	require.ErrorContains(t, connect.Verify(t.Context(), node, []connect.Connection{wrong}), `rejects user "user01"`)

	// A killed registry is restarted by its engine. A stopped one is reported as drift, and the next apply starts it.
	process = shell(t, host, "docker inspect --format '{{.State.Pid}}' private_registry")
	shell(t, host, "kill -9 "+process)
	labtest.Eventually(t, serverPatience, "another process", func() error {
		read, err := install.Read(t.Context(), host, c)
		if err != nil || !read.Ready {
			return fmt.Errorf("it is %v: %w", read.Drift, err)
		}
		return nil
	})
	shell(t, host, "docker stop private_registry")
	read, err := install.Read(t.Context(), host, c)
	require.NoError(t, err)
	assert.True(t, read.Installed)
	assert.Contains(t, strings.Join(read.Drift, "\n"), "the container private_registry does not run: it is exited, exit code")
	_, err = install.Apply(t.Context(), host, c, logLines(t))
	require.NoError(t, err)
	shell(t, node, "docker rmi "+sample+" && docker pull "+sample)

	// A second registry on another port of the host.
	beside := c
	beside.Name, beside.Port = "beside", 5001
	state, err = install.Apply(t.Context(), host, beside, logLines(t))
	require.NoError(t, err)
	assert.True(t, state.Ready)

	failures(t, host, c)
	require.NoError(t, install.Remove(t.Context(), host, beside, true))
	interrupted(t, host, beside)

	require.NoError(t, install.Remove(t.Context(), host, beside, true))
	require.NoError(t, install.Remove(t.Context(), host, c, false))
	assert.NotEmpty(t, shell(t, host, "find /var/lib/private_registry -type f"))
	assert.Empty(t, shell(t, host, "docker ps -aq; ls -d /etc/private-registry /var/lib/beside 2>/dev/null || true"))
	_, err = install.Apply(t.Context(), host, c, logLines(t))
	require.NoError(t, err)
	shell(t, node, "docker rmi "+sample+" && docker pull "+sample)
	require.NoError(t, install.Remove(t.Context(), host, c, true))
	require.NoError(t, install.Remove(t.Context(), host, c, true))
	assert.Empty(t, shell(t, host, "ls -d /var/lib/private_registry 2>/dev/null || true"))
	require.ErrorContains(t, connect.Verify(t.Context(), node, connections), "registry registry.example.com:5000 is unreachable from node")

	apply(t, node, nil)
	assert.NotContains(t, shell(t, node, "cat /etc/hosts; find /etc/docker /etc/containerd /root/.docker /var/lib/kubelet /var/lib/terraform-provider-vnf 2>/dev/null || true"), "registry.example.com")
}

// failures provokes real failures and checks their errors.
func failures(t *testing.T, host *remote.Client, c install.Config) {
	t.Helper()
	other := install.Config{Name: "other", Port: 5002, Archive: c.Archive}
	shell(t, host, "systemd-run --quiet --unit listener python3 -m http.server 5002 && for i in 1 2 3 4 5 6 7 8 9 10; do ss -Hltn 'sport = :5002' | grep -q . && break; sleep 1; done")
	_, err := install.Apply(t.Context(), host, other, logLines(t))
	require.ErrorContains(t, err, "port 5002 of "+host.Name()+" is in use by python3 (pid ")
	shell(t, host, "systemctl stop listener && mount -t tmpfs -o size=1m none /var/tmp")
	other.Archive = fileArchive(t, writeAgain(t, c.Archive))
	_, err = install.Apply(t.Context(), host, other, logLines(t))
	require.ErrorContains(t, err, "is too full for the image registry:latest: /var/tmp has 1 MiB free")
	shell(t, host, "umount /var/tmp")
	other.Runtime = install.Podman
	_, err = install.Apply(t.Context(), host, other, logLines(t))
	require.ErrorContains(t, err, "podman is missing and cannot be installed from the packages of Debian GNU/Linux 12 (bookworm)")
	require.ErrorContains(t, err, "E: ")
	other.Runtime, other.Archive, other.Image = install.Docker, nil, "127.0.0.1:1/nobody/registry:1"
	_, err = install.Apply(t.Context(), host, other, logLines(t))
	require.ErrorContains(t, err, "connection refused")
	require.NoError(t, install.Remove(t.Context(), host, other, true))
}

// interrupted stops an installation again and again, each time some steps further: at every
// step in a soak.
func interrupted(t *testing.T, host *remote.Client, c install.Config) {
	t.Helper()
	sampler := killtest.New(t)
	further := 4
	if sampler.Soak() {
		further = 1
	}
	for step := 1; ; step += 1 + sampler.IntN(further) {
		ctx, stop := context.WithCancel(t.Context())
		done := 0
		state, err := install.Apply(ctx, host, c, func(line string) {
			if done++; done == step {
				t.Log("stopped at: " + line)
				stop()
			}
		})
		stop()
		if err == nil {
			assert.True(t, state.Ready)
			assert.Greater(t, step, 1)
			break
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	read, err := install.Read(t.Context(), host, c)
	require.NoError(t, err)
	assert.Empty(t, read.Drift)
	assert.Empty(t, shell(t, host, "ls -d /var/tmp/private-registry-* 2>/dev/null || true"))
}

// writeAgain is an archive of other bytes with the same images.
func writeAgain(t *testing.T, a *install.Archive) string {
	t.Helper()
	file, err := a.Open()
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	require.NoError(t, err)
	path := t.TempDir() + "/again.tar"
	// A tar archive ends in blocks of zeros, of which there may be more.
	require.NoError(t, os.WriteFile(path, append(content, make([]byte, 10240)...), 0o600))
	return path
}

// fileArchive is a file of the machine.
func fileArchive(t *testing.T, path string) *install.Archive {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	digest := sha256.Sum256(content)
	return &install.Archive{
		Path: path, Digest: "sha256:" + hex.EncodeToString(digest[:]), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return os.Open(path) },
	}
}

func apply(t *testing.T, node *remote.Client, connections []connect.Connection) []string {
	t.Helper()
	changed, err := connect.Apply(t.Context(), node, connections, logLines(t))
	require.NoError(t, err)
	assert.NotEmpty(t, changed)
	again, err := connect.Apply(t.Context(), node, connections, logLines(t))
	require.NoError(t, err)
	assert.Empty(t, again)
	return changed
}

// logLines writes what is done to the log of the test.
func logLines(t *testing.T) func(string) {
	t.Helper()
	return func(line string) { t.Log(line) }
}

// shell runs a line as root of a server, and returns what it wrote.
func shell(t *testing.T, client *remote.Client, line string) string {
	t.Helper()
	result, err := client.Run(t.Context(), remote.Command{What: line, Script: line, Sudo: true, Timeout: serverPatience})
	require.NoError(t, err)
	return result.Stdout
}

// send has a command of a server read a file of the machine.
func send(t *testing.T, client *remote.Client, path, line string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	_, err = client.Run(t.Context(), remote.Command{What: line, Script: line, Stdin: file, Sudo: true, Timeout: serverPatience})
	require.NoError(t, err)
}

// server is one of Nova.
type server struct {
	lab  labtest.OpenStackEnv
	path string
}

// newServer has Nova make a server with Docker, which ends with the test.
func newServer(t *testing.T, lab labtest.OpenStackEnv, name string) server {
	t.Helper()
	var made struct{ Server struct{ ID string } }
	lab.Post(t, "compute", "/servers", map[string]any{"server": map[string]any{
		"name": name, "flavorRef": lab.Flavors["m1.small"], "imageRef": lab.Images[labtest.OpenStackDockerImage],
		"networks": []map[string]any{{"uuid": lab.Networks["net0"]}},
	}}, &made)
	s := server{lab: lab, path: "/servers/" + made.Server.ID}
	t.Cleanup(func() { lab.Delete(t, "compute", s.path) })
	return s
}

// address waits until a server runs.
func (s server) address(t *testing.T) string {
	t.Helper()
	address := ""
	labtest.Eventually(t, serverPatience, s.path, func() error {
		var got struct {
			Server struct {
				Status    string
				Addresses map[string][]struct{ Addr string }
			}
		}
		s.lab.Get(t, "compute", s.path, &got)
		if got.Server.Status != "ACTIVE" || len(got.Server.Addresses["net0"]) == 0 {
			return fmt.Errorf("it is %s", got.Server.Status)
		}
		address = got.Server.Addresses["net0"][0].Addr
		return nil
	})
	return address
}

func (s server) dial(t *testing.T) *remote.Client {
	t.Helper()
	client, err := remote.Dial(t.Context(), remote.Host{Address: s.address(t), User: "ubuntu", Password: "ubuntu", Pins: &labtest.HostKeys{}}, serverPatience)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
