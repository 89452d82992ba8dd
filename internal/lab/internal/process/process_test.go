package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStartAndKill(t *testing.T) {
	dir := t.TempDir()
	logFile := filepath.Join(dir, "sh.log")
	record, err := StartDetached(Spec{Path: "/bin/sh", Args: []string{"-c", "echo started; sleep 60"}, Dir: dir, LogFile: logFile})
	if err != nil {
		t.Fatal(err)
	}
	if !record.Alive() {
		t.Fatal("the process is not alive after its start")
	}
	reused := Record{PID: record.PID, Started: record.Started + "0"}
	if reused.Alive() {
		t.Error("a record with another start time passes for the process")
	}
	if err := reused.Kill(t.Context()); err != nil || !record.Alive() {
		t.Errorf("killing by a stale record: %v, process alive: %v", err, record.Alive())
	}

	deadline := time.After(10 * time.Second)
	for text := ""; !strings.Contains(text, "started"); {
		select {
		case <-deadline:
			t.Fatalf("the log holds %q", text)
		case <-time.After(pollInterval):
		}
		data, err := os.ReadFile(logFile)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}

	if err := record.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if record.Alive() {
		t.Error("the process is alive after it was killed")
	}
}

// TestAwaitEnding shows that a process that was just killed is not taken for one that runs, and that one that runs is not waited for.
func TestAwaitEnding(t *testing.T) {
	dir := t.TempDir()
	start := func() Record {
		record, err := StartDetached(Spec{Path: "/bin/sleep", Args: []string{"60"}, Dir: dir, LogFile: filepath.Join(dir, "sleep.log")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = record.Kill(context.WithoutCancel(t.Context())) })
		return record
	}
	set := Set{"runs": start(), "killed": start()}
	if err := syscall.Kill(set["killed"].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(set.Missing([]string{"killed"})) == 0 {
		if err := set.AwaitEnding(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if missing := set.Missing([]string{"runs"}); len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "ETCD_NAME=x", "https_proxy=http://p", "NO_PROXY=*", "KUBECONFIG=/k", "HOME=/h"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/h"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
