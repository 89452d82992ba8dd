package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// stopTimeout bounds the wait for processes that were killed.
const stopTimeout = 20 * time.Second

// quotedLines is how much of a log an error quotes.
const quotedLines = 8

// Set are the processes of a lab by name.
type Set map[string]Record

// Missing names those of some processes that do not run.
func (s Set) Missing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s[name].Alive() })
}

// AwaitEnding waits until those that have begun to end are gone: they would pass for processes that run, and still have their
// files and ports.
func (s Set) AwaitEnding(ctx context.Context) error {
	return poll.Until(ctx, "the end of processes", func(context.Context) error {
		for name, record := range s {
			if record.Alive() && ending(record.PID) {
				return fmt.Errorf("%s, process %d, is ending", name, record.PID)
			}
		}
		return nil
	})
}

// Stop kills processes, given in the order in which they were started: clients end before servers, so that none of them
// fills its log with complaints.
func (s Set) Stop(ctx context.Context, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var errs []error
	for _, name := range slices.Backward(names) {
		if err := s[name].Kill(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", name, err))
			continue
		}
		delete(s, name)
	}
	return errors.Join(errs...)
}

// Until waits for something, and gives up at once when one of the processes has died. log is where its output lies.
func (s Set) Until(ctx context.Context, what string, log func(name string) string, try func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return poll.Until(ctx, what, func(ctx context.Context) error {
		for name, record := range s {
			if !record.Alive() {
				cancel(fmt.Errorf("%s has ended; %s ends with:\n%s", name, log(name), lastLines(log(name))))
			}
		}
		return try(ctx)
	})
}

// lastLines are the end of a log, for the error about a process that has ended.
func lastLines(path string) string {
	data, err := os.ReadFile(path) //nolint:gosec // A log of the lab.
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-quotedLines):], "\n")
}

// Report prints a line of a table for each of some processes.
func (s Set) Report(w io.Writer, names []string, log func(name string) string) {
	for _, name := range names {
		record, started := s[name]
		switch {
		case record.Alive():
			fmt.Fprintf(w, "%s\trunning, pid %d\n", name, record.PID)
		case started:
			fmt.Fprintf(w, "%s\tended, see %s\n", name, log(name))
		default:
			fmt.Fprintf(w, "%s\tnot started\n", name)
		}
	}
}

// PIDs are the identifiers of the processes.
func (s Set) PIDs() map[string]int {
	pids := make(map[string]int, len(s))
	for name, record := range s {
		pids[name] = record.PID
	}
	return pids
}
