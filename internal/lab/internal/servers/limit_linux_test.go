package servers

import (
	"os"
	"strings"
	"testing"
)

// TestRaiseLimit leaves a limit alone that is high enough, and cannot read one that is not there.
func TestRaiseLimit(t *testing.T) {
	const name = "fs/inotify/max_user_instances"
	before, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		t.Skip(err)
	}
	if err := raiseLimit(name, 1); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile("/proc/sys/" + name); err != nil || string(after) != string(before) {
		t.Errorf("the limit is %q, and was %q: %v", after, before, err)
	}
	if err := raiseLimit("fs/no-such-limit", 1); err == nil || !strings.Contains(err.Error(), "fs/no-such-limit") {
		t.Errorf("got %v", err)
	}
}
