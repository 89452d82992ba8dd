// Package tempfile makes temporary files that do not outlive the process that uses them, however it ends.
package tempfile

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// prefix begins the names of all files.
	prefix = "terraform-provider-vnf-"
	// abandonedAge is the time after the last write from which a file that has a name is one of a process that was killed.
	abandonedAge = 6 * time.Hour
)

var sweepOnce sync.Once

// Create opens a new file that its owner alone can read, for reading and writing, and returns it with a function that
// removes it after it was closed. suffix ends its name. Where the system allows it, the file has no name any more when Create
// returns, and is gone with the process that has it open. Elsewhere, files that killed processes have left are removed by the next
// process that creates one.
func Create(suffix string) (f *os.File, remove func(), err error) {
	sweepOnce.Do(func() { sweep(os.TempDir(), time.Now().Add(-abandonedAge)) })
	f, err = os.CreateTemp("", prefix+"*"+suffix)
	if err != nil {
		return nil, nil, err
	}
	if os.Remove(f.Name()) == nil {
		return f, func() {}, nil
	}
	return f, func() { _ = os.Remove(f.Name()) }, nil
}

// sweep removes the files of a folder that were last written before a time. One that cannot be removed is open, or somebody else's.
func sweep(folder string, before time.Time) {
	found, err := filepath.Glob(filepath.Join(folder, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range found {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(path)
		}
	}
}
