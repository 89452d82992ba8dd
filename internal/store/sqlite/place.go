package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckPlace finds out, without making anything, that the database of a path cannot be made: the error is that of the first write. A
// database that is there says itself what may be done with it.
func CheckPlace(ctx context.Context, path string) error {
	s, err := open(ctx, path, defaultTiming())
	if err != nil {
		return err
	}
	if _, err := os.Stat(s.path); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = s.explain("looking for the database file", err)
		}
		return err
	}
	at := s.dir
	_, err = os.Stat(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		_, err = os.Stat(at)
	}
	if err == nil {
		err = mayWrite(at)
	}
	if err != nil {
		return s.explain("making the directory", err)
	}
	return nil
}
