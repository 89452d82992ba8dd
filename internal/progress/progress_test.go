package progress

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestWrite(t *testing.T) {
	op := vnfm.Operation{ID: "1", Type: vnfm.OpScale, State: vnfm.StateProcessing, StartedAt: time.Now().Add(-3 * time.Second)}
	failed := op
	failed.State, failed.Error = vnfm.StateFailedTemp, "two\n  lines"
	says := func(op vnfm.Operation, line string) vnfm.Progress {
		return vnfm.Progress{Instance: "core", Operation: op, Line: line}
	}
	for _, test := range []struct {
		name string
		bars bool
		says []vnfm.Progress
		want string
	}{
		{"a step", false, []vnfm.Progress{says(op, "3/5 done, waiting for\nweb")}, `^\d\d:\d\d:\d\d  core  SCALE  3s  3/5 done, waiting for web\n$`},
		{"a bar", true, []vnfm.Progress{says(op, "3/5 done")}, `  \[############--------\] 3/5 done\n$`},
		{"a state", true, []vnfm.Progress{says(op, "")}, `  3s  PROCESSING\n$`},
		{"a failure", false, []vnfm.Progress{says(failed, "")}, `  FAILED_TEMP: two lines\n$`},
		{"two steps at once", false, []vnfm.Progress{says(op, "1/5 done"), says(op, "2/5 done")}, `^[^\n]* 1/5 done\n$`},
		{"a step and a state", false, []vnfm.Progress{says(op, "1/5 done"), says(failed, "")}, `1/5 done\n.*FAILED_TEMP.*\n$`},
		{"more than all", true, []vnfm.Progress{says(op, "7/5 done")}, `\[####################\] 7/5`},
		{"control characters", false, []vnfm.Progress{says(op, "waiting for \x1b[2J\u009b1m\u202e")}, `waiting for \\u001b\[2J\\u009b1m\\u202e\n$`},
		{"none of none", true, []vnfm.Progress{says(op, "0/0 done")}, `\[####################\] 0/0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			l := newLines(&out, test.bars)
			for _, p := range test.says {
				l.Write(p)
			}
			if !regexp.MustCompile(test.want).MatchString(out.String()) {
				t.Errorf("wrote %q, want %s", out.String(), test.want)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "progress")
	for range 2 {
		l, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		l.Write(vnfm.Progress{Instance: "core", Operation: vnfm.Operation{Type: vnfm.OpHeal, State: vnfm.StateCompleted}})
	}
	text, err := os.ReadFile(name)
	if err != nil || bytes.Count(text, []byte("COMPLETED\n")) != 2 {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if _, err := Open(filepath.Join(name, "none")); err == nil {
		t.Error("a file in no folder was opened")
	}
}
