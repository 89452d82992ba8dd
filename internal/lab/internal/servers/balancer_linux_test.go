package servers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// enterService begins the command line of this program that becomes one of services.
const enterService = "enter"

// beService is HAProxy or nft. The first one takes every configuration but "bad", tells who connects the one that it has read, and
// ends on "end"; the other one keeps its script in a file.
func beService(dir string, command []string) int {
	if command[0] == "nft" {
		script, err := io.ReadAll(os.Stdin)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "nft"), script, 0o600)
		}
		return exitCode(err)
	}
	path := command[len(command)-1]
	config, err := os.ReadFile(path)
	if err != nil || command[1] == "-c" {
		if string(config) == "bad" {
			err = errors.New("a bad configuration")
		}
		return exitCode(err)
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGUSR2)
	listener, err := net.Listen("tcp", ":22") //nolint:gosec,noctx // The load balancer has a network of its own.
	if err != nil {
		return exitCode(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return exitCode(err)
		}
		line := make([]byte, 100)
		n, _ := conn.Read(line)
		if strings.TrimSpace(string(line[:n])) == "end" {
			return 0
		}
		select {
		case <-reload:
			config, _ = os.ReadFile(path)
		default:
		}
		_, _ = conn.Write(config)
		_ = conn.Close()
	}
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestBalancers makes a load balancer beside a server, changes its configuration, ends its HAProxy and the host, and removes it:
// its bridge stays as long as it needs it.
func TestBalancers(t *testing.T) {
	b := newBench(t)
	b.start(t, 0)
	card := b.card(0, 9)
	b.call(t, http.MethodPut, "/balancers/one", Balancer{Interface: card, Config: "first"}, nil)
	b.call(t, http.MethodPut, "/servers/one", b.definition("one", 5), nil)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, b.address(0, 9), "hello", "first")
	b.expectAnswer(t, b.address(0, 5), "reach "+b.address(0, 9), "first")
	b.call(t, http.MethodPut, "/balancers/one", Balancer{Interface: card, Config: "second"}, nil)
	b.expectAnswer(t, b.address(0, 9), "hello", "second")
	for id, wrong := range map[string]Balancer{
		"one":  {Interface: card, Config: "bad"},
		"two":  {Config: "first"},
		".two": {Interface: card, Config: "first"},
	} {
		if code := b.try(t, http.MethodPut, "/balancers/"+id, wrong, nil); code != http.StatusBadRequest {
			t.Errorf("load balancer %q with %q: %d", id, wrong.Config, code)
		}
	}
	b.expectAnswer(t, b.address(0, 9), "end", "")
	b.expectAnswer(t, b.address(0, 9), "hello", "second")

	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.start(t, b.octet)
	b.expectAnswer(t, b.address(0, 9), "hello", "second")
	b.call(t, http.MethodDelete, "/servers/one", nil, nil)
	b.expectAnswer(t, b.address(0, 9), "hello", "second")
	b.call(t, http.MethodDelete, "/balancers/one", nil, nil)
	b.call(t, http.MethodDelete, "/balancers/one", nil, nil)
	if _, err := os.Stat(filepath.Join(b.dir, "balancers", "one")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a deleted load balancer: %v", err)
	}
	if links := b.links(t); strings.Contains(links, card.bridge()) || strings.Contains(links, card.tap()) {
		t.Errorf("links are left of a deleted load balancer: %s", links)
	}
}

// links are the links of the networks of the host.
func (b *bench) links(t *testing.T) string {
	t.Helper()
	// The host holds the namespace, and no process is in it: its other end has the way to it.
	link, err := netlink.LinkByName(uplinkName(b.octet))
	if err != nil {
		t.Fatal(err)
	}
	space, err := netns.GetFromPath(b.namespace(t, link.Attrs().NetNsID))
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close() //nolint:errcheck // It was only reached through.
	in, err := netlink.NewHandleAt(space)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	links, err := in.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, link := range links {
		names = append(names, link.Attrs().Name)
	}
	return strings.Join(names, " ")
}

// namespace is the descriptor of a network namespace that the host holds.
func (b *bench) namespace(t *testing.T, id int) string {
	t.Helper()
	descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", b.record.PID))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range descriptors {
		if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, "net:") {
			continue
		}
		space, err := os.Open(path) //nolint:gosec // A descriptor of the host under test.
		if err != nil {
			t.Fatal(err)
		}
		found, err := netlink.GetNetNsIdByFd(int(space.Fd()))
		_ = space.Close()
		if err == nil && found == id {
			return path
		}
	}
	t.Fatalf("the host does not hold network namespace %d", id)
	return ""
}

// TestFloating gives addresses to the translation of the kernel, also those of a host that has ended.
func TestFloating(t *testing.T) {
	b := newBench(t)
	b.start(t, 0)
	one, two := netip.MustParseAddr("10.77.4.20"), netip.MustParseAddr("10.77.0.5")
	b.call(t, http.MethodPut, "/floating", map[netip.Addr]netip.Addr{one: two}, nil)
	b.expectTranslation(t, "dnat to ip daddr map { 10.77.4.20 : 10.77.0.5 };", `oifname "uplink" snat to ip saddr map { 10.77.0.5 : 10.77.4.20 };`)
	if code := b.try(t, http.MethodPut, "/floating", map[string]string{"10.77.4.20": "fd00::1"}, nil); code != http.StatusBadRequest {
		t.Errorf("an address of IPv6: %d", code)
	}
	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, "nft")); err != nil {
		t.Fatal(err)
	}
	b.start(t, b.octet)
	b.expectTranslation(t, "10.77.4.20 : 10.77.0.5")
	b.call(t, http.MethodPut, "/floating", map[netip.Addr]netip.Addr{}, nil)
	if script := b.translation(t); strings.Contains(script, "10.77.4.20") {
		t.Errorf("an address leads on that leads nowhere:\n%s", script)
	}
}

func (b *bench) expectTranslation(t *testing.T, parts ...string) {
	t.Helper()
	script := b.translation(t)
	for _, part := range parts {
		if !strings.Contains(script, part) {
			t.Errorf("the translation lacks %q:\n%s", part, script)
		}
	}
}

// translation is the script that nft got last.
func (b *bench) translation(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(b.dir, "nft"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}
