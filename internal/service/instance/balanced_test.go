package instance_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// The ports at which load balancers serve the API server and Services of the test.
const (
	apiServerPort = 8383
	webPort       = 30081
	laterPort     = 30082
)

// balancerPatience is how long load balancers may take on a busy machine for what takes seconds.
const balancerPatience = time.Minute

// reserve takes an address of net0 that no server gets, as users do: a port has it.
func (k *clusterScriptEnv) reserve(t *testing.T) string {
	t.Helper()
	var made struct {
		Port struct {
			ID       string
			FixedIPs []struct {
				Address string `json:"ip_address"`
			} `json:"fixed_ips"`
		}
	}
	k.openstack.Post(t, "network", "/v2.0/ports", map[string]any{"port": map[string]any{"name": "virtual", "network_id": k.openstack.Networks["net0"]}}, &made)
	t.Cleanup(func() { k.openstack.Delete(t, "network", "/v2.0/ports/"+made.Port.ID) })
	k.virtual = made.Port.FixedIPs[0].Address
	return k.virtual
}

// kubectl calls kubectl on a master.
func (k *clusterScriptEnv) kubectl(t *testing.T, args string) {
	t.Helper()
	k.shells(t, "masterNode")[0].Root(t, "kubectl --kubeconfig /etc/kubernetes/admin.conf %s", args)
}

// expose makes a Service with a node port, and has a worker serve it as kube-proxy would.
func (k *clusterScriptEnv) expose(t *testing.T) {
	t.Helper()
	k.create(t, "web", webPort)
	worker := k.shells(t, "workerNode")[0]
	worker.Root(t, "mkdir -p /srv/web && echo served >/srv/web/index.html && systemd-run --unit=web --property=WorkingDirectory=/srv/web python3 -m http.server %d", webPort)
}

// answers asks for a page at the virtual address.
func (k *clusterScriptEnv) answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	// A connection of its own: one that is open stays where it is. Whose certificate it is, the provider checks.
	anyone := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // See above.
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: anyone}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError {
		return errors.New(response.Status)
	}
	return nil
}

// failOver checks that both ports are reached at the virtual address, that one of the load balancers has it, and that the other one takes
// it when HAProxy ends there.
func (k *clusterScriptEnv) failOver(t *testing.T) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		if got := state.RootModule().Resources["data.vnf_vim.edge"].Primary.Attributes["endpoint"]; got != fmt.Sprintf("https://%s:%d", k.virtual, apiServerPort) {
			return fmt.Errorf("the cluster is reached at %s", got)
		}
		balancers := k.shells(t, "externalLB")
		holder, err := k.serving(t, balancers, nil)
		if err != nil {
			return err
		}
		holder.Root(t, "systemctl stop haproxy")
		_, err = k.serving(t, balancers, holder)
		return err
	}
}

// serving is the load balancer, another one than some, that alone has the virtual address, once both ports are reached there.
func (k *clusterScriptEnv) serving(t *testing.T, balancers []*labtest.Shell, other *labtest.Shell) (*labtest.Shell, error) {
	t.Helper()
	for deadline := time.Now().Add(balancerPatience); ; {
		err := errors.Join(
			k.answers(t.Context(), fmt.Sprintf("https://%s:%d/readyz", k.virtual, apiServerPort)),
			k.answers(t.Context(), fmt.Sprintf("http://%s:%d/", k.virtual, webPort)),
		)
		var holders []*labtest.Shell
		for _, s := range balancers {
			if strings.TrimSpace(s.Root(t, "ip -o address show to %s", k.virtual)) != "" {
				holders = append(holders, s)
			}
		}
		if err == nil && len(holders) == 1 && holders[0] != other {
			return holders[0], nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the virtual address %s, which %d load balancers have, does not lead to the cluster: %w", k.virtual, len(holders), err)
		}
	}
}

// ports checks which ports take connections at the virtual address.
func (k *clusterScriptEnv) ports(t *testing.T, want map[int]bool) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		for port, open := range want {
			labtest.Eventually(t, balancerPatience, fmt.Sprintf("port %d of the virtual address %s", port, k.virtual), func() error {
				conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(t.Context(), "tcp", net.JoinHostPort(k.virtual, strconv.Itoa(port)))
				if err == nil {
					_ = conn.Close()
				}
				if (err == nil) != open {
					return errors.Join(fmt.Errorf("that it is open is to be %t", open), err)
				}
				return nil
			})
		}
		return nil
	}
}

// loaded prints the configuration of HAProxy and, where that has a socket as the driver's has, the servers that the running HAProxy
// has by now.
const loaded = `systemctl is-active haproxy >/dev/null && cat /etc/haproxy/haproxy.cfg
if grep -q 'stats socket' /etc/haproxy/haproxy.cfg; then
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX)
s.connect("/run/haproxy/admin.sock")
s.sendall(b"show servers state\n")
print(s.makefile().read())'
fi`

// running are the columns of a line of "show servers state" that have the backend, and the address and the port of a server.
const (
	runningBackend = 1
	runningAddress = 4
	runningPort    = 18
)

// passedOn checks that each load balancer passes the port of the API server on to the masters, and the other ports to all nodes: by its
// configuration, and by what HAProxy has loaded.
func (k *clusterScriptEnv) passedOn(t *testing.T) error {
	t.Helper()
	at := func(port string, vdus ...string) (out []string) {
		for _, vdu := range vdus {
			for _, v := range k.vnfcs()[vdu] {
				out = append(out, net.JoinHostPort(v.Addresses[0], port))
			}
		}
		return out
	}
	for _, balancer := range k.shells(t, "externalLB") {
		text := balancer.Root(t, "%s", loaded)
		configured, running, section := map[string][]string{}, map[string][]string{}, ""
		for line := range strings.Lines(text) {
			switch words := strings.Fields(line); {
			case len(words) == 2 && words[0] == "backend":
				section = words[1]
				configured[section] = nil
			case len(words) > 2 && words[0] == "server":
				configured[section] = append(configured[section], words[2])
			case len(words) > runningPort && words[0] != "#":
				running[words[runningBackend]] = append(running[words[runningBackend]], net.JoinHostPort(words[runningAddress], words[runningPort]))
			}
		}
		want := map[string][]string{}
		for name := range configured {
			port, isNodePort := strings.CutPrefix(name, "nodeport-")
			if isNodePort {
				want[name] = at(port, "masterNode", "workerNode")
			}
		}
		want["kubernetes-apiserver"] = at("6443", "masterNode")
		for _, got := range []map[string][]string{configured, running} {
			if len(got) == 0 && !strings.Contains(text, "stats socket") {
				continue
			}
			for _, all := range []map[string][]string{want, got} {
				for _, servers := range all {
					slices.Sort(servers)
				}
			}
			if !reflect.DeepEqual(got, want) {
				return fmt.Errorf("the load balancer %s passes on to %v, not %v:\n%s", balancer.Address, got, want, text)
			}
		}
	}
	return nil
}

// create makes a Service with a node port.
func (k *clusterScriptEnv) create(t *testing.T, name string, port int) {
	t.Helper()
	k.kubectl(t, fmt.Sprintf("create service nodeport %s --tcp=80:80 --node-port=%d", name, port))
}
