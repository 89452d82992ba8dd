package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// cutDisk is an ext4 file system on a loop device that can be cut off from it, after which
// the device has what a disk has after a loss of power: what was synced, and what the
// kernel happened to have written before.
type cutDisk struct {
	image, dir string
}

// newCutDisk returns a disk with an empty file system, in a process with mounts of its own.
func newCutDisk(t *testing.T) *cutDisk {
	t.Helper()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts cannot be kept to this process: %v", err)
	}
	d := &cutDisk{image: filepath.Join(t.TempDir(), "disk"), dir: t.TempDir()}
	require.NoError(t, os.WriteFile(d.image, nil, 0o600))
	require.NoError(t, os.Truncate(d.image, 32<<20))
	if out, err := osexec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil { //nolint:gosec // a path of the test
		t.Skipf("no file system of ext4 can be made: %v %s", err, out)
	}
	return d
}

// mount connects the file system to its device; the journal of ext4 is replayed.
func (d *cutDisk) mount(t *testing.T) {
	t.Helper()
	// Nothing but a sync is to bring anything to the device soon.
	out, err := osexec.CommandContext(t.Context(), "mount", "-t", "ext4", "-o", "loop,commit=300", d.image, d.dir).CombinedOutput() //nolint:gosec // paths of the test
	if err != nil {
		t.Skipf("no loop device can be mounted: %v %s", err, out)
	}
}

// cut ends all writing to the device, at once and without the journal.
func (d *cutDisk) cut(t *testing.T) {
	t.Helper()
	const (
		ext4IoctlShutdown = 0x8004587d // _IOR('X', 125, __u32)
		noLogFlush        = 2
	)
	f, err := os.Open(d.dir)
	require.NoError(t, err)
	err = unix.IoctlSetPointerInt(int(f.Fd()), ext4IoctlShutdown, noLogFlush)
	require.NoError(t, f.Close())
	if err != nil {
		t.Skipf("ext4 of this kernel cannot be shut down: %v", err)
	}
}

// unmount forgets what is in memory.
func (d *cutDisk) unmount(t *testing.T) {
	t.Helper()
	require.NoError(t, syscall.Unmount(d.dir, 0))
}

// written is what a store has said is written, before the disk was cut off. What it says
// later does not count: a sync that runs during the cut may end well.
type written struct {
	// notes are what was written, each as soon as the store has said so. The writer waits
	// for each to be heard, so that one which is heard after the cut was not written before.
	notes chan func()

	created []string
	// deleted says of the records whose deletion was begun whether it was done.
	deleted map[string]bool
	updated int
}

func recordID(round, i int) string { return fmt.Sprintf("round-%d-record-%d", round, i) }

func secretOf(id string) map[string]string { return map[string]string{"password": "secret of " + id} }

func contentOf(id string) []byte { return bytes.Repeat([]byte(id+"\n"), 500) }

// write writes to a store until it fails.
func (w *written) write(ctx context.Context, s *seal.Store, round int) error {
	for i := 0; ; i++ {
		id := recordID(round, i)
		sealed, err := s.Seal(ctx, id, secretOf(id))
		if err != nil {
			return err
		}
		content := contentOf(id)
		if err := s.PutBlob(ctx, store.Digest(content), bytes.NewReader(content)); err != nil {
			return err
		}
		if err := s.Create(ctx, &store.Record{Kind: store.KindVIM, ID: id, Sealed: sealed}); err != nil {
			return err
		}
		w.notes <- func() { w.created = append(w.created, id) }
		counter, err := s.Get(ctx, store.KindDryRun, "counter")
		if errors.Is(err, store.ErrNotFound) {
			counter = &store.Record{Kind: store.KindDryRun, ID: "counter"}
			err = s.Create(ctx, counter)
		}
		if err != nil {
			return err
		}
		n := int(counter.Revision) + 1
		if err := s.Update(ctx, counter); err != nil {
			return err
		}
		w.notes <- func() { w.updated = n }
		if i%3 == 2 {
			gone := recordID(round, i-1)
			w.notes <- func() { w.deleted[gone] = false }
			if err := s.Delete(ctx, store.KindVIM, gone); err != nil {
				return err
			}
			w.notes <- func() { w.deleted[gone] = true }
		}
	}
}

