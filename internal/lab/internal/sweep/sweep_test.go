package sweep

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// started starts a process that lives until the end of the test.
func started(t *testing.T, dir string, args ...string) process.Record {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	if len(args) > 0 {
		cmd = exec.CommandContext(t.Context(), args[0], args[1:]...) //nolint:gosec // A program of the test.
	}
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	record, err := process.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// ended is a process that was killed.
func ended(t *testing.T) process.Record {
	t.Helper()
	record := started(t, "")
	if err := record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return record
}

// lab makes the directory of a lab with one process.
func lab(t *testing.T, path string, owner process.Record) (layout.Dir, process.Record) {
	t.Helper()
	dir, err := layout.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := dir.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	record := started(t, path)
	if err := dir.SaveState(&layout.State{Owner: owner, Processes: process.Set{"etcd": record}}); err != nil {
		t.Fatal(err)
	}
	return dir, record
}

// down is what the lab's own end does, for a lab of the test.
func down(ctx context.Context, dir layout.Dir) (bool, error) {
	state, err := dir.LoadState()
	if err != nil || !layout.Abandoned(state.Owner) {
		return false, err
	}
	if err := state.Processes.Stop(ctx, []string{"etcd"}); err != nil {
		return false, err
	}
	if err := os.RemoveAll(string(dir)); err != nil {
		return false, err
	}
	return true, dir.Deleted()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestSweep(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	at := func(elements ...string) string { return filepath.Join(append([]string{temporary}, elements...)...) }
	living, dead := started(t, ""), ended(t)

	abandoned, itsProcess := lab(t, at("TestKilled1", "001", "lab"), dead)
	t.Setenv("VNF_LAB_OWNER", fmt.Sprint(dead.PID))
	t.Setenv("VNF_LAB_DIR", string(abandoned))
	itsUser := started(t, "")
	// Labs that this one has started. They may come first in the register.
	var inner []layout.Dir
	for n := range 6 {
		each, _ := lab(t, at(fmt.Sprintf("TestKilled%d", n+2), "001", "lab"), itsUser)
		inner = append(inner, each)
	}
	t.Setenv("VNF_LAB_DIR", string(abandoned)+"/second")
	anotherUser := started(t, "")
	owned, ownedProcess := lab(t, at("owned"), living)
	stays, staysProcess := lab(t, at("stays"), process.Record{})
	vanished, vanishedProcess := lab(t, at("vanished"), living)
	if err := os.Mkdir(vanished.Path("programs"), 0o700); err != nil {
		t.Fatal(err)
	}
	program := started(t, vanished.Path("programs"), "tail", "-f", "--", "/dev/null", "--kubeconfig="+vanished.Path("programs", "kubeconfig"))
	shell := started(t, vanished.Path("programs"))
	if err := os.RemoveAll(string(vanished)); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{
		at(fmt.Sprintf("vnf-ci.%d.Ab3dE6", dead.PID)):               false,
		at(fmt.Sprintf("vnf-test.%d.Ab3dE6", dead.PID)):             false,
		at(fmt.Sprintf("vnf-test.%d.Ab3dE6.err", dead.PID)):         false,
		at(fmt.Sprintf("vnf-lab.%d.Ab3dE6", dead.PID)):              false,
		at(fmt.Sprintf("vnf-postgres.%d.1234567", dead.PID)):        false,
		at(fmt.Sprintf("vnf-postgres.%d.1234567/server", dead.PID)): false,
		at(fmt.Sprintf("vnf-postgres.%d.1234567", living.PID)):      true,
		at(fmt.Sprintf("vnf-ci.%d.Ab3dE6", living.PID)):             true,
		at(fmt.Sprintf("vnf-other.%d.Ab3dE6", dead.PID)):            true,
		at("vnf-lab.Ab3dE6"):                                        true,
		at(fmt.Sprintf("my-vnf-lab.%d.Ab3dE6", dead.PID)):           true,
		at(fmt.Sprintf("vnf-lab.%d.Ab3dE6/more", dead.PID)):         false,
		at(fmt.Sprintf("vnf-ci.%d.Ab3dE6/more", living.PID)):        true,
	}
	for path := range left {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	var out bytes.Buffer
	if err := (Sweep{Down: down, Out: &out}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if itsProcess.Alive() || exists(at("TestKilled1")) {
		t.Errorf("the lab whose owner has ended is there: process %v, folder %v", itsProcess.Alive(), exists(string(abandoned)))
	}
	for _, dir := range inner {
		if exists(string(dir)) {
			t.Errorf("the lab in %s is there, whose owner the sweep has ended", dir)
		}
	}
	if itsUser.Alive() || !anotherUser.Alive() {
		t.Errorf("what uses the lab whose owner has ended lives: %v; what uses another one: %v", itsUser.Alive(), anotherUser.Alive())
	}
	if vanishedProcess.Alive() || program.Alive() {
		t.Errorf("processes of the lab without a directory live: %v, program %v", vanishedProcess.Alive(), program.Alive())
	}
	if !shell.Alive() {
		t.Error("a process has ended that only stood where the lab was")
	}
	if !ownedProcess.Alive() || !owned.IsLab() || !staysProcess.Alive() || !stays.IsLab() {
		t.Error("a lab has ended that has a living owner, or none")
	}
	for path, want := range left {
		if exists(path) != want {
			t.Errorf("%s is there: %v, want %v", path, !want, want)
		}
	}
	for _, want := range []string{string(abandoned) + " is gone", "2 processes have ended", "vnf-ci."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the sweep does not say %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := (Sweep{Down: down, Out: &out}).Run(t.Context()); err != nil || out.Len() > 0 {
		t.Errorf("a second sweep: %v, %s", err, out.String())
	}
	entries, err := layout.Registered()
	if err != nil || len(entries) != 2 {
		t.Errorf("registered are %v, %v; want two labs", entries, err)
	}
}

// A failed removal does not stop the others, and is retried.
func TestSweepGoesOn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := ended(t)
	var dirs []layout.Dir
	for _, name := range []string{"a", "b", "c"} {
		dir, _ := lab(t, filepath.Join(os.TempDir(), name), dead)
		dirs = append(dirs, dir)
	}
	refusing := func(ctx context.Context, dir layout.Dir) (bool, error) {
		if dir == dirs[1] {
			return false, fmt.Errorf("%s does not end", dir)
		}
		return down(ctx, dir)
	}
	var out bytes.Buffer
	if err := (Sweep{Down: refusing, Out: &out}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), string(dirs[1])+" does not end") {
		t.Errorf("the error is %v", err)
	}
	if dirs[0].IsLab() || !dirs[1].IsLab() || dirs[2].IsLab() {
		t.Errorf("the labs are there: %v, %v, %v", dirs[0].IsLab(), dirs[1].IsLab(), dirs[2].IsLab())
	}
	if err := (Sweep{Down: down, Out: &out}).Run(t.Context()); err != nil || dirs[1].IsLab() {
		t.Errorf("the next sweep: %v, the lab is there: %v", err, dirs[1].IsLab())
	}
}

// A register that somebody else could write is none: what stands there is killed.
func TestSweepForeignRegister(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("vnf-labs-%d", os.Getuid()))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o770); err != nil { //nolint:gosec // That is the point.
		t.Fatal(err)
	}
	err := Sweep{Down: down, Out: &bytes.Buffer{}}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "this user alone can write") {
		t.Errorf("the error is %v", err)
	}
}
