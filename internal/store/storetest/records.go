package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func testEmpty(t *testing.T, b Backend) {
	s := b.one(t)
	if r, err := s.Get(t.Context(), store.KindVIM, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get = %v, %v, want ErrNotFound", r, err)
	}
	list, err := s.List(t.Context(), store.Query{Kind: store.KindVIM})
	if err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v, want nothing", list, err)
	}
	if err := s.Delete(t.Context(), store.KindVIM, "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Delete = %v, want ErrNotFound", err)
	}
	if err := s.Update(t.Context(), &store.Record{Kind: store.KindVIM, ID: "none", Revision: 1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Update = %v, want ErrNotFound", err)
	}
	if _, err := s.OpenBlob(t.Context(), store.Digest(nil)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OpenBlob = %v, want ErrNotFound", err)
	}
	if err := s.DeleteBlob(t.Context(), store.Digest(nil)); err != nil {
		t.Errorf("DeleteBlob = %v, want nil", err)
	}
}

func testCreateGet(t *testing.T, b Backend) {
	s := b.one(t)
	for _, r := range []store.Record{
		sampleRecord("full"),
		{Kind: store.KindVIM, ID: "bare"},
		{Kind: store.KindPackage, ID: "with /:'\"%_ and ü", Key: "key /:'\"%_ and ü", Owner: "owner /:'\"%_ and ü"},
	} {
		before := time.Now().Add(-time.Second)
		stored := create(t, s, r)
		if stored.Revision != 1 || stored.CreatedAt.Before(before) || !stored.UpdatedAt.Equal(stored.CreatedAt) {
			t.Errorf("created %q with revision %d at %s, updated at %s", r.ID, stored.Revision, stored.CreatedAt, stored.UpdatedAt)
		}
		same(t, "record", get(t, s, r.Kind, r.ID), &stored)
	}
	if _, err := s.Get(t.Context(), store.KindVIM, "full"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of another kind = %v, want ErrNotFound", err)
	}
	for _, r := range []store.Record{{Kind: store.KindVIM}, {ID: "kindless"}} {
		if err := s.Create(t.Context(), &r); err == nil {
			t.Errorf("Create took the record %+v", r)
		}
	}
}

func testCreateTwice(t *testing.T, b Backend) {
	s := b.one(t)
	first := create(t, s, store.Record{Kind: store.KindVIM, ID: "a", Key: "k", Data: []byte("first")})
	for name, r := range map[string]store.Record{
		"id":          {Kind: store.KindVIM, ID: "a", Key: "other"},
		"natural key": {Kind: store.KindVIM, ID: "b", Key: "k"},
		"both":        {Kind: store.KindVIM, ID: "a", Key: "k"},
	} {
		if err := s.Create(t.Context(), &r); !errors.Is(err, store.ErrExists) {
			t.Errorf("Create with the same %s = %v, want ErrExists", name, err)
		}
	}
	same(t, "first record", get(t, s, store.KindVIM, "a"), &first)
	create(t, s, store.Record{Kind: store.KindPackage, ID: "a", Key: "k"})
	// An empty key is none, and none is never the same.
	create(t, s, store.Record{Kind: store.KindVIM, ID: "c"})
	create(t, s, store.Record{Kind: store.KindVIM, ID: "d"})
	// A natural key is free again when its record is gone.
	must(t, s.Delete(t.Context(), store.KindVIM, "a"))
	create(t, s, store.Record{Kind: store.KindVIM, ID: "e", Key: "k"})
}

func testFailedWrite(t *testing.T, b Backend) {
	s := b.one(t)
	stored := create(t, s, sampleRecord("a"))
	again := sampleRecord("a")
	if err := s.Create(t.Context(), &again); !errors.Is(err, store.ErrExists) {
		t.Fatalf("Create = %v, want ErrExists", err)
	}
	same(t, "record not created", again, sampleRecord("a"))
	stale := stored
	stale.Revision = 7
	if err := s.Update(t.Context(), &stale); !errors.Is(err, store.ErrStale) {
		t.Fatalf("Update = %v, want ErrStale", err)
	}
	stale.Revision = stored.Revision
	same(t, "record not updated", stale, stored)
}

