// Package process starts programs that outlive their starter, recognises them later and stops them.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// pollInterval is how often a process that got a signal is looked at.
const pollInterval = 20 * time.Millisecond

// Record identifies a process beyond the reuse of its id: two processes never share both id and start time.
type Record struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

// Spec is a program to start.
type Spec struct {
	// Path and Args are the executable and its arguments, without the program's own name.
	Path string
	Args []string
	// Dir is the working directory.
	Dir string
	// LogFile receives standard output and standard error; it is appended to.
	LogFile string
	// Files are inherited as descriptors 3, 4, ...
	Files []*os.File
	// Isolated gives the program a tree of mounts and of processes of its own: what it mounts nobody else sees, and the
	// kernel ends its children with it, however it ends. Linux only, with the rights of root.
	Isolated bool
}

// StartDetached starts a program in a session of its own, so that neither the end of the caller nor a Ctrl-C at its
// terminal reaches it.
func StartDetached(spec Spec) (Record, error) {
	log, err := os.OpenFile(spec.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Record{}, fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close() //nolint:errcheck // The child has its own descriptor, ours was never written to.

	// No context: the process is meant to live on when the caller is gone.
	command := exec.Command(spec.Path, spec.Args...) //nolint:gosec,noctx // The caller starts its own executable.
	command.Dir = spec.Dir
	command.Env = environment(os.Environ())
	command.Stdout, command.Stderr = log, log
	command.ExtraFiles = spec.Files
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if spec.Isolated {
		Isolate(command)
	}
	if err := command.Start(); err != nil {
		return Record{}, fmt.Errorf("starting %s: %w", strings.Join(spec.Args, " "), err)
	}
	pid := command.Process.Pid
	started, err := startTime(pid)
	if err != nil {
		return Record{}, errors.Join(fmt.Errorf("reading the start time of process %d: %w", pid, err), command.Process.Kill())
	}
	// Reaps the child if it dies while the caller still runs, so that it does not pass for alive.
	go func() { _ = command.Wait() }()
	return Record{PID: pid, Started: started}, nil
}

// Of records a process that runs.
func Of(pid int) (Record, error) {
	started, err := startTime(pid)
	if err != nil {
		return Record{}, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return Record{PID: pid, Started: started}, nil
}

// Alive tells whether the recorded process still runs. A zombie does not.
func (r Record) Alive() bool {
	if r.PID <= 0 {
		return false
	}
	started, err := startTime(r.PID)
	return err == nil && started == r.Started
}

// Kill ends the recorded process at once and waits until it is gone. It does nothing when the process has gone, or when
// its id now belongs to another one.
func (r Record) Kill(ctx context.Context) error { return r.end(ctx, syscall.SIGKILL) }

// Terminate is Kill for a process that is to end in order.
func (r Record) Terminate(ctx context.Context) error { return r.end(ctx, syscall.SIGTERM) }

func (r Record) end(ctx context.Context, signal syscall.Signal) error {
	if !r.Alive() {
		return nil
	}
	if err := syscall.Kill(r.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending process %d: %w", r.PID, err)
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for r.Alive() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d got %s and is still there: %w", r.PID, signal, ctx.Err())
		case <-ticker.C:
		}
	}
	return nil
}

// environment leaves out what would change the programs behind our back: etcd takes any flag from ETCD_*, and the
// Kubernetes clients honour proxies and a default kubeconfig.
func environment(all []string) []string {
	kept := make([]string, 0, len(all))
	for _, entry := range all {
		name, _, _ := strings.Cut(entry, "=")
		upper := strings.ToUpper(name)
		if strings.HasPrefix(upper, "ETCD_") || strings.HasSuffix(upper, "_PROXY") || strings.HasPrefix(upper, "KUBE") {
			continue
		}
		kept = append(kept, entry)
	}
	return kept
}
