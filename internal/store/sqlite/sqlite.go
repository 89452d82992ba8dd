// Package sqlite keeps the store in a directory of the local disk: records and
// leases in a SQLite database, contents as files beside it. Several processes can
// use it at once.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	// The driver registers itself under the name "sqlite".
	_ "modernc.org/sqlite"

	"github.com/nfv-iac/terraform-provider-vnf/internal/durable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// timing is how long things take; tests shorten it.
type timing struct {
	// lease is how long a lease lives without renewal, renew how often it is
	// renewed.
	lease, renew time.Duration
	// busy is how long to wait for other processes that write to the database.
	busy time.Duration
}

func defaultTiming() timing {
	return timing{lease: 15 * time.Second, renew: 5 * time.Second, busy: 30 * time.Second}
}

// errNetwork says that a store cannot be there.
var errNetwork = errors.New("is on a network file system")

// errAbsent says that there is no database yet, and that nothing was made.
var errAbsent = errors.New("no database")

type sqliteStore struct {
	path   string
	dir    string
	timing timing
	// release is the release of the provider that works on the store.
	release string
	// fileSystemType and clock are those of the machine; tests have others.
	fileSystemType func(path string) (int64, error)
	clock          func() time.Time

	db atomic.Pointer[sql.DB]
	// opening and writing are semaphores rather than mutexes, so that waiting for
	// them ends with the context. Writers of one process queue here instead of
	// polling for SQLite's lock against each other.
	opening chan struct{}
	writing chan struct{}

	leases store.Leases[*lease]
	// given is the advice that the user has been given.
	given store.Given
}

var _ store.Portable = (*sqliteStore)(nil)

// DefaultPath returns where the store is by default:
// $XDG_STATE_HOME/terraform-provider-vnf/store.db, else
// ~/.local/state/terraform-provider-vnf/store.db.
func DefaultPath() (string, error) {
	// The XDG base directory specification tells to ignore a relative path.
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return "", errors.New("no place for the local store: neither XDG_STATE_HOME nor HOME is set to an absolute path. On a runner whose disk does not outlive the run, " +
				"such as HCP Terraform, set the provider argument store to { kubernetes = { ... } } or { postgres = { ... } }, a store that needs no disk. " +
				"Elsewhere, set store = { local = { path = \"...\" } }")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "terraform-provider-vnf", "store.db"), nil
}

// maxLinks is more than any path has that leads somewhere.
const maxLinks = 40

// RealPath is the absolute path of the database that a path leads to, which need not be
// there yet. Contents and key are beside the database itself: a
// symbolic link leads to the same ones.
func RealPath(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("path of the local store %q: %w", path, err)
	}
	for range maxLinks {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return resolved, nil
		}
		target, link := linkTarget(at)
		if !link {
			// It is not there, and no link; whatever else there is, its use tells.
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
	}
	return at, nil
}

// linkTarget is what a symbolic link leads to.
func linkTarget(path string) (target string, link bool) {
	target, err := os.Readlink(path)
	return target, err == nil
}

// Open returns the store whose database is the file path. Nothing is read or made
// before the first use: a store that nobody wrote to is empty and leaves no trace
// on the disk. release is the version of the provider, which a new store records for the
// errors of releases that cannot read it. The returned store keeps nothing of ctx.
func Open(ctx context.Context, path, release string) (store.Store, error) {
	s, err := open(ctx, path, defaultTiming())
	if err != nil {
		return nil, err
	}
	s.release = release
	return s, nil
}

// OpenBriefly is Open with leases that live, without renewal, for a time of the caller's: tests wait for their end.
func OpenBriefly(ctx context.Context, path string, lease time.Duration) (store.Store, error) {
	t := defaultTiming()
	t.lease, t.renew = lease, lease/3
	return open(ctx, path, t)
}

func open(ctx context.Context, path string, t timing) (*sqliteStore, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, errors.New("the path of the local store is empty: set the provider argument store = { local = { path = \"...\" } }")
	}
	abs, err := RealPath(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("local store %s is not a file but %s: set the provider argument store = { local = { path = \"...\" } } to a file", abs, store.FileType(info.Mode()))
	}
	return &sqliteStore{
		path:   abs,
		dir:    filepath.Dir(abs),
		timing: t,

		fileSystemType: fileSystemType,
		clock:          time.Now,

		opening: make(chan struct{}, 1),
		writing: make(chan struct{}, 1),
	}, nil
}

// Close gives back the leases that are still held and closes the database.
func (s *sqliteStore) Close() error {
	return s.leases.Close(func() error {
		// A concurrent opening of the database sees that the handle is closed.
		s.opening <- struct{}{}
		defer func() { <-s.opening }()
		if db := s.db.Load(); db != nil {
			if err := db.Close(); err != nil {
				return s.explain("closing the database", err)
			}
		}
		return nil
	})
}

func (s *sqliteStore) errClosed() error { return fmt.Errorf("local store %s is closed", s.path) }

// database returns the open database; the first call opens it. Without create, it
// returns errAbsent when there is none.
func (s *sqliteStore) database(ctx context.Context, create bool) (*sql.DB, error) {
	if db := s.db.Load(); db != nil {
		return db, nil
	}
	select {
	case s.opening <- struct{}{}:
		defer func() { <-s.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if db := s.db.Load(); db != nil {
		return db, nil
	}
	if s.leases.Closed() {
		return nil, s.errClosed()
	}
	if err := s.checkFileSystem(); err != nil {
		return nil, err
	}
	if err := s.prepareFile(create); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", s.dsn())
	if err != nil {
		return nil, s.explain("opening the database", err)
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	err = s.retry(ctx, "opening the database", func() error { return createTables(ctx, db, s.release) })
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.db.Store(db)
	return db, nil
}

// checkFileSystem refuses a directory of a network file system, where two machines would
// write at once, each with locks that the other one does not see.
func (s *sqliteStore) checkFileSystem() error {
	network, err := networkFileSystem(s.dir, s.fileSystemType)
	if err == nil && network != "" {
		err = fmt.Errorf("%s %w (%s)", s.dir, errNetwork, network)
	}
	if err != nil {
		return s.explain("looking at the file system", err)
	}
	return nil
}

// prepareFile makes the database file with the right mode before SQLite can make it
// with another one; SQLite gives its -wal and -shm files the mode of the database.
func (s *sqliteStore) prepareFile(create bool) error {
	info, err := os.Stat(s.path)
	switch {
	case err == nil && info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(s.path, fileMode); err != nil {
			return s.explain("closing the database file to others (chmod 0600)", err)
		}
		return nil
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return s.explain("looking for the database file", err)
	case !create:
		return errAbsent
	}
	if err := durable.MkdirAll(s.dir, dirMode); err != nil {
		return s.explain("making the directory", err)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return s.explain("making the database file", err)
	}
	return f.Close()
}

func (s *sqliteStore) dsn() string {
	path := filepath.ToSlash(s.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	// A record tells of something that has happened elsewhere, or is about to: a key is removed from a
	// vault, an object is made. So each commit is on the disk before the next step; with
	// NORMAL, a loss of power would take back the last ones.
	//
	// SQLite itself waits a moment only: it would not see the end of the context.
	// The rest of the waiting is done by retry.
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_busy_timeout=100&_pragma=synchronous(FULL)&_txlock=immediate"}
	return u.String()
}