// lost is what was written and is not in the store.
func (w *written) lost(ctx context.Context, s *seal.Store) []string {
	var out []string
	for _, id := range w.created {
		content, err := readAll(ctx, s, store.Digest(contentOf(id)))
		if err != nil || !bytes.Equal(content, contentOf(id)) {
			out = append(out, fmt.Sprintf("the content of %s: %d bytes, %v", id, len(content), err))
		}
		r, err := s.Get(ctx, store.KindVIM, id)
		deleted, begun := w.deleted[id]
		gone := errors.Is(err, store.ErrNotFound)
		switch {
		case deleted && !gone:
			out = append(out, fmt.Sprintf("the deletion of %s: %v", id, err))
		case begun && gone:
		case err != nil:
			out = append(out, err.Error())
		default:
			if plain, err := s.Open(ctx, id, r.Sealed); err != nil || plain["password"] != secretOf(id)["password"] {
				out = append(out, fmt.Sprintf("the secret of %s: %v", id, err))
			}
		}
	}
	if w.updated == 0 {
		return out
	}
	if counter, err := s.Get(ctx, store.KindDryRun, "counter"); err != nil || int(counter.Revision) < w.updated {
		out = append(out, fmt.Sprintf("the update %d: %+v, %v", w.updated, counter, err))
	}
	return out
}

func readAll(ctx context.Context, s store.Store, digest string) ([]byte, error) {
	r, err := s.OpenBlob(ctx, digest)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	return text, errors.Join(err, r.Close())
}

// openOn opens the store of a disk, in directories that are made with it.
func (d *cutDisk) openOn(t *testing.T) (*sqliteStore, *seal.Store) {
	t.Helper()
	state := filepath.Join(d.dir, "home", "state")
	db, err := open(t.Context(), filepath.Join(state, "store.db"), quick())
	require.NoError(t, err)
	keys, err := seal.New(seal.Source{DefaultKeyFile: filepath.Join(d.dir, "home", "config", "key.txt")})
	require.NoError(t, err)
	return db, seal.NewStore(db, keys)
}

// TestLossOfPower cuts the disk off at several instants while records, secrets and contents
// are written. All that the store has reported as written must be there when the disk is
// mounted again, and the database must be sound.
func TestLossOfPower(t *testing.T) {
	labtest.NotShort(t, "root and a loop device")
	labtest.FullRun(t, "root and a loop device")
	if !withMounts(t) {
		return
	}
	d := newCutDisk(t)
	w := &written{deleted: map[string]bool{}, notes: make(chan func())}
	for round, cutAfter := range []int{1, 2, 3, 10, 40} {
		d.mount(t)
		_, s := d.openOn(t)
		ended := make(chan error, 1)
		go func() { ended <- w.write(t.Context(), s, round) }()
		for n := 0; n < cutAfter; {
			select {
			case note := <-w.notes:
				note()
				n++
			case err := <-ended:
				t.Fatalf("round %d: %v", round, err)
			}
		}
		d.cut(t)
		for over := false; !over; {
			select {
			case <-w.notes:
			case err := <-ended:
				over = err != nil
			}
		}
		// A database whose disk is gone says so.
		_ = s.Close()
		d.unmount(t)

		d.mount(t)
		db, s := d.openOn(t)
		for _, what := range w.lost(t.Context(), s) {
			t.Errorf("cut after %d writes of round %d, lost: %s", cutAfter, round, what)
		}
		var sound string
		require.NoError(t, db.db.Load().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&sound), "integrity_check after round %d", round)
		require.Equal(t, "ok", sound, "integrity_check after round %d", round)
		require.NoError(t, s.Close())
		d.unmount(t)
	}
}

// TestLossOfPowerIsMade shows that the disk of TestLossOfPower loses what is not synced.
func TestLossOfPowerIsMade(t *testing.T) {
	labtest.NotShort(t, "root and a loop device")
	labtest.FullRun(t, "root and a loop device")
	if !withMounts(t) {
		return
	}
	d := newCutDisk(t)
	d.mount(t)
	db, s := d.openOn(t)
	createVIM(t, s, "a")
	// One connection, so that what is set holds for all that follows.
	db.db.Load().SetMaxOpenConns(1)
	if _, err := db.db.Load().ExecContext(t.Context(), "PRAGMA synchronous = OFF"); err != nil {
		t.Fatal(err)
	}
	createVIM(t, s, "b")
	d.cut(t)
	_ = s.Close()
	d.unmount(t)
	d.mount(t)
	_, s = d.openOn(t)
	if _, err := s.Get(t.Context(), store.KindVIM, "a"); err != nil {
		t.Errorf("a record that was synced: %v", err)
	}
	if r, err := s.Get(t.Context(), store.KindVIM, "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record that was not synced is there: %+v, %v", r, err)
	}
	require.NoError(t, s.Close())
	d.unmount(t)
}
