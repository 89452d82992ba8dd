package openstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/servers"
)

// nodesBench is a host of servers without Nova, and a cluster on two of them.
type nodesBench struct {
	lab   *Lab
	state *layout.OpenStack
	// kubeconfig is that of the cluster's administrator.
	kubeconfig string
	began      time.Time
}

// TestNodes makes a cluster of servers that run the real kubelet, kubeadm and containerd: the first becomes its control plane by
// the user data of Cluster API, read by the real cloud-init, the second joins, flannel comes by its own chart, and pods on both
// answer through a Service, on each node and by name from one of them. No control group is left at the end.
func TestNodes(t *testing.T) {
	b := newNodesBench(t)
	b.boot(t, "cp", 11, "control-plane.yaml")
	b.boot(t, "worker", 12, "worker.yaml")
	b.kubeconfig = b.file("cp", "etc/kubernetes/admin.conf")
	b.until(t, "kubeadm", func() error { return b.bootstrapped("cp") })
	b.report(t, "control plane initialised")
	b.until(t, "the second node", func() error {
		_, err := b.kubectl("get", "node", "worker")
		return err
	})
	b.report(t, "second node joined")

	b.run(t, b.beside("helm"), "install", "kube-flannel", b.beside("nodes", "kube-flannel"), "--namespace", "kube-flannel", "--create-namespace",
		"--set", "flannel.healthz.readinessProbe.initialDelaySeconds=0", "--set", "flannel.healthz.readinessProbe.periodSeconds=1")
	b.must(t, "wait", "--for=condition=Ready", "node", "--all", "--timeout=3m")
	b.report(t, "nodes ready")
	b.must(t, "apply", "--filename", filepath.Join("testdata", "nodes", "web.yaml"))
	b.must(t, "rollout", "status", "deployment/web", "--timeout=3m")
	b.must(t, "rollout", "status", "deployment/coredns", "--namespace=kube-system", "--timeout=3m")
	b.report(t, "pods running")
	if nodes := b.must(t, "get", "pods", "--selector=app=web", "--output=jsonpath={.items[*].spec.nodeName}"); nodes != "cp worker" && nodes != "worker cp" {
		t.Errorf("the pods are on %q, not on two nodes", nodes)
	}
	for _, last := range []int{11, 12} {
		b.answering(t, fmt.Sprintf("http://%s:30080/hostname", b.address(last)))
	}
	b.until(t, "the Service by its name", func() error {
		name, err := b.kubectl("exec", "deployment/web", "--", "wget", "-q", "-O", "-", "http://web.default.svc.cluster.local/hostname")
		if err == nil && !strings.HasPrefix(name, "web-") {
			err = fmt.Errorf("it says %q", name)
		}
		return err
	})
	b.report(t, "answered")
	b.end(t)
}

func newNodesBench(t *testing.T) *nodesBench {
	t.Helper()
	if os.Getenv("VNF_REAL_NODES") == "" {
		t.Skip("VNF_REAL_NODES is not set: `make test-nodes` sets it")
	}
	executable := os.Getenv("LAB_BIN")
	if executable == "" {
		executable = filepath.Join("..", "..", "..", "..", "bin", "lab")
	}
	executable, err := filepath.Abs(executable)
	if err != nil {
		t.Fatal(err)
	}
	b := &nodesBench{lab: &Lab{Executable: executable, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, began: time.Now()}
	for target, path := range map[string]string{"bin/lab": executable, "bin/nodes": b.beside("nodes", nodeSums), "bin/helm": b.beside("helm")} {
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("there is no %s: `make test-nodes` builds it", target)
		}
	}
	if err := able(); err != nil {
		t.Fatal(err)
	}
	if b.lab.Dir, err = layout.OpenOpenStack(filepath.Join(t.TempDir(), "cloud")); err != nil {
		t.Fatal(err)
	}
	// The lock makes it the directory of a lab.
	unlock, err := b.lab.Dir.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	b.state = &layout.OpenStack{Services: []string{Compute}, Processes: process.Set{}}
	if err := b.lab.decideServers(t.Context(), b.state, services()); err != nil {
		t.Fatal(err)
	}
	if err := b.lab.decideSystems(t.Context(), b.state, []string{servers.SystemKubernetes}); err != nil {
		t.Fatal(err)
	}
	b.state.Systems = []string{servers.SystemKubernetes}
	if unlock, err = b.lab.lockCache(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = b.lab.serviceRoot().ensure(t.Context(), nil)
	err = errors.Join(err, b.lab.provideServers(t.Context(), b.state))
	unlock()
	if err != nil {
		t.Fatal(err)
	}
	b.report(t, "system provided")
	if err := errors.Join(b.lab.Dir.SaveOpenStack(b.state), b.lab.startServers(t.Context(), b.state)); err != nil {
		text, _ := os.ReadFile(b.lab.Dir.Log(processServers))
		t.Fatalf("%v\n%s", err, text)
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.explain(t)
		}
		if err := b.lab.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return b
}

// beside is the path of a program beside the lab's.
func (b *nodesBench) beside(elements ...string) string {
	return filepath.Join(append([]string{filepath.Dir(b.lab.Executable)}, elements...)...)
}

func (b *nodesBench) address(last int) string { return fmt.Sprintf("10.%d.0.%d", b.state.Octet, last) }

// file is what a server has written at a path.
func (b *nodesBench) file(id, path string) string {
	return b.lab.Dir.Path("data", serversFolder, id, "written", path)
}

func (b *nodesBench) report(t *testing.T, what string) {
	t.Helper()
	t.Logf("%5.1f s: %s", time.Since(b.began).Seconds(), what)
}

// boot starts a server with user data.
func (b *nodesBench) boot(t *testing.T, id string, last int, userData string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "nodes", userData))
	if err != nil {
		t.Fatal(err)
	}
	build, err := b.lab.newNodeBuild()
	if err != nil {
		t.Fatal(err)
	}
	kubernetes := build.versions[len(build.versions)-1]
	filled := strings.NewReplacer("ADDRESS", b.address(11), "VERSION", kubernetes, "TOKEN", "abcdef.0123456789abcdef").Replace(string(text))
	definition := servers.Definition{
		Name: "instance-" + id, Hostname: id, System: servers.SystemKubernetes, Version: kubernetes, UserData: []byte(filled),
		Interfaces: []servers.Interface{{
			Port: fmt.Sprintf("%08d-port", last), Network: "00000000-network", MAC: fmt.Sprintf("fa:16:3e:00:00:%02x", last), MTU: 1450,
			Addresses: []netip.Prefix{netip.MustParsePrefix(b.address(last) + "/24")}, Gateways: []netip.Prefix{netip.MustParsePrefix(b.address(1) + "/24")},
		}},
	}
	b.ask(t, http.MethodPut, "/servers/"+id, definition)
	b.ask(t, http.MethodPost, "/servers/"+id+"/start", nil)
	b.report(t, id+" boots")
}

