package e2e_test

import (
	"os"
	"syscall"
)

// ownPIDs is the flag of a PID namespace of one's own, or 0 where this process may not make one.
func ownPIDs() uintptr {
	if os.Geteuid() != 0 {
		return 0
	}
	return syscall.CLONE_NEWPID
}

// isolate has a process run in the namespaces of those flags.
func isolate(attributes *syscall.SysProcAttr, flags uintptr) { attributes.Cloneflags = flags }
