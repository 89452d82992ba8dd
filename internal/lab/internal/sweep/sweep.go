// Package sweep removes what labs leave behind whose users were killed: the labs themselves, processes of a lab whose
// directory was deleted, and temporary folders.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// patience bounds the end of one lab. The sweep waits for a lab that is being started.
const patience = 2 * time.Minute

// Sweep is what a sweep needs.
type Sweep struct {
	// Down stops the lab of a directory and deletes it, if its owner has ended.
	Down func(ctx context.Context, dir layout.Dir) (gone bool, err error)
	// Out gets a line for each removal.
	Out io.Writer
}

// Run removes all that can be removed. A failure is an error, and the others are removed all the same.
func (s Sweep) Run(ctx context.Context) error {
	var errs []error
	// Users of a lab end with it, and may have owned others.
	for again := true; again; {
		again = false
		entries, err := layout.Registered()
		errs = []error{err}
		for _, entry := range entries {
			gone, err := s.lab(ctx, entry)
			again = again || gone
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, s.temporary())...)
}

// lab removes a lab whose owner has ended, or what is left of one without a directory.
func (s Sweep) lab(ctx context.Context, entry layout.Entry) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !entry.Dir.IsLab() {
		return false, s.leftover(ctx, entry)
	}
	if !layout.Abandoned(entry.Owner) {
		return false, nil
	}
	// They might start in the lab what was just stopped. Each round finds what those of the one before have started.
	for range 5 {
		running := users(entry)
		for _, record := range running {
			if err := record.Kill(ctx); err != nil {
				return false, fmt.Errorf("ending what uses the lab in %s: %w", entry.Dir, err)
			}
		}
		if len(running) == 0 {
			break
		}
	}
	gone, err = s.Down(ctx, entry.Dir)
	if err != nil || !gone {
		return false, err
	}
	removeEmpty(filepath.Dir(string(entry.Dir)))
	_, err = fmt.Fprintf(s.Out, "the lab in %s is gone: process %d, which had started it, has ended\n", entry.Dir, entry.Owner.PID)
	return true, err
}

// leftover ends the processes of a lab whose directory has gone.
func (s Sweep) leftover(ctx context.Context, entry layout.Entry) error {
	ended := 0
	for _, record := range append(entry.Processes, podPrograms(entry.Dir)...) {
		if !record.Alive() {
			continue
		}
		if err := record.Kill(ctx); err != nil {
			return fmt.Errorf("ending what is left of the lab that was in %s: %w", entry.Dir, err)
		}
		ended++
	}
	if ended > 0 {
		fmt.Fprintf(s.Out, "%d processes have ended of the lab that was in %s\n", ended, entry.Dir)
	}
	return entry.Dir.Deleted()
}

// removeEmpty removes a temporary folder, and those above it, as far as nothing is in them: Go's tests have such.
func removeEmpty(folder string) {
	within := filepath.Clean(os.TempDir()) + string(filepath.Separator)
	for len(folder) > len(within) && folder[:len(within)] == within && os.Remove(folder) == nil {
		folder = filepath.Dir(folder)
	}
}

// temporaryName is that of the temporary folders and files of the scripts, and of the PostgreSQL servers of tests: what they
// are for, the process that has made them, and any letters.
var temporaryName = regexp.MustCompile(`^vnf-(?:lab|test|ci|postgres)\.([0-9]+)\.[0-9A-Za-z]+(?:\.[a-z]+)?$`)

// temporary removes the temporary folders of scripts and tests that have ended.
func (s Sweep) temporary() error {
	// A lab that could not be stopped needs its directory.
	kept := map[string]bool{}
	entries, err := layout.Registered()
	errs := []error{err}
	for _, entry := range entries {
		kept[string(entry.Dir)] = true
	}
	files, err := os.ReadDir(os.TempDir())
	errs = append(errs, err)
	for _, file := range files {
		name := temporaryName.FindStringSubmatch(file.Name())
		if name == nil {
			continue
		}
		path := filepath.Join(os.TempDir(), file.Name())
		maker, err := strconv.Atoi(name[1])
		if err != nil || kept[path] || !own(path) || alive(maker) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("removing what process %d has left: %w", maker, err))
			continue
		}
		fmt.Fprintf(s.Out, "%s is gone: process %d, which had made it, has ended\n", path, maker)
	}
	return errors.Join(errs...)
}

// own tells whether a file is the user's.
func own(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	return known && int(owner.Uid) == os.Getuid()
}

func alive(pid int) bool {
	record, err := process.Of(pid)
	return err == nil && record.Alive()
}
