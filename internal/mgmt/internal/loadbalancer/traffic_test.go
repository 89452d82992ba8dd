package loadbalancer_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/loadbalancer"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/proctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// systemctl starts the real HAProxy of the machine, and notes what it is asked to do with keepalived, which would change the
// machine's addresses. A process that has ended may stay as long as nobody asks for its status; locks of the caller are no affair of
// what it starts.
const systemctl = `
exec 9>&-
pid=/run/haproxy.pid
running() { [ -s $pid ] && ! grep -q '^State:.Z' "/proc/$(cat $pid)/status" 2>/dev/null && kill -0 "$(cat $pid)" 2>/dev/null; }
begin() { haproxy -D -p $pid -f /etc/haproxy/haproxy.cfg "$@"; }
case "$*" in
*keepalived)
	echo "$*" >>/run/asked
	case "$*" in
	"start "* | "reload "*) touch /run/shares ;;
	*is-active*) [ -e /run/shares ] ;;
	*disable*) rm -f /run/shares ;;
	esac
	;;
"-q is-active haproxy") running ;;
"start haproxy") running || begin ;;
"reload haproxy") begin -sf "$(cat $pid)" ;;
esac
`

// ip says that the host has an address of its own, and the virtual one once keepalived runs.
const ip = `
case "$*" in
*" 192.0.2.100") [ ! -e /run/shares ] || echo "1: lo    inet 192.0.2.100/32 scope global lo" ;;
*" 2001:db8::100") [ ! -e /run/shares ] || echo "1: lo    inet6 2001:db8::100/128 scope global nodad" ;;
*" 127.0.8.1") echo "1: $(cat /run/device)    inet 127.0.8.1/8 scope host lo" ;;
*" 2001:db8::11") echo "1: $(cat /run/device)    inet6 2001:db8::11/64 scope global" ;;
esac
`

// newHost is a host that has the programs of the machine.
func newHost(t *testing.T, programs ...string) *hosttest.Host {
	t.Helper()
	labtest.FullRun(t, "root and HAProxy")
	if os.Geteuid() != 0 {
		labtest.Missing(t, "a load balancer: a test that is not root cannot start HAProxy as its user")
	}
	for _, program := range append(programs, "ss") {
		if _, err := exec.LookPath(program); err != nil {
			labtest.Missing(t, "a load balancer: "+err.Error())
		}
	}
	h := hosttest.New(t, map[string]string{"systemctl": systemctl, "ip": ip})
	h.Write(t, "/etc/passwd", "root:x:0:0::/root:/bin/sh\nhaproxy:x:65533:65533::/var/lib/haproxy:/usr/sbin/nologin\n")
	h.Write(t, "/etc/group", "root:x:0:\nhaproxy:x:65533:\n")
	h.Write(t, "/etc/haproxy/haproxy.cfg", "")
	require.NoError(t, os.MkdirAll(h.Root+"/run/haproxy", 0o755)) //nolint:gosec // as in any system
	t.Cleanup(func() {
		if pid, err := strconv.Atoi(strings.TrimSpace(h.Read(t, "/run/haproxy.pid"))); err == nil {
			_ = proctest.Kill(pid)
		}
	})
	return h
}

// backend answers connections with its address, as long as the test runs.
func backend(t *testing.T, address string, port int) loadbalancer.Node {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port))) //nolint:noctx // it answers at once
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, address)
			_ = conn.Close()
		}
	}()
	return loadbalancer.Node{Name: "node" + address[strings.LastIndex(address, ".")+1:], Address: address}
}

// ask returns the answer at a port of the load balancer.
func ask(t *testing.T, port int) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second) //nolint:noctx // it is bounded
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(answer)
}

// served waits until exactly the wanted backends answer at a port.
func served(t *testing.T, port int, want ...string) {
	t.Helper()
	var got []string
	require.Eventually(t, func() bool {
		seen := map[string]bool{}
		for range 6 {
			seen[ask(t, port)] = true
		}
		got = slices.Sorted(maps.Keys(seen))
		return slices.Equal(got, want)
	}, 10*time.Second, 50*time.Millisecond, "%v answer, not %v", got, want)
}

