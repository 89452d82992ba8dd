package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// code returns SQLite's result code without the extension, and 0 for other errors.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isDuplicate reports whether a record with the same id or natural key exists.
func isDuplicate(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == codes.SQLITE_CONSTRAINT_UNIQUE
}

// retry does f again while another process holds SQLite's lock, until the time for
// that is over or ctx ends. f must have done nothing when it fails like that. The
// error of f is explained; doing says what f does.
func (s *sqliteStore) retry(ctx context.Context, doing string, f func() error) error {
	end := time.Now().Add(s.timing.busy)
	var last error
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if err == nil {
			return nil
		}
		// SQLite reports the end of the context as an interruption.
		switch {
		case ctx.Err() != nil && last != nil:
			return fmt.Errorf("local store %s: %s: %w; the last error was: %w", s.path, doing, context.Cause(ctx), last)
		case ctx.Err() != nil:
			return fmt.Errorf("local store %s: %s: %w", s.path, doing, context.Cause(ctx))
		}
		last = err
		if c := code(err); c != codes.SQLITE_BUSY && c != codes.SQLITE_LOCKED || time.Now().After(end) {
			return s.explain(doing, err)
		}
		// When ctx has ended, the next try says so.
		_ = poll.Sleep(ctx, pause)
	}
}

// explain says which store could not do what, and what can be done about it.
func (s *sqliteStore) explain(doing string, err error) error {
	const (
		noDisk    = "{ kubernetes = { ... } } or { postgres = { ... } }"
		otherPath = "set the provider argument store = { local = { path = \"...\" } } to another place, or use a store that needs no disk: " + noDisk
	)
	var advice string
	c := code(err)
	switch {
	case errors.Is(err, errNewerFormat):
		advice = "use that release, or " + otherPath
	case errors.Is(err, errNetwork):
		advice = "the locks of the database do not work there between machines: " + otherPath
	case errors.Is(err, errForeign):
		advice = otherPath
	case c == codes.SQLITE_CORRUPT || c == codes.SQLITE_NOTADB:
		advice = "the file is damaged: move it away, with its -wal and -shm files, and restore a backup or apply again, which repairs an empty store"
	case c == codes.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		advice = "the disk is full: make room on the file system of " + s.dir + " and try again"
	case c == codes.SQLITE_BUSY || c == codes.SQLITE_LOCKED:
		advice = fmt.Sprintf("another process has locked it for more than %s: see which one has the file open (fuser %s), end it if it hangs, and try again", s.timing.busy, s.path)
	case c == codes.SQLITE_READONLY || c == codes.SQLITE_CANTOPEN || c == codes.SQLITE_PERM || c == codes.SQLITE_AUTH,
		errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		advice = "this user must be able to write the directory " + s.dir + " and the files in it: correct owner and mode, or " + otherPath
		if s.atDefault() {
			advice = "this is the default place, and this user must be able to write there. On a runner whose disk does not outlive the run, " +
				"set the provider argument store to " + noDisk + ", a store that needs no disk. " +
				"Elsewhere, correct owner and mode of the directory " + s.dir + ", or set store = { local = { path = \"...\" } }"
		}
	case c == codes.SQLITE_IOERR || c == codes.SQLITE_NOLFS:
		advice = "the file system of " + s.dir + " fails: see the system's log; network file systems are not supported, " + otherPath
	default:
		return fmt.Errorf("local store %s: %s: %w", s.path, doing, err)
	}
	name := "local store " + s.path
	explained := &store.Error{Store: name, Text: fmt.Sprintf("%s: %s: %v; %s", name, doing, err, advice), Advice: advice, Err: err, Given: &s.given}
	if c == codes.SQLITE_READONLY {
		return store.RefusedWrite(explained)
	}
	return explained
}

// atDefault reports whether the store is at the default path, which nobody has chosen.
func (s *sqliteStore) atDefault() bool {
	at, err := DefaultPath()
	if err != nil {
		return false
	}
	database, err := RealPath(at)
	return err == nil && database == s.path
}
