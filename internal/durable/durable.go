// Package durable makes directories that are there after a loss of power.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MkdirAll is os.MkdirAll whose new directories are on the disk when it returns, each
// by its name in the one above.
func MkdirAll(dir string, mode fs.FileMode) error { return mkdirAll(dir, mode, SyncDir) }

func mkdirAll(dir string, mode fs.FileMode, sync func(string) error) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		// os.MkdirAll rejects a path that is not a directory.
		return os.MkdirAll(dir, mode)
	}
	parent := filepath.Dir(dir)
	if err := mkdirAll(parent, mode, sync); err != nil {
		return err
	}
	if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return sync(parent)
}
