//go:build unix

package sqlite

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// mayWrite returns why this user cannot make anything in a directory.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}