// Connections reach the current masters in turn, and none fails while the configuration changes.
func TestTraffic(t *testing.T) {
	h := newHost(t, "haproxy")
	front, back := porttest.Free(t), porttest.Free(t)
	var nodes []loadbalancer.Node
	for n := 1; n <= 3; n++ {
		nodes = append(nodes, backend(t, fmt.Sprintf("127.0.8.%d", n), back))
	}
	apply := func(nodes ...loadbalancer.Node) error {
		return loadbalancer.Apply(t.Context(), []loadbalancer.Server{{Name: "lb", Address: "127.0.8.1", Client: h.Dial(t)}}, loadbalancer.Config{
			APIPort: front, APITarget: back, Masters: nodes, Report: func(string) {},
		})
	}
	require.NoError(t, apply(nodes[0], nodes[1]))
	served(t, front, "127.0.8.1", "127.0.8.2")
	first := h.Read(t, "/run/haproxy.pid")
	require.NoError(t, apply(nodes[0], nodes[1]))
	assert.Equal(t, first, h.Read(t, "/run/haproxy.pid"), "nothing has changed")

	ended, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-ended:
				return
			default:
			}
			conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(front)), time.Second) //nolint:noctx // it is bounded
			if err != nil {
				failed <- err
				return
			}
			_, _ = io.ReadAll(conn)
			_ = conn.Close()
		}
	}()
	require.NoError(t, apply(nodes[1], nodes[2]))
	close(ended)
	require.NoError(t, <-failed)
	served(t, front, "127.0.8.2", "127.0.8.3")

	pid, err := strconv.Atoi(strings.TrimSpace(h.Read(t, "/run/haproxy.pid")))
	require.NoError(t, err)
	require.NoError(t, proctest.Kill(pid))
	require.NoError(t, apply(nodes[1], nodes[2]))
	served(t, front, "127.0.8.2", "127.0.8.3")

	// HAProxy does not take two servers of one name.
	err = apply(nodes[0], nodes[0])
	require.ErrorContains(t, err, "putting the configuration of HAProxy in place on the load balancer")
	served(t, front, "127.0.8.2", "127.0.8.3")
}

// The script of the example package does the same.
func TestExampleScript(t *testing.T) {
	h := newHost(t, "haproxy", "flock")
	text, err := os.ReadFile(filepath.Join(labtest.Root(t), "examples", "packages", "kubernetes-cluster", "Scripts", "external_lb.sh"))
	require.NoError(t, err)
	front, back := porttest.Free(t), porttest.Free(t)
	nodes := []loadbalancer.Node{backend(t, "127.0.8.11", back), backend(t, "127.0.8.12", back)}
	all := []loadbalancer.Server{{Name: "lb", Address: "127.0.8.1", Client: h.Dial(t)}}
	cfg := loadbalancer.Config{
		APIPort: front, APITarget: back, NodePorts: []int{porttest.Free(t)}, Masters: nodes, Report: func(string) {},
		Script: &loadbalancer.Script{Path: "Scripts/external_lb.sh", Content: string(text)},
	}
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	served(t, front, "127.0.8.11", "127.0.8.12")
	assert.Contains(t, h.Read(t, "/etc/haproxy/haproxy.cfg"), fmt.Sprintf("server node12 127.0.8.12:%d check\n", cfg.NodePorts[0]))
	first := h.Read(t, "/run/haproxy.pid")
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	assert.Equal(t, first, h.Read(t, "/run/haproxy.pid"), "nothing has changed")

	cfg.Masters, cfg.Workers = nodes[1:], []loadbalancer.Node{{Name: "worker1", Address: "192.0.2.1"}}
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	served(t, front, "127.0.8.12")
	cfg.Masters = append(cfg.Masters, cfg.Masters...)
	require.ErrorContains(t, loadbalancer.Apply(t.Context(), all, cfg), "external_lb.sh: HAProxy does not take the configuration")
	cfg.Virtual = &loadbalancer.Virtual{Address: netip.MustParseAddr("192.0.2.100")}
	require.ErrorContains(t, loadbalancer.Apply(t.Context(), all, cfg), "external_lb.sh: this sample has no load balancers that share an address")
	served(t, front, "127.0.8.12")
}

// device is an interface of the machine that can be multicast on; keepalived takes no other for a load balancer alone.
func device(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	require.NoError(t, err)
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagMulticast != 0 {
			return i.Name
		}
	}
	labtest.Missing(t, "a load balancer: the machine has no interface that keepalived would take")
	return ""
}