func testUpdate(t *testing.T, b Backend) {
	s := b.one(t)
	r := create(t, s, sampleRecord("a"))
	created := r.CreatedAt
	create(t, s, store.Record{Kind: r.Kind, ID: "b", Key: "taken"})

	r.Key, r.Owner, r.Data, r.Sealed = "moved", "vim-2", []byte("new"), nil
	must(t, s.Update(t.Context(), &r))
	if r.Revision <= 1 || !r.CreatedAt.Equal(created) || r.UpdatedAt.Before(created) {
		t.Errorf("after the update: revision %d, created at %s (was %s), updated at %s", r.Revision, r.CreatedAt, created, r.UpdatedAt)
	}
	same(t, "updated record", get(t, s, r.Kind, "a"), &r)
	// The record that Update left can be updated again without reading it.
	r.Data = []byte("newer")
	must(t, s.Update(t.Context(), &r))
	same(t, "record updated twice", get(t, s, r.Kind, "a"), &r)

	r.Key = "taken"
	if err := s.Update(t.Context(), &r); !errors.Is(err, store.ErrExists) {
		t.Errorf("Update to a taken key = %v, want ErrExists", err)
	}
	list, err := s.List(t.Context(), store.Query{Kind: r.Kind, Key: "vim/a"})
	if err != nil || len(list) != 0 {
		t.Errorf("records under the old key: %v, %v", list, err)
	}
	create(t, s, store.Record{Kind: r.Kind, ID: "c", Key: "vim/a"})
}

func testStaleUpdate(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	mine := create(t, handles[0], sampleRecord("a"))
	theirs := *get(t, handles[1], mine.Kind, "a")
	theirs.Data = []byte("theirs")
	must(t, handles[1].Update(t.Context(), &theirs))

	mine.Data = []byte("mine")
	if err := handles[0].Update(t.Context(), &mine); !errors.Is(err, store.ErrStale) {
		t.Errorf("Update of a changed record = %v, want ErrStale", err)
	}
	never := sampleRecord("a")
	if err := handles[0].Update(t.Context(), &never); !errors.Is(err, store.ErrStale) {
		t.Errorf("Update of a record that was never read = %v, want ErrStale", err)
	}
	same(t, "record", get(t, handles[0], mine.Kind, "a"), &theirs)
}

func testDelete(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 2)
	r := create(t, handles[0], sampleRecord("a"))
	other := create(t, handles[0], sampleRecord("b"))
	must(t, handles[1].Delete(t.Context(), r.Kind, r.ID))
	if _, err := handles[0].Get(t.Context(), r.Kind, r.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a deleted record = %v, want ErrNotFound", err)
	}
	if err := handles[0].Update(t.Context(), &r); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Update of a deleted record = %v, want ErrNotFound", err)
	}
	if err := handles[0].Delete(t.Context(), r.Kind, r.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Delete of a deleted record = %v, want ErrNotFound", err)
	}
	same(t, "other record", get(t, handles[0], other.Kind, other.ID), &other)
	create(t, handles[0], sampleRecord("a"))
}

func testList(t *testing.T, b Backend) {
	s := b.one(t)
	var all []store.Record
	// Neither the ids nor the keys are in the order of creation.
	for i := range 20 {
		all = append(all, create(t, s, store.Record{
			Kind: store.KindOperation, ID: fmt.Sprintf("%02d", (i*7)%20), Key: fmt.Sprintf("k%d", (i*3)%20), Owner: fmt.Sprintf("owner-%d", i%2),
			Data: fmt.Appendf(nil, "%d", i), Sealed: []byte("sealed"),
		}))
	}
	create(t, s, store.Record{Kind: store.KindInstance, ID: "00", Owner: "owner-0", Key: "k0"})
	all[3].Data = []byte("an update does not change the order")
	must(t, s.Update(t.Context(), &all[3]))

	var owned []store.Record
	for i := 1; i < 20; i += 2 {
		owned = append(owned, all[i])
	}
	for name, test := range map[string]struct {
		query store.Query
		want  []store.Record
	}{
		"kind":          {store.Query{Kind: store.KindOperation}, all},
		"owner":         {store.Query{Kind: store.KindOperation, Owner: "owner-1"}, owned},
		"key":           {store.Query{Kind: store.KindOperation, Key: "k9"}, all[3:4]},
		"owner and key": {store.Query{Kind: store.KindOperation, Key: "k9", Owner: "owner-1"}, all[3:4]},
		"other owner":   {store.Query{Kind: store.KindOperation, Key: "k9", Owner: "owner-0"}, nil},
		"no such owner": {store.Query{Kind: store.KindOperation, Owner: "owner"}, nil},
		"no such kind":  {store.Query{Kind: store.KindPackage}, nil},
	} {
		got, err := s.List(t.Context(), test.query)
		if err != nil {
			t.Errorf("List by %s: %v", name, err)
		}
		same(t, "list by "+name, got, test.want)
	}
	everything, err := s.List(t.Context(), store.Query{})
	if err != nil || len(everything) != 21 {
		t.Errorf("List of everything = %d records, %v, want 21", len(everything), err)
	}
}

