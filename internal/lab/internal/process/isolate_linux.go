package process

import (
	"os/exec"
	"syscall"
)

// Isolate has a command run in a mount and a process namespace of its own. It is the first process there: with it ends
// every other one.
func Isolate(command *exec.Cmd) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
}
