package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func tempStore(t testing.TB, timing timing) *sqliteStore {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "state", "store.db"), timing)
}

func openAt(t testing.TB, path string, timing timing) *sqliteStore {
	t.Helper()
	s, err := open(t.Context(), path, timing)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
	})
	return s
}

func createVIM(t testing.TB, s store.Store, id string) {
	t.Helper()
	require.NoError(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: id, Data: []byte("data of " + id)}))
}

// wantError checks that an error says all of that.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.Error(t, err, "no error, want one that says %q", parts)
	for _, part := range parts {
		require.ErrorContains(t, err, part, "error does not say")
	}
}

func TestDefaultPath(t *testing.T) {
	for name, test := range map[string]struct{ xdg, home, want string }{
		"XDG":           {"/state", "/home/u", "/state/terraform-provider-vnf/store.db"},
		"XDG alone":     {"/state", "", "/state/terraform-provider-vnf/store.db"},
		"relative XDG":  {"state", "/home/u", "/home/u/.local/state/terraform-provider-vnf/store.db"},
		"home":          {"", "/home/u", "/home/u/.local/state/terraform-provider-vnf/store.db"},
		"neither":       {"", "", ""},
		"relative both": {"x", "y", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", test.xdg)
			t.Setenv("HOME", test.home)
			got, err := DefaultPath()
			if test.want == "" {
				wantError(t, err, "HOME", "XDG_STATE_HOME", `store = { local = { path = "..." } }`)
			} else if err != nil || got != test.want {
				t.Errorf("DefaultPath() = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// TestErrorsAtTheDefaultPlace: whoever did not choose the local store is led to a store that needs no disk before a path of the disk.
func TestErrorsAtTheDefaultPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", file)
	at, err := DefaultPath()
	require.NoError(t, err)
	err = openAt(t, at, quick()).Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a", Data: []byte("{}")})
	wantError(t, err, at, "set the provider argument store to { kubernetes = { ... } } or { postgres = { ... } }", "Elsewhere, correct owner and mode", "store = { local")
	err = openAt(t, filepath.Join(file, "store.db"), quick()).Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a", Data: []byte("{}")})
	wantError(t, err, file, "must be able to write the directory "+file, "or set the provider argument store = { local")

	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	_, err = DefaultPath()
	wantError(t, err, "set the provider argument store to { kubernetes = { ... } } or { postgres = { ... } }", "Elsewhere, set store = { local")
}

func TestUnusedStoreLeavesNoTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := openAt(t, filepath.Join(dir, "store.db"), quick())
	if _, err := s.Get(t.Context(), store.KindVIM, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
	if list, err := s.List(t.Context(), store.Query{}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v", list, err)
	}
	require.ErrorIs(t, s.Delete(t.Context(), store.KindVIM, "a"), store.ErrNotFound, "Delete")
	if _, err := s.OpenBlob(t.Context(), store.Digest(nil)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OpenBlob = %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestStrangePaths(t *testing.T) {
	for _, name := range []string{"a b?mode=memory#c%20d.db", "ü'\";&=+.db"} {
		path := filepath.Join(t.TempDir(), name)
		createVIM(t, openAt(t, path, quick()), "a")
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("no database at %q: %v", path, err)
		}
	}
	if _, err := Open(t.Context(), "", "test"); err == nil {
		t.Error("Open took an empty path")
	}
	_, err := Open(t.Context(), t.TempDir(), "test")
	wantError(t, err, "is not a file")
}

// TestCommitsAreSynced looks at what every connection of the pool is set to, where
// TestLossOfPower has no disk to cut off.
// TestSymbolicLinks comes to one store by its path and by links to it: records and contents
// are the same, and the link to a network file system is on one.
func TestSymbolicLinks(t *testing.T) {
	for name, before := range map[string]bool{"to a store": true, "to a store that is not there yet": false} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			database, link := filepath.Join(dir, "real", "store.db"), filepath.Join(dir, "links", "store.db")
			if before {
				createVIM(t, openAt(t, database, quick()), "a")
			}
			require.NoError(t, errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink("again", link), os.Symlink("../real/store.db", filepath.Join(dir, "links", "again"))))
			if got, err := RealPath(link); err != nil || got != database {
				t.Errorf("RealPath = %s, %v, want %s", got, err, database)
			}
			s := openAt(t, link, quick())
			createVIM(t, s, "b")
			require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte("x")), strings.NewReader("x")))
			content, err := openAt(t, database, quick()).OpenBlob(t.Context(), store.Digest([]byte("x")))
			require.NoError(t, err)
			require.NoError(t, content.Close())
			far := openAt(t, link, quick())
			far.fileSystemType = func(path string) (int64, error) {
				if path == filepath.Dir(database) {
					return 0x6969, nil
				}
				return 0, nil
			}
			_, err = far.Get(t.Context(), store.KindVIM, "a")
			wantError(t, err, filepath.Dir(database)+" is on a network file system (NFS)")
		})
	}
}

