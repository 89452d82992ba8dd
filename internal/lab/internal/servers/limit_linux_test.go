package servers

import (
	"os"
	"strings"
	"testing"
)

// TestRaiseLimit leaves a limit alone that is high enough, and cannot read one that is not there. Labs beside it may raise it.
func TestRaiseLimit(t *testing.T) {
	const name = "fs/inotify/max_user_instances"
	if err := raiseLimit(name, 1); err != nil {
		t.Error(err)
	}
	if limit, err := os.ReadFile("/proc/sys/" + name); err != nil || strings.TrimSpace(string(limit)) == "1" {
		t.Errorf("the limit is %q: %v", limit, err)
	}
	if err := raiseLimit("fs/no-such-limit", 1); err == nil || !strings.Contains(err.Error(), "fs/no-such-limit") {
		t.Errorf("got %v", err)
	}
}
