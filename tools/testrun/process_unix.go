//go:build unix

package main

import (
	"os"
	"syscall"
	"time"
)

// ownGroup makes a process the leader of a group, so that all that it starts can be ended with it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// account reads the processor time of an ended process: what Wait tells is that of the process and of the children that it
// waited for. The part of the process alone was seen last by the sampler.
func (a *attempt) account(state *os.ProcessState) {
	if state == nil {
		return
	}
	all := state.UserTime() + state.SystemTime()
	a.own = min(a.own, all)
	if a.own == 0 {
		a.own = all
	}
	a.children = max(0, all-a.own)
	_ = time.Second
}
