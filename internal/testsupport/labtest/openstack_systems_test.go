package labtest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestOpenStackDocker has a server run the registry, with the test and another server as its clients. What ends there comes
// back: the registry, Docker and the server.
func TestOpenStackDocker(t *testing.T) {
	lab := labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	image := map[string]any{"imageRef": lab.Images[labtest.OpenStackDockerImage], "networks": on(lab, "net0")}
	one, two := newServer(t, lab, "registry", image), newServer(t, lab, "client", image)
	address := one.active(t).address(t, "net0")
	shell := login(t, address, "ubuntu", ssh.Password("ubuntu"))
	client := login(t, two.active(t).address(t, "net0"), "ubuntu", ssh.Password("ubuntu"))
	for _, output := range []struct{ line, want string }{
		{"ps -o comm= 1 && sudo which docker haproxy", "systemd\n/usr/bin/docker\n/usr/sbin/haproxy\n"},
		{"dpkg -s docker.io haproxy | grep ^Status", "Status: install ok installed\nStatus: install ok installed\n"},
		{"sudo apt-get install --yes docker.io | grep -c newest", "1\n"},
		{"systemctl is-active ssh docker haproxy || true", "active\nactive\ninactive\n"},
		{"systemctl --failed --plain --no-legend", ""},
		{"sudo systemctl start haproxy && systemctl is-active haproxy", "active\n"},
		{"lab-kubectl version --client | head -1", "Client Version: v1.37.2\n"},
		{"kube-apiserver --version && kube-controller-manager --version && hostname", "Kubernetes v1.37.2\nKubernetes v1.37.2\nregistry\n"},
		{"etcd --version | head -1 | cut -c-13", "etcd Version:\n"},
	} {
		assert.Equal(t, output.want, command(t, shell, output.line), "%s says", output.line)
	}
	out, err := run(shell, "sudo sh -c 'echo broken >/usr/local/bin/lab'")
	require.Error(t, err, "the server can change the program of the lab: %s", out)

	load(t, shell, lab.RegistryArchive)
	command(t, shell, "sudo docker run -d --restart=always -p 5000:5000 -v /var/lib/private_registry:/var/lib/registry --name registry registry:latest")
	answers(t, address)
	configure := `echo '{"insecure-registries": ["%s:5000"]}' | sudo tee /etc/docker/daemon.json && sudo systemctl restart docker`
	command(t, client, fmt.Sprintf(configure, address))
	load(t, client, lab.SampleArchive)
	sample := address + ":5000/sample:1"
	command(t, client, fmt.Sprintf("sudo docker tag sample:latest %[1]s && sudo docker push %[1]s && sudo docker rmi sample:latest %[1]s", sample))
	assert.Equal(t, "hello\n", command(t, client, "sudo docker run --rm --pull always "+sample+" echo hello 2>/dev/null"), "the image says")

	first := process(t, shell, "")
	command(t, shell, "sudo kill -9 "+first)
	second := process(t, shell, first)
	answers(t, address)
	command(t, shell, "sudo systemctl restart docker")
	process(t, shell, second)
	answers(t, address)
	// The connection is cut, and what is in /run lost.
	command(t, shell, "sudo touch /run/before")
	_, _ = run(shell, "sudo reboot")
	labtest.Eventually(t, serverPatience, "the reboot", func() error {
		again, err := dial(address, "ubuntu", ssh.Password("ubuntu"))
		if err != nil {
			return err
		}
		defer again.Close() //nolint:errcheck // It was only used here.
		if out, err := run(again, "[ ! -e /run/before ]"); err != nil {
			return fmt.Errorf("the server runs as before: %w: %s", err, out)
		}
		return nil
	})
	answers(t, address)
	one.do(t, "os-stop")
	one.is(t, "SHUTOFF")
}

// TestOpenStackAnsible has one server manage another.
func TestOpenStackAnsible(t *testing.T) {
	lab := labtest.OpenStackSystems(t, labtest.OpenStackAnsible)
	host := newServer(t, lab, "ansible", map[string]any{"imageRef": lab.Images[labtest.OpenStackAnsibleImage], "networks": on(lab, "net0")})
	node := newServer(t, lab, "node", map[string]any{"networks": on(lab, "net0")})
	address := node.active(t).address(t, "net0")
	login(t, address, "ubuntu", ssh.Password("ubuntu"))
	shell := login(t, host.active(t).address(t, "net0"), "ubuntu", ssh.Password("ubuntu"))
	command(t, shell, "cat >hosts.ini <<'X'\n[all]\nnode ansible_host="+address+" ansible_user=ubuntu ansible_password=ubuntu\nX\n")
	assert.Contains(t, command(t, shell, "ANSIBLE_HOST_KEY_CHECKING=False ansible -i hosts.ini --become -m ping all"), `"ping": "pong"`, "ansible says")
	command(t, shell, "touch /tmp/mine /var/tmp/mine")
	got := command(t, shell, "python3 -c 'import jmespath, netaddr' && ansible --version")
	assert.True(t, strings.HasPrefix(got, "ansible [core 2.14."), "ansible says %s", got)
}

// load has Docker on a server load an archive.
func load(t *testing.T, client *ssh.Client, archive string) {
	t.Helper()
	data, err := os.ReadFile(archive)
	require.NoError(t, err)
	session, err := client.NewSession()
	require.NoError(t, err)
	defer session.Close() //nolint:errcheck // It has ended.
	session.Stdin = bytes.NewReader(data)
	out, err := session.CombinedOutput("sudo docker load")
	require.NoError(t, err, "docker load: %v\n%s", err, out)
}

// process waits until the registry runs in another process than one, and returns it.
func process(t *testing.T, client *ssh.Client, former string) string {
	t.Helper()
	var pid string
	labtest.Eventually(t, serverPatience, "the process of the registry", func() error {
		out, err := run(client, "sudo docker inspect --format '{{.State.Pid}}' registry")
		if pid = strings.TrimSpace(out); err == nil && (pid == "0" || pid == former) {
			err = fmt.Errorf("it is %s", pid)
		}
		return err
	})
	return pid
}

// answers waits until the registry of a server answers this process.
func answers(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), serverPatience)
	defer cancel()
	labtest.Eventually(t, serverPatience, "the registry", func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+":5000/v2/", nil)
		if err != nil {
			return err
		}
		response, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // It was read.
		if output, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || string(output) != "{}" {
			return fmt.Errorf("it answers %s: %q, %w", response.Status, output, err)
		}
		return nil
	})
}
