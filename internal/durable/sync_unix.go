//go:build !windows

package durable

import (
	"errors"
	"os"
)

// SyncDir brings the names in a directory to the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
