package process

import (
	"os"
	"path/filepath"
	"strings"
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

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "ETCD_NAME=x", "https_proxy=http://p", "NO_PROXY=*", "KUBECONFIG=/k", "HOME=/h"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/h"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