// The real programs take the configurations, also with addresses of IPv6 and with one load balancer alone.
func TestVirtualAddress(t *testing.T) {
	h := newHost(t, "haproxy", "keepalived")
	h.Write(t, "/run/device", device(t))
	own := loadbalancer.Server{Name: "lb", Address: "127.0.8.1", Client: h.Dial(t)}
	cfg := loadbalancer.Config{
		APIPort: porttest.Free(t), APITarget: 6443, NodePorts: []int{porttest.Free(t)}, Report: func(string) {},
		Masters: []loadbalancer.Node{{Name: "master1", Address: "192.0.2.1"}}, Workers: []loadbalancer.Node{{Name: "worker1", Address: "2001:db8::1"}},
		Virtual: &loadbalancer.Virtual{Address: netip.MustParseAddr("192.0.2.100"), RouterID: 51},
	}
	all := []loadbalancer.Server{own, {Name: "other", Address: "192.0.2.12"}}
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	require.NoError(t, loadbalancer.Await(t.Context(), all[:1], cfg))
	assert.Contains(t, h.Read(t, "/etc/keepalived/keepalived.conf"), "priority 100\n")
	assert.Equal(t, os.FileMode(0o755), h.Mode(t, "/etc/keepalived/check-haproxy"))
	assert.Contains(t, h.Read(t, "/run/asked"), "start keepalived\n")

	h.Write(t, "/run/asked", "")
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	assert.NotContains(t, h.Read(t, "/run/asked"), "load", "nothing has changed")
	require.NoError(t, loadbalancer.Apply(t.Context(), all[:1], cfg))
	assert.Contains(t, h.Read(t, "/run/asked"), "reload keepalived\n", "the other one is gone")

	// The same with an address of IPv6, by which the load balancers reach one another too, and with one of them alone.
	six := []loadbalancer.Server{{Name: "lb", Address: "2001:db8::11", Client: own.Client}, {Name: "other", Address: "2001:db8::12"}}
	cfg.Virtual = &loadbalancer.Virtual{Address: netip.MustParseAddr("2001:db8::100"), RouterID: 51}
	for _, some := range [][]loadbalancer.Server{six[:1], six} {
		require.NoError(t, loadbalancer.Apply(t.Context(), some, cfg))
		require.NoError(t, loadbalancer.Await(t.Context(), some[:1], cfg))
	}
	assert.Regexp(t, `(?s)unicast_src_ip 2001:db8::11\n.*unicast_peer \{\s+2001:db8::12\n.*virtual_ipaddress \{\s+2001:db8::100\n`, h.Read(t, "/etc/keepalived/keepalived.conf"))
	assert.Contains(t, h.Read(t, "/etc/haproxy/haproxy.cfg"), fmt.Sprintf("bind [::]:%d v4v6\n", cfg.APIPort))

	// A load balancer that no longer shares an address does not keep it.
	cfg.Virtual = nil
	require.NoError(t, loadbalancer.Apply(t.Context(), all[:1], cfg))
	assert.Empty(t, h.Read(t, "/etc/keepalived/keepalived.conf"))
	assert.Contains(t, h.Read(t, "/run/asked"), "-q disable --now keepalived\n")
	h.Write(t, "/etc/keepalived/keepalived.conf", "# mine\n")
	require.NoError(t, loadbalancer.Apply(t.Context(), all[:1], cfg))
	assert.Equal(t, "# mine\n", h.Read(t, "/etc/keepalived/keepalived.conf"), "that of somebody else stays")
}

// Two load balancers that both have the address do not hear each other.
func TestVirtualAddress_twice(t *testing.T) {
	h := newHost(t)
	h.Write(t, "/run/shares", "")
	all := []loadbalancer.Server{{Name: "lb-1", Client: h.Dial(t)}, {Name: "lb-2", Client: h.Dial(t)}}
	cfg := loadbalancer.Config{Virtual: &loadbalancer.Virtual{Address: netip.MustParseAddr("192.0.2.100")}}
	defer loadbalancer.SetTakeover(100 * time.Millisecond)()
	require.ErrorContains(t, loadbalancer.Await(t.Context(), all, cfg),
		"the load balancers lb-1 and lb-2 have the virtual address 192.0.2.100 at the same time: they do not hear one another")
	require.NoError(t, os.Remove(h.Root+"/run/shares"))
	require.ErrorContains(t, loadbalancer.Await(t.Context(), all, cfg), "none of the load balancers has taken the virtual address 192.0.2.100 within 100ms")
}

// telling is a script that writes into a file what it is called with, and takes no node ports.
const telling = `#!/bin/sh
{
	echo "$(id -u) $VNF_OPERATION $VNF_MASTERS $VNF_WORKERS."
	printf '<%%s>' "$@"
} >%s
echo done
[ -z "$VNF_NODE_PORTS" ] || {
	echo 'no more ports' >&2
	exit 3
}
`

// The script runs as root for any login. The error of a failed script has the reason.
func TestScript(t *testing.T) {
	daemon := sshtest.OpenSSH(t, sshtest.Account{User: "bob", Password: "bobpass1", Sudoers: "ALL=(ALL:ALL) ALL"})
	client, err := remote.Dial(t.Context(), daemon.Host("bob"), 10*time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	out := t.TempDir() + "/out"
	var lines []string
	cfg := loadbalancer.Config{
		APIPort: 8383, APITarget: 6443, Masters: []loadbalancer.Node{{Name: "master1", Address: "192.0.2.1"}}, Report: func(line string) { lines = append(lines, line) },
		Script: &loadbalancer.Script{
			Path: "Scripts/balance.sh", Timeout: time.Minute, Env: map[string]string{"VNF_OPERATION": "SCALE"}, Content: fmt.Sprintf(telling, out),
		},
	}
	all := []loadbalancer.Server{{Name: "lb", Address: "192.0.2.11", Client: client}}
	require.NoError(t, loadbalancer.Apply(t.Context(), all, cfg))
	got, err := os.ReadFile(out) //nolint:gosec // a file of the test
	require.NoError(t, err)
	assert.Equal(t, "0 SCALE master1=192.0.2.1 .\n<-m><192.0.2.1><-w><>", string(got))
	assert.Equal(t, []string{"done"}, lines)
	cfg.NodePorts = []int{30080}
	err = loadbalancer.Apply(t.Context(), all, cfg)
	require.ErrorContains(t, err, "script Scripts/balance.sh of the package on the load balancer on bob@127.0.0.1")
	require.ErrorContains(t, err, "ended with status 3:\nno more ports")
}
