package servers

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/vishvananda/netns"
)

// program is one of the root of services, which may outlive the request that it is started for.
func (h *host) program(command ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", slices.Concat(h.Enter, command)...) //nolint:gosec,noctx // This program.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
	return cmd
}

// run runs a program of the root of services in a network namespace to its end. An error has what it said.
func (h *host) run(space netns.NsHandle, stdin string, command ...string) error {
	var said bytes.Buffer
	cmd := h.program(command...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &said, &said
	err := within(space, cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", command[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// within has a process started in a network namespace: it gets that of the thread that starts it.
func within(space netns.NsHandle, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := netns.Get()
	if err != nil {
		return fmt.Errorf("finding the network namespace of this process: %w", err)
	}
	defer own.Close() //nolint:errcheck // It was only looked up.
	if err := netns.Set(space); err != nil {
		return fmt.Errorf("entering a network namespace: %w", err)
	}
	err = start()
	comeBack(own)
	return err
}

// comeBack returns a thread to the network namespace of this process.
func comeBack(own netns.NsHandle) {
	if err := netns.Set(own); err != nil {
		// Nothing else can be done on this thread.
		panic(fmt.Sprintf("returning to the network namespace of this process: %v", err))
	}
}