func TestCommitsAreSynced(t *testing.T) {
	s := tempStore(t, quick())
	createVIM(t, s, "a")
	for range 4 {
		conn, err := s.db.Load().Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, conn.Close())
		})
		var synchronous int
		var journal string
		require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT synchronous, journal_mode FROM pragma_synchronous, pragma_journal_mode").Scan(&synchronous, &journal))
		require.Equal(t, 2, synchronous, "synchronous")
		require.Equal(t, "wal", journal, "synchronous")
	}
}

func TestModes(t *testing.T) {
	s := tempStore(t, quick())
	createVIM(t, s, "a")
	require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte("x")), strings.NewReader("x")))
	if _, err := s.Acquire(t.Context(), "a", process.Name()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %#o, want %#o", path, info.Mode().Perm(), want)
		}
		seen[d.Name()] = true
		return nil
	})
	require.NoError(t, err)
	for _, name := range []string{"store.db", "store.db-wal", "store.db-shm", "blobs", "uploads"} {
		if !seen[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
}

func TestOpenModeIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	createVIM(t, openAt(t, path, quick()), "a")
	require.NoError(t, os.Chmod(path, 0o644))
	createVIM(t, openAt(t, path, quick()), "b")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

func TestUnusableDatabases(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want []string
	}{
		"no database": {
			func(t *testing.T, path string) {
				t.Helper()
				writeFile(t, path, strings.Repeat("not a database\n", 1000))
			},
			[]string{"damaged", "move it away"},
		},
		"damaged pages": {
			func(t *testing.T, path string) {
				t.Helper()
				s := openAt(t, path, quick())
				for _, id := range []string{"a", "b", "c"} {
					createVIM(t, s, id)
				}
				require.NoError(t, s.Close())
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				for i := 100; i < len(content); i++ {
					content[i] = 0xa5
				}
				writeFile(t, path, string(content))
			},
			[]string{"damaged", "move it away"},
		},
		"newer format": {
			func(t *testing.T, path string) {
				t.Helper()
				s := openAt(t, path, quick())
				createVIM(t, s, "a")
				exec(t, path, "UPDATE schema_version SET version = 99, release = '9.9.9'")
			},
			[]string{"opening the database: format 99 was written by a newer release of the provider (9.9.9), this one knows formats up to 1; use that release, or set the provider argument store = { local = { path = \"...\" } } to another place, or use a store that needs no disk: { kubernetes = { ... } } or { postgres = { ... } }"},
		},
		"other application": {
			func(t *testing.T, path string) {
				t.Helper()
				exec(t, path, "CREATE TABLE bookmarks (url TEXT)")
			},
			[]string{"another application", "store = { local"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			test.make(t, path)
			s := openAt(t, path, quick())
			_, err := s.Get(t.Context(), store.KindVIM, "a")
			wantError(t, err, append(test.want, path)...)
			wantError(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "a"}), append(test.want, path)...)
		})
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, db.Close())
	})
	return db
}