func (b *nodesBench) ask(t *testing.T, method, path string, in any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, b.lab.Dir.Path("run", servers.Socket))
		},
	}}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://servers"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s: %s (%v)", method, path, response.Status, text, err)
	}
}

// bootstrapped tells whether the user data of a server have run, and kubeadm in them has succeeded.
func (b *nodesBench) bootstrapped(id string) error {
	if _, err := os.Stat(b.file(id, "var/lib/cloud/instances/"+id+"/boot-finished")); err != nil {
		return err
	}
	_, err := os.Stat(b.kubeconfig)
	return err
}

// kubectl runs the lab's kubectl as the cluster's administrator.
func (b *nodesBench) kubectl(args ...string) (string, error) {
	return b.command(b.beside("lab-kubectl"), args...)
}

func (b *nodesBench) command(program string, args ...string) (string, error) {
	command := exec.Command(program, args...) //nolint:gosec,noctx // A program of the lab, which has a timeout of its own.
	command.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig, "HELM_CACHE_HOME="+b.lab.Dir.Path("tmp"), "HELM_CONFIG_HOME="+b.lab.Dir.Path("tmp"))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

func (b *nodesBench) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := b.command(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *nodesBench) must(t *testing.T, args ...string) string {
	t.Helper()
	return b.run(t, b.beside("lab-kubectl"), args...)
}

// answering waits until a web server says the name of a pod.
func (b *nodesBench) answering(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	b.until(t, url, func() error {
		response, err := client.Get(url) //nolint:noctx // It has a timeout.
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // It was read.
		if text, err := io.ReadAll(response.Body); err != nil || !strings.HasPrefix(string(text), "web-") {
			return fmt.Errorf("it says %q (%w)", text, err)
		}
		return nil
	})
}

func (b *nodesBench) until(t *testing.T, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := poll.Until(ctx, what, func(context.Context) error { return try() }); err != nil {
		t.Fatal(err)
	}
}

// end stops the host of servers, and looks for what is left of it.
func (b *nodesBench) end(t *testing.T) {
	t.Helper()
	// Where it is that of version 1: the time of all servers, in nanoseconds.
	if used, err := os.ReadFile(fmt.Sprintf("/sys/fs/cgroup/cpuacct/lab%d/cpuacct.usage", b.state.Octet)); err == nil {
		t.Logf("processor time of the servers: %s ns", strings.TrimSpace(string(used)))
	}
	if err := b.lab.stop(t.Context(), b.state); err != nil {
		t.Fatal(err)
	}
	b.report(t, "ended")
	for _, pattern := range []string{"/sys/fs/cgroup/lab%d", "/sys/fs/cgroup/*/lab%d"} {
		left, err := filepath.Glob(fmt.Sprintf(pattern, b.state.Octet))
		if err != nil || len(left) > 0 {
			t.Errorf("control groups are left: %s (%v)", left, err)
		}
	}
}

// explain shows what servers and cluster say of themselves.
func (b *nodesBench) explain(t *testing.T) {
	t.Helper()
	for _, id := range []string{"cp", "worker"} {
		for _, path := range []string{b.file(id, "var/log/cloud-init-output.log"), b.lab.Dir.Path("data", serversFolder, id, "console.log")} {
			text, err := os.ReadFile(path)
			t.Logf("%s: %v\n%s", path, err, text[max(0, len(text)-6000):])
		}
	}
	for _, args := range [][]string{{"get", "nodes,pods", "-A", "-o", "wide"}, {"get", "events", "-A", "--field-selector=type=Warning"}} {
		out, err := b.kubectl(args...)
		t.Logf("%v\n%s", err, out)
	}
}
