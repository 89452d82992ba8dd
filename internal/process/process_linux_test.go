package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInForeignProc looks up a process where /proc shows the PID namespace of the parent: nothing can be told of it.
func TestInForeignProc(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // The test binary itself.
	cmd.Env = append(os.Environ(), "PROCESS_TEST_CHILD=foreign")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	out, err := cmd.Output()
	if err != nil && os.Geteuid() != 0 {
		t.Skipf("PID namespaces cannot be made here: %v", err)
	}
	require.NoError(t, err)
	require.Equal(t, "dead: false, runs: false", string(out))
}
