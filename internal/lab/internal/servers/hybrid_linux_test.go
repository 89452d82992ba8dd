package servers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// nodeVersion is the version of Kubernetes that there is in TestNode.
const nodeVersion = "v1.2.3"

// TestNode has a server of the system of nodes run, of a version that there is: it begins with the images of a template, whose layers it shares, and with what
// cloud-init reads, and finds a service of the machine where the machine does; it has a group in each hierarchy of version 1, which goes with it, and with a host that is killed.
func TestNode(t *testing.T) {
	b := startManaged(t)
	service := b.newService(t)
	sweeper, err := process.StartDetached(process.Spec{
		Path: "/proc/self/exe", Args: []string{ProcessSweep, filepath.Join(b.dir, LockFile), strconv.Itoa(b.octet)}, LogFile: filepath.Join(b.dir, "sweeper.log"), Isolated: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.layer(t, SystemKubernetes)
	blob, database := b.imagesTemplate(t)

	definition := b.definition("one", 5)
	definition.System, definition.UserData = SystemKubernetes, []byte("## template: jinja\n#cloud-config\n")
	definition.Version = "v1.0.0"
	if code := b.try(t, http.MethodPut, "/servers/one", definition, nil); code != http.StatusBadRequest {
		t.Errorf("a server of a version that the lab does not have: %d", code)
	}
	definition.Version = nodeVersion
	b.call(t, http.MethodPut, "/servers/one", definition, nil)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 1")
	b.expectAnswer(t, b.address(0, 5), "reach "+service, "service")
	at := filepath.Join(b.dir, "data", "one")
	if text, err := os.ReadFile(filepath.Join(at, folderWritten, "var/lib/cloud/seed/nocloud/user-data")); err != nil || string(text) != string(definition.UserData) {
		t.Errorf("cloud-init finds %q (%v)", text, err)
	}
	if !sameFile(t, filepath.Join(at, folderData, "containerd", blob), filepath.Join(b.dir, "template", blob)) {
		t.Error("the server has a copy of a blob")
	}
	if sameFile(t, filepath.Join(at, folderData, "containerd", database), filepath.Join(b.dir, "template", database)) {
		t.Error("the server writes to the database of the template")
	}

	all, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	b.expectOld(t, len(all))
	b.call(t, http.MethodPost, "/servers/one/stop", nil, nil)
	b.expectOld(t, 0)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectOld(t, len(all))
	b.expectAnswer(t, b.address(0, 5), "reach "+service, "service")
	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until(t, "the end of the sweeper", func() error {
		if sweeper.Alive() {
			return errors.New("it runs")
		}
		return nil
	})
	b.expectOld(t, 0)
	if left, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/lab%d", b.octet)); err != nil || len(left) > 0 {
		t.Errorf("after the end of the host there are %s (%v)", left, err)
	}
}

// newService has something listen on this machine that servers are to find, and returns where.
func (b *bench) newService(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 100))
			_, _ = io.WriteString(conn, "service")
			_ = conn.Close()
		}
	}()
	address := netip.MustParseAddrPort(listener.Addr().String())
	if err := os.WriteFile(filepath.Join(b.dir, "services"), []byte(strconv.Itoa(int(address.Port()))), 0o600); err != nil {
		t.Fatal(err)
	}
	return address.String()
}

// readPorts reads what newService has written, if it has.
func readPorts(file string) ([]int, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(string(text))
	return []int{port}, err
}

// imagesTemplate makes a layer of programs without any, and what containerd's folder of servers begins as, and names a file in it that is shared and one that is not.
func (b *bench) imagesTemplate(t *testing.T) (blob, database string) {
	t.Helper()
	blob, database = "io.containerd.content.v1.content/blobs/sha256/00", "io.containerd.metadata.v1.bolt/meta.db"
	for _, name := range []string{blob, database} {
		path := filepath.Join(b.dir, "template", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, folder := range map[string]string{TemplateLink(SystemKubernetes): "template", ProgramsLink(SystemKubernetes, nodeVersion): "programs"} {
		err := errors.Join(os.MkdirAll(filepath.Join(b.dir, folder), 0o700), os.Symlink(filepath.Join(b.dir, folder), filepath.Join(b.dir, "systems", link)))
		if err != nil {
			t.Fatal(err)
		}
	}
	return blob, database
}

// expectOld counts the hierarchies of version 1 in which server one has a group, as the machine sees them.
func (b *bench) expectOld(t *testing.T, want int) {
	t.Helper()
	found, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/lab%d/one", b.octet))
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(path string) bool { return strings.Contains(path, "/unified/") })
	if len(found) != want {
		t.Errorf("server one has the groups %s of version 1, not %d", found, want)
	}
}

func sameFile(t *testing.T, one, other string) bool {
	t.Helper()
	a, err := os.Stat(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(other)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(a, b)
}
