package layout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

func TestOpenRefusesForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Fatal("a directory with foreign files was accepted")
	}
	if _, err := Find(dir); !errors.Is(err, ErrNoLab) {
		t.Errorf("finding a lab where there is none: %v", err)
	}
}

func TestInner(t *testing.T) {
	outer := makeLab(t, filepath.Join(t.TempDir(), "lab"))
	if found, err := outer.Inner(); err != nil || len(found) != 0 {
		t.Errorf("labs in a new one: %v, %v", found, err)
	}
	inner := makeLab(t, outer.Path("second"))
	if err := os.WriteFile(outer.Path("notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := outer.Inner()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Dir{inner}, found); diff != "" {
		t.Errorf("labs inside (-want +got):\n%s", diff)
	}
}

// makeLab makes the directory of a lab, which the first lock of it marks as one.
func makeLab(t *testing.T, path string) Dir {
	t.Helper()
	dir, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := dir.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	return dir
}

func TestState(t *testing.T) {
	dir, err := Open(filepath.Join(t.TempDir(), "lab"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.LoadState(); !IsMissing(err) {
		t.Errorf("state of a new lab: %v", err)
	}
	want := &State{Ports: 22016, Nodes: 3, AdminToken: "t", Processes: map[string]process.Record{"etcd": {PID: 7, Started: "8"}}}
	if err := dir.SaveState(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.LoadState()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	info, err := os.Stat(dir.stateFile())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the state file has mode %o", info.Mode().Perm())
	}
}

func TestLockExcludes(t *testing.T) {
	dir, err := Open(filepath.Join(t.TempDir(), "lab"))
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := dir.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 3*lockInterval)
	defer cancel()
	if _, err := dir.Lock(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v", err)
	}
	unlock()
	again, cancelAgain := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancelAgain()
	unlock, err = dir.Lock(again)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	unlock()
}

func TestChoosePorts(t *testing.T) {
	first, listeners, err := ChoosePorts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := listeners.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := first.Listen(t.Context()); err == nil {
		t.Error("a claimed block could be claimed again")
	}
	seen := map[int]bool{}
	for _, port := range append(first.ours(), first.theirs()...) {
		if seen[port] || port < int(first) || port >= int(first)+blockSize {
			t.Errorf("port %d is doubled or outside the block %d", port, first)
		}
		seen[port] = true
	}
}