func testReopen(t *testing.T, b Backend) {
	address := b.New(t)
	first, err := b.Open(t.Context(), address)
	must(t, err)
	r := create(t, first, sampleRecord("a"))
	must(t, first.Close())
	must(t, first.Close())
	same(t, "record", get(t, b.open(t, address, 1)[0], r.Kind, r.ID), &r)
}

// testConcurrentRecords counts in one record by optimistic updates: none of them may
// get lost.
func testConcurrentRecords(t *testing.T, b Backend) {
	const workers, each = 16, 10
	handles := b.open(t, b.New(t), 4)
	create(t, handles[0], store.Record{Kind: store.KindVIM, ID: "counter", Data: []byte("0")})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := handles[w%len(handles)]
			for i := range each {
				if err := increment(t.Context(), s); err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
				own := store.Record{Kind: store.KindOperation, ID: fmt.Sprintf("%d-%d", w, i), Owner: fmt.Sprint(w)}
				if err := s.Create(t.Context(), &own); err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	same(t, "counter", string(get(t, handles[0], store.KindVIM, "counter").Data), fmt.Sprint(workers*each))
	list, err := handles[1].List(t.Context(), store.Query{Kind: store.KindOperation, Owner: "7"})
	must(t, err)
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	want := make([]string, each)
	for i := range want {
		want[i] = fmt.Sprintf("7-%d", i)
	}
	same(t, "order of creation of one worker", ids, want)
}

// counted is the record "counter" with one added to its number, not written yet.
func counted(ctx context.Context, s store.Store) (*store.Record, error) {
	r, err := s.Get(ctx, store.KindVIM, "counter")
	if err != nil {
		return nil, err
	}
	var n int
	if _, err := fmt.Sscan(string(r.Data), &n); err != nil {
		return nil, fmt.Errorf("counter %q: %w", r.Data, err)
	}
	r.Data = fmt.Append(nil, n+1)
	return r, nil
}

// increment adds one to the number in the record "counter".
func increment(ctx context.Context, s store.Store) error {
	for {
		r, err := counted(ctx, s)
		if err != nil {
			return err
		}
		if err := s.Update(ctx, r); !errors.Is(err, store.ErrStale) {
			return err
		}
	}
}

func testConcurrentKeys(t *testing.T, b Backend) {
	handles := b.open(t, b.New(t), 4)
	var won atomic.Int32
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			r := store.Record{Kind: store.KindInstance, ID: fmt.Sprint(w), Key: "the same"}
			switch err := handles[w%len(handles)].Create(t.Context(), &r); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, store.ErrExists):
				t.Errorf("Create = %v, want ErrExists", err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d records have the same natural key", won.Load())
	}
}

func testCancelled(t *testing.T, b Backend) {
	s := b.one(t)
	r := create(t, s, sampleRecord("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func() error{
		"Get":        func() error { _, err := s.Get(ctx, r.Kind, r.ID); return err },
		"List":       func() error { _, err := s.List(ctx, store.Query{Kind: r.Kind}); return err },
		"Create":     func() error { n := sampleRecord("b"); return s.Create(ctx, &n) },
		"Update":     func() error { n := r; return s.Update(ctx, &n) },
		"Delete":     func() error { return s.Delete(ctx, r.Kind, r.ID) },
		"PutBlob":    func() error { return s.PutBlob(ctx, digestOf("x"), reader("x")) },
		"DeleteBlob": func() error { return s.DeleteBlob(ctx, digestOf("x")) },
		"Acquire":    func() error { _, err := s.Acquire(ctx, "l", process.Name()); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context = %v, want context.Canceled", name, err)
		}
	}
	same(t, "record", get(t, s, r.Kind, r.ID), &r)
	list, err := s.List(t.Context(), store.Query{})
	if err != nil || len(list) != 1 {
		t.Errorf("List = %d records, %v, want 1", len(list), err)
	}
	l, err := s.Acquire(t.Context(), "l", process.Name())
	if err != nil {
		t.Fatalf("Acquire after a cancelled one: %v", err)
	}
	must(t, l.Release(t.Context()))
}

func testClosed(t *testing.T, b Backend) {
	address := b.New(t)
	used, err := b.Open(t.Context(), address)
	must(t, err)
	create(t, used, sampleRecord("a"))
	unused, err := b.Open(t.Context(), address)
	must(t, err)
	for name, s := range map[string]store.Store{"used": used, "unused": unused} {
		must(t, s.Close())
		r := sampleRecord("b")
		if err := s.Create(t.Context(), &r); err == nil {
			t.Errorf("a closed handle that was %s took a record", name)
		}
		if _, err := s.Acquire(t.Context(), "l", process.Name()); err == nil {
			t.Errorf("a closed handle that was %s gave a lease", name)
		}
	}
}
