//go:build !unix

package sshtest

import (
	"os"
	"syscall"
)

// ownSession puts a command where it is.
func ownSession() *syscall.SysProcAttr { return nil }

// endSession kills a command.
func endSession(p *os.Process) { _ = p.Kill() }
