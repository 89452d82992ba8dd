//go:build unix

package sshtest

import (
	"os"
	"syscall"
)

// ownSession puts a command into a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// endSession kills a command with its process group.
func endSession(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