func exec(t *testing.T, path, statement string) {
	t.Helper()
	if _, err := rawDB(t, path).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// lock takes SQLite's write lock and returns what gives it back.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	conn, err := rawDB(t, path).Conn(t.Context())
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	return func() {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
		if err := errors.Join(err, conn.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestLockedDatabase(t *testing.T) {
	timing := quick()
	timing.busy = 300 * time.Millisecond
	s := tempStore(t, timing)
	createVIM(t, s, "a")
	unlock := lock(t, s.path)
	wantError(t, s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "b"}), s.path, "locked", "300ms", "fuser")
	if _, err := s.Get(t.Context(), store.KindVIM, "a"); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
	unlock()
	createVIM(t, s, "b")
}

func TestLockedDatabaseWaitEndsWithContext(t *testing.T) {
	timing := quick()
	// The context ends the wait, however slow the machine is, and nothing else.
	timing.busy = time.Hour
	s := tempStore(t, timing)
	createVIM(t, s, "a")
	unlock := lock(t, s.path)
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Create(ctx, &store.Record{Kind: store.KindVIM, ID: "b"}) }()
	select {
	case err := <-ended:
		require.ErrorIs(t, err, context.DeadlineExceeded, "Create")
	case <-time.After(2 * time.Minute):
		t.Fatal("Create goes on after the end of the context")
	}
}

func TestLeaseThatCannotBeRenewedIsLost(t *testing.T) {
	s := tempStore(t, timing{lease: time.Second, renew: 300 * time.Millisecond, busy: 30 * time.Second})
	l, err := s.Acquire(t.Context(), "a", process.Name())
	require.NoError(t, err)
	unlock := lock(t, s.path)
	defer unlock()
	begin := time.Now()
	select {
	case <-l.Lost():
	case <-time.After(20 * time.Second):
		t.Fatal("the lease is not lost")
	}
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("lost after %s, before it expired", took)
	}
}

func TestTablesAreCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for _, release := range []string{"1.0.0", "1.0.1"} {
		s := openAt(t, path, quick())
		s.release = release
		createVIM(t, s, release)
	}
	var version int
	var release string
	require.NoError(t, rawDB(t, path).QueryRowContext(t.Context(), "SELECT version, release FROM schema_version").Scan(&version, &release))
	require.Equal(t, 1, version, "format")
	require.Equal(t, "1.0.0", release, "format")
	recs, err := openAt(t, path, quick()).List(t.Context(), store.Query{})
	require.NoError(t, err, "records")
	require.Len(t, recs, 2, "records")
}

// TestANewerReleaseTakesOverAnOpenStore refuses the writes of the earlier one, which would
// drop what it does not know.
func TestANewerReleaseTakesOverAnOpenStore(t *testing.T) {
	s := tempStore(t, quick())
	createVIM(t, s, "a")
	r, err := s.Get(t.Context(), store.KindVIM, "a")
	require.NoError(t, err)
	exec(t, s.path, "UPDATE schema_version SET version = 99, release = '9.9.9'")
	for what, err := range map[string]error{
		"Create": s.Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "b"}),
		"Update": s.Update(t.Context(), r),
		"Delete": s.Delete(t.Context(), store.KindVIM, "a"),
	} {
		require.ErrorIs(t, err, errNewerFormat, what)
		require.ErrorContains(t, err, "9.9.9", what)
	}
	if got, err := s.Get(t.Context(), store.KindVIM, "a"); err != nil || got.Revision != r.Revision {
		t.Errorf("record %+v, %v", got, err)
	}
}

func TestStaleUploadsAreRemoved(t *testing.T) {
	s := tempStore(t, quick())
	put := func(content string) {
		t.Helper()
		require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
	}
	put("a")
	uploads := filepath.Join(s.dir, "blobs", "uploads")
	for _, name := range []string{"stale", "fresh"} {
		writeFile(t, filepath.Join(uploads, name), "half a conte")
	}
	old := time.Now().Add(-2 * staleUpload)
	require.NoError(t, os.Chtimes(filepath.Join(uploads, "stale"), old, old))
	put("b")
	require.Error(t, s.PutBlob(t.Context(), store.Digest([]byte("c")), strings.NewReader("d")), "PutBlob took another content")
	entries, err := os.ReadDir(uploads)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"fresh"}, names, "uploads")
}
