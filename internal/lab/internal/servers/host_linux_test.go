package servers

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
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// patience is how long a server may take on a busy machine.
const patience = time.Minute

// TestMain lets the program of the tests be what they start: a host, a server that boots, the shell of its image, and a program of
// services.
func TestMain(m *testing.M) {
	args := slices.Concat(os.Args, make([]string, 8))
	switch {
	case args[0] == "/bin/sh", args[0] == "/sbin/init":
		os.Exit(beServer())
	case args[1] == ProcessBoot:
		options, err := ParseBoot(os.Args[2:], os.Stderr)
		if err == nil {
			err = Boot(options)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case args[1] == ProcessSweep:
		octet, _ := strconv.Atoi(args[3])
		if err := Sweep(context.Background(), args[2], octet); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case args[1] == enterService:
		os.Exit(beService(args[2], os.Args[3:]))
	case args[1] == ProcessProbe && args[2] == "--managed":
		if err := ProbeManaged(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case args[1] == ProcessProbe:
		if err := Probe(args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case args[1] == ProcessHost:
		octet, _ := strconv.Atoi(args[3])
		_ = os.Chdir(args[2])
		fmt.Fprintln(os.Stderr, Serve(context.Background(), Options{
			Socket: Socket, Data: filepath.Join(args[2], "data"), Volumes: filepath.Join(args[2], "volumes"), Image: filepath.Join(args[2], "image"),
			Systems: filepath.Join(args[2], "systems"), Octet: octet,
			Balancers: filepath.Join(args[2], "balancers"), BalancersSeen: filepath.Join(args[2], "balancers"), Enter: []string{enterService, args[2]},
			Services: func() ([]int, error) { return readPorts(filepath.Join(args[2], "services")) },
			Log:      slog.New(slog.NewTextHandler(os.Stderr, nil)),
		}))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// beServer is the first process of a server: it counts its starts in a file, and tells who connects how many there were and
// what it is named. "reach <address>" has it connect to another one, or to a port, "reboot" end as one that is to be started again,
// "write <device> <text>" and "read <device>" use a disk of it, "groups" its control groups.
func beServer() int {
	starts, _ := os.ReadFile("/starts")
	starts = append(starts, '.')
	_ = os.WriteFile("/starts", starts, 0o600)
	name, _ := os.Hostname()
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, halts)
	listener, err := net.Listen("tcp", ":22") //nolint:gosec,noctx // The server has a network of its own.
	if err != nil {
		fmt.Println(err)
		return 1
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			line := make([]byte, 100)
			n, _ := conn.Read(line)
			command, argument, _ := strings.Cut(strings.TrimSpace(string(line[:n])), " ")
			switch command {
			case "reboot":
				os.Exit(restarts)
			case "reach":
				fmt.Fprint(conn, ask(argument, "hello"))
			case "groups":
				fmt.Fprint(conn, useGroups())
			case "write", "read":
				fmt.Fprint(conn, useDisk(command, argument))
			default:
				fmt.Fprintf(conn, "%s %d", name, len(starts))
			}
			_ = conn.Close()
		}
	}()
	fmt.Println("listening")
	<-ends
	return 0
}

// useDisk writes a text to the beginning of a disk, or reads what is there up to the first zero, and says how large it is.
func useDisk(command, argument string) string {
	name, text, _ := strings.Cut(argument, " ")
	disk, err := os.OpenFile(filepath.Join("/dev", name), os.O_RDWR, 0)
	if err != nil {
		return err.Error()
	}
	defer disk.Close() //nolint:errcheck // It was written.
	if command == "write" {
		if _, err := disk.WriteAt([]byte(text), 0); err != nil {
			return err.Error()
		}
	}
	begin := make([]byte, 512)
	if _, err := disk.ReadAt(begin, 0); err != nil {
		return err.Error()
	}
	size, err := disk.Seek(0, io.SeekEnd)
	if err != nil {
		return err.Error()
	}
	begin, _, _ = bytes.Cut(begin, []byte{0})
	return fmt.Sprintf("%s %d", begin, size)
}

// ask sends a line to the server of an address, or to what listens at one with a port, and returns what it says.
func ask(address, line string) string {
	if _, err := netip.ParseAddrPort(address); err != nil {
		address = net.JoinHostPort(address, "22")
	}
	conn, err := net.DialTimeout("tcp", address, 5*time.Second) //nolint:noctx // It has a timeout.
	if err != nil {
		return err.Error()
	}
	defer conn.Close() //nolint:errcheck // It was read.
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintln(conn, line)
	output, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	return string(output)
}

// bench is a host under test.
type bench struct {
	dir    string
	record process.Record
	octet  int
}

func TestHost(t *testing.T) {
	b := newBench(t)
	b.start(t, 0)
	b.call(t, http.MethodPut, "/servers/one", b.definition("one", 5), nil)
	b.call(t, http.MethodPut, "/servers/two", b.definition("two", 6, 7), nil)
	if code := b.try(t, http.MethodPut, "/servers/two", b.definition("two", 6), nil); code != http.StatusConflict {
		t.Errorf("a server is defined twice: %d", code)
	}
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.call(t, http.MethodPost, "/servers/two/start", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 1")
	b.expectAnswer(t, b.address(0, 6), "hello", "host-two 1")
	b.expectAnswer(t, b.address(1, 7), "hello", "host-two 1")
	// To a network that it is not on itself.
	b.expectAnswer(t, b.address(0, 5), "reach "+b.address(1, 7), "host-two 1")

	b.call(t, http.MethodPost, "/servers/one/stop", nil, nil)
	if got := b.running(t); got != "two" {
		t.Errorf("after a stop these run: %s", got)
	}
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 2")
	b.call(t, http.MethodPost, "/servers/one/reboot", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 3")
	b.expectAnswer(t, b.address(0, 5), "reboot", "")
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 4")

	third := b.card(1, 8)
	b.call(t, http.MethodPut, "/servers/one/interfaces/"+third.Port, third, nil)
	b.expectAnswer(t, b.address(1, 8), "hello", "host-one 4")
	// A card that comes takes the place of one that went.
	first := b.card(0, 5)
	b.call(t, http.MethodDelete, "/servers/one/interfaces/"+first.Port, nil, nil)
	b.call(t, http.MethodPut, "/servers/one/interfaces/"+first.Port, first, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 4")
	b.call(t, http.MethodDelete, "/servers/one/interfaces/"+third.Port, nil, nil)
	b.call(t, http.MethodDelete, "/servers/two", nil, nil)
	b.call(t, http.MethodDelete, "/servers/two", nil, nil)
	if _, err := os.Stat(filepath.Join(b.dir, "data", "two")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a deleted server: %v", err)
	}
	// Its address goes to another one.
	b.call(t, http.MethodPut, "/servers/three", b.definition("three", 6), nil)
	b.call(t, http.MethodPost, "/servers/three/start", nil, nil)
	b.expectAnswer(t, b.address(0, 6), "hello", "host-three 1")
	var output string
	b.call(t, http.MethodGet, "/servers/three/console", nil, &output)
	if !strings.Contains(output, "listening") {
		t.Errorf("the console says %q", output)
	}

	// A second lab has other addresses.
	other := newBench(t)
	other.start(t, 0)
	if other.octet == b.octet {
		t.Errorf("two labs have the addresses of %d", b.octet)
	}

	// The host ends without being asked: nothing of its servers is left, and the next one has them again.
	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The kernel takes a namespace away a moment after its last user.
	b.until(t, "the end of the link", func() error {
		if _, err := net.InterfaceByName(uplinkName(b.octet)); err == nil {
			return errors.New("it is there")
		}
		return nil
	})
	if output := ask(b.address(0, 5), "hello"); strings.HasPrefix(output, "host-") {
		t.Errorf("a server of a host that was killed says %q", output)
	}
	b.start(t, b.octet)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 5")
	b.expectAnswer(t, b.address(0, 6), "hello", "host-three 2")
	if mounts, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(mounts), b.dir) {
		t.Errorf("mounts of servers are to be seen outside: %v\n%s", err, mounts)
	}
}

// TestVolumes gives a server disks before and while it runs, writes to them in the server, and finds that in their files;
// no loop device is left of a disk that was taken away, nor of a host that was killed.
func TestVolumes(t *testing.T) {
	b := newBench(t)
	b.needLoops(t)
	b.start(t, 0)
	first, second := b.volume(t, "volume-one"), b.volume(t, "volume-two")
	definition := b.definition("one", 5)
	definition.Volumes = []Volume{{File: "volume-one"}}
	b.call(t, http.MethodPut, "/servers/one", definition, nil)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	server := b.address(0, 5)
	b.expectAnswer(t, server, "write vdb hello", "hello 1048576")
	b.expectAnswer(t, server, "read vdc", "open /dev/vdc: no such file or directory")

	for path, volume := range map[string]Volume{"volume-two": {Device: "vdb"}, "volume-three": {}, ".hidden": {}, "volume-two/": {}} {
		if code := b.try(t, http.MethodPut, "/servers/one/volumes/"+path, volume, nil); code < http.StatusBadRequest {
			t.Errorf("%s is attached as %q: %d", path, volume.Device, code)
		}
	}
	b.call(t, http.MethodPut, "/servers/one/volumes/volume-two", Volume{Device: "vdc"}, nil)
	b.call(t, http.MethodPut, "/servers/one/volumes/volume-two", Volume{Device: "vdc"}, nil)
	b.expectAnswer(t, server, "write vdc again", "again 1048576")
	if err := os.Truncate(second, 2<<20); err != nil {
		t.Fatal(err)
	}
	b.call(t, http.MethodPost, "/servers/one/volumes/volume-two/resize", nil, nil)
	b.expectAnswer(t, server, "read vdc", "again 2097152")

	// The disks come back with the server, also when another host starts it.
	b.call(t, http.MethodPost, "/servers/one/stop", nil, nil)
	b.loops(t, 0)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, server, "read vdb", "hello 1048576")
	b.expectAnswer(t, server, "reboot", "")
	b.expectAnswer(t, server, "read vdc", "again 2097152")
	b.loops(t, 2)

	b.call(t, http.MethodDelete, "/servers/one/volumes/volume-one", nil, nil)
	b.call(t, http.MethodDelete, "/servers/one/volumes/volume-one", nil, nil)
	b.expectAnswer(t, server, "read vdb", "open /dev/vdb: no such file or directory")
	if text, err := os.ReadFile(first); err != nil || !bytes.HasPrefix(text, []byte("hello\x00")) {
		t.Errorf("the file of a volume that was detached begins with %.10q, %v", text, err)
	}
	b.loops(t, 1)
	b.expectAnswer(t, server, "write vdc later", "later 2097152")

	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.loops(t, 0)
	b.start(t, b.octet)
	b.expectAnswer(t, server, "read vdc", "later 2097152")
	b.call(t, http.MethodDelete, "/servers/one", nil, nil)
	b.loops(t, 0)
	if text, err := os.ReadFile(second); err != nil || !bytes.HasPrefix(text, []byte("later\x00")) {
		t.Errorf("the file of a volume whose server was deleted begins with %.10q, %v", text, err)
	}
}

// needLoops skips the test where the machine has no loop devices, unless LAB_REQUIRE=all.
func (b *bench) needLoops(t *testing.T) {
	t.Helper()
	disk, err := openLoop(b.volume(t, "probe"), b.dir)
	if err == nil {
		err = disk.Close()
	}
	if err != nil && os.Getenv("LAB_REQUIRE") != "all" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// volume makes a file of a MiB among the volumes.
func (b *bench) volume(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(b.dir, "volumes", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	return path
}

// loops waits until so many loop devices have files of the host.
func (b *bench) loops(t *testing.T, want int) {
	t.Helper()
	b.until(t, "the loop devices", func() error {
		files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
		if err != nil {
			return err
		}
		found := 0
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), b.dir+"/") {
				found++
			}
		}
		if found != want {
			return fmt.Errorf("%d have files of the host, not %d", found, want)
		}
		return nil
	})
}

// newBench prepares a host. Where the machine cannot run servers, the test is skipped, unless LAB_REQUIRE=all.
func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	probe := exec.CommandContext(t.Context(), "/proc/self/exe", ProcessProbe, filepath.Join(b.dir, "probe"))
	process.Isolate(probe)
	if output, err := probe.CombinedOutput(); err != nil {
		cannotRun(t, fmt.Sprintf("%v: %s", err, output))
	}
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(b.dir, "image")
	if err := os.MkdirAll(filepath.Join(image, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(image, "bin", "sh"), own, 0o700); err != nil { //nolint:gosec // A program.
		t.Fatal(err)
	}
	return b
}

func (b *bench) start(t *testing.T, octet int) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(b.dir, "host.log")
	b.record, err = process.StartDetached(process.Spec{
		Path: executable, Args: []string{ProcessHost, b.dir, strconv.Itoa(octet)}, Dir: b.dir, LogFile: log, Isolated: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	record := b.record
	t.Cleanup(func() {
		if err := record.Kill(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if output, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("the host says:\n%s", output)
		}
	})
	b.until(t, "the host", func() error {
		var place Place
		if _, err := b.ask(http.MethodGet, "/", nil, &place); err != nil {
			return err
		}
		b.octet = place.Octet
		return nil
	})
}

// definition is a server with a card on each of two networks, as far as there are last octets for them.
func (b *bench) definition(name string, last ...int) Definition {
	d := Definition{Name: "instance-" + name, Hostname: "host-" + name}
	for network, octet := range last {
		d.Interfaces = append(d.Interfaces, b.card(network, octet))
	}
	return d
}

func (b *bench) card(network, last int) Interface {
	return Interface{
		Port:      fmt.Sprintf("%04d%04d-port", network, last),
		Network:   fmt.Sprintf("%04d-network", network),
		MAC:       fmt.Sprintf("fa:16:3e:00:%02x:%02x", network, last),
		MTU:       1450,
		Addresses: []netip.Prefix{netip.MustParsePrefix(b.address(network, last) + "/24")},
		Gateways:  []netip.Prefix{netip.MustParsePrefix(b.address(network, 1) + "/24")},
	}
}

func (b *bench) address(network, last int) string {
	return fmt.Sprintf("%d.%d.%d.%d", firstOctet, b.octet, network, last)
}

// expectAnswer waits until a server answers with a text.
func (b *bench) expectAnswer(t *testing.T, address, line, want string) {
	t.Helper()
	b.until(t, address, func() error {
		if got := ask(address, line); got != want && want != "" {
			return fmt.Errorf("it says %q, not %q", got, want)
		}
		return nil
	})
}

func (b *bench) until(t *testing.T, what string, try func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := poll.Until(ctx, what, func(context.Context) error { return try() }); err != nil {
		t.Fatal(err)
	}
}

// running are the names of the servers that run.
func (b *bench) running(t *testing.T) string {
	t.Helper()
	var list []Status
	b.call(t, http.MethodGet, "/servers", nil, &list)
	var names []string
	for _, s := range list {
		if s.Running {
			names = append(names, s.ID)
		}
	}
	return strings.Join(names, " ")
}

func (b *bench) call(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if code, err := b.ask(method, path, in, out); err != nil {
		t.Fatalf("%s %s: %d: %v", method, path, code, err)
	}
}

func (b *bench) try(t *testing.T, method, path string, in, out any) int {
	t.Helper()
	code, _ := b.ask(method, path, in, out)
	return code
}

func (b *bench) ask(method, path string, in, out any) (int, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			folder, err := os.Open(b.dir)
			if err != nil {
				return nil, err
			}
			defer folder.Close() //nolint:errcheck // It was only looked up.
			return (&net.Dialer{}).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), Socket))
		},
	}}
	request, err := http.NewRequest(method, "http://host"+path, bytes.NewReader(body)) //nolint:noctx // The client has a timeout.
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // It was read.
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return response.StatusCode, errors.Join(err, errors.New(string(data)))
	}
	if out == nil {
		return response.StatusCode, nil
	}
	return response.StatusCode, json.Unmarshal(data, out)
}
