package servers

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// useGroups makes a control group below that of the server, and says which one the server sees itself in.
func useGroups() string {
	inner := filepath.Join(groupsFolder, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // As in any system.
		return err.Error()
	}
	if err := os.WriteFile(filepath.Join(inner, "cgroup.procs"), []byte("0"), 0); err != nil {
		return err.Error()
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(groups)) {
		if group, found := strings.CutPrefix(line, "0::"); found {
			return strings.TrimSpace(group)
		}
	}
	return "none"
}

// cannotRun skips a test that this machine cannot run, or fails it where nothing may be skipped.
func cannotRun(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("LAB_REQUIRE") == "all" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// startManaged starts a host for servers with control groups of their own, where these can run.
func startManaged(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	probe := exec.CommandContext(t.Context(), "/proc/self/exe", ProcessProbe, "--managed")
	process.Isolate(probe)
	if output, err := probe.CombinedOutput(); err != nil {
		cannotRun(t, fmt.Sprintf("%v: %s", err, output))
	}
	b.start(t, 0)
	return b
}

// TestManaged has a server of a system with control groups of its own run, which has layers above the image: no group is
// left of one that is stopped, nor of a host that is killed.
func TestManaged(t *testing.T) {
	b := startManaged(t)
	lock := filepath.Join(b.dir, LockFile)
	sweeper, err := process.StartDetached(process.Spec{
		Path: "/proc/self/exe", Args: []string{ProcessSweep, lock, strconv.Itoa(b.octet)}, LogFile: filepath.Join(b.dir, "sweeper.log"), Isolated: true,
	})
	if err != nil {
		t.Fatal(err)
	}

	definition := b.definition("one", 5)
	definition.System = SystemDocker
	code, err := b.ask(http.MethodPut, "/servers/one", definition, nil)
	if code != http.StatusBadRequest || !strings.Contains(err.Error(), "lab openstack up --systems docker") {
		t.Errorf("a server of a system that is not there: %d, %v", code, err)
	}
	b.layer(t, SystemDocker)
	b.call(t, http.MethodPut, "/servers/one", definition, nil)
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "hello", "host-one 1")
	b.expectAnswer(t, b.address(0, 5), "groups", "/inner")
	group := fmt.Sprintf("/lab%d/one", b.octet)
	if !strings.Contains(groups(t), group+"/inner") {
		t.Errorf("the control groups of the machine are %s", groups(t))
	}
	b.call(t, http.MethodPost, "/servers/one/stop", nil, nil)
	if strings.Contains(groups(t), group) {
		t.Errorf("after a stop the control groups of the machine are %s", groups(t))
	}
	b.call(t, http.MethodPost, "/servers/one/start", nil, nil)
	b.expectAnswer(t, b.address(0, 5), "groups", "/inner")

	if err := b.record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until(t, "the end of the sweeper", func() error {
		if sweeper.Alive() {
			return errors.New("it runs")
		}
		return nil
	})
	if strings.Contains(groups(t), fmt.Sprintf("/lab%d", b.octet)) {
		output, _ := os.ReadFile(filepath.Join(b.dir, "sweeper.log"))
		t.Errorf("after the end of the host the control groups of the machine are %s, and the sweeper says %q", groups(t), output)
	}
}

// layer makes a system: this program is its first process.
func (b *bench) layer(t *testing.T, system string) {
	t.Helper()
	layer, systems := filepath.Join(b.dir, "layer"), filepath.Join(b.dir, "systems")
	for _, folder := range []string{filepath.Join(layer, "sbin"), systems} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(b.dir, "image", "bin", "sh"), filepath.Join(layer, "sbin", "init")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(layer, filepath.Join(systems, system)); err != nil {
		t.Fatal(err)
	}
}

// groups are the control groups of labs, as the machine sees them.
func groups(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "cgroup2" {
			continue
		}
		for _, pattern := range []string{"lab*", "lab*/*", "lab*/*/*"} {
			names, err := filepath.Glob(filepath.Join(fields[1], pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if info, err := os.Stat(name); err == nil && info.IsDir() {
					found = append(found, name)
				}
			}
		}
		return strings.Join(found, " ")
	}
	const reason = "this machine shows no control groups of version 2"
	cannotRun(t, reason)
	return ""
}
