package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// portable opens a handle on an empty place of a store that can be copied.
func (b Backend) portable(t *testing.T) store.Portable {
	t.Helper()
	s, ok := b.one(t).(store.Portable)
	if !ok {
		t.Skip("this store is not copied itself; the one that it is over is")
	}
	return s
}

// testImport stores records as another store had them.
func testImport(t *testing.T, b Backend) {
	s := b.portable(t)
	created := time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)
	full := sampleRecord("full")
	full.Revision, full.CreatedAt, full.UpdatedAt = 7, created, created.Add(time.Hour+time.Nanosecond)
	bare := store.Record{Kind: store.KindVIM, ID: "bare", Revision: 1, CreatedAt: created, UpdatedAt: created}
	must(t, s.Import(t.Context()))
	must(t, s.Import(t.Context(), full, bare))
	list, err := s.List(t.Context(), store.Query{})
	must(t, err)
	same(t, "imported records", list, []store.Record{full, bare})

	for name, r := range map[string]store.Record{
		"id":          {Kind: full.Kind, ID: full.ID, Revision: 1, CreatedAt: created, UpdatedAt: created},
		"natural key": {Kind: full.Kind, ID: "other", Key: full.Key, Revision: 1, CreatedAt: created, UpdatedAt: created},
		"everything":  full,
	} {
		if err := s.Import(t.Context(), r); !errors.Is(err, store.ErrExists) {
			t.Errorf("Import with the same %s = %v, want ErrExists", name, err)
		}
	}
	same(t, "record", get(t, s, full.Kind, full.ID), &full)

	// Imported records can be changed.
	next := full
	next.Data = []byte("updated")
	must(t, s.Update(t.Context(), &next))
	if next.Revision <= full.Revision || !next.CreatedAt.Equal(created) {
		t.Errorf("after the update: revision %d, created at %s", next.Revision, next.CreatedAt)
	}
	same(t, "updated record", get(t, s, full.Kind, full.ID), &next)
}

func wantContents(t *testing.T, s store.Portable, digests ...string) {
	t.Helper()
	got, err := s.Contents(t.Context())
	must(t, err)
	slices.Sort(digests)
	same(t, "contents", got, slices.Compact(digests))
}

func testContents(t *testing.T, b Backend) {
	s := b.portable(t)
	wantContents(t, s)
	var digests []string
	for _, content := range []string{"", "a content", "another one", "gone"} {
		must(t, s.PutBlob(t.Context(), digestOf(content), reader(content)))
		digests = append(digests, digestOf(content))
	}
	must(t, s.DeleteBlob(t.Context(), digestOf("gone")))
	must(t, s.PutBlob(t.Context(), digestOf(""), reader("")))
	wantContents(t, s, digests[:3]...)
}

func testHeldLeases(t *testing.T, b Backend) {
	s := b.portable(t)
	want := func(names ...string) {
		t.Helper()
		held, err := s.HeldLeases(t.Context())
		must(t, err)
		var got []string
		for _, h := range held {
			got = append(got, h.Name)
			if h.Holder != "somebody elsewhere" || time.Since(h.Since).Abs() > time.Hour {
				t.Errorf("lease %q is held by %q since %s", h.Name, h.Holder, h.Since)
			}
		}
		same(t, "held leases", got, names)
	}
	want()
	var leases []store.Lease
	for _, name := range []string{"b", "a", "released"} {
		l, err := s.Acquire(t.Context(), name, "somebody elsewhere")
		must(t, err)
		leases = append(leases, l)
	}
	must(t, leases[2].Release(t.Context()))
	want("a", "b")
	must(t, leases[0].Release(t.Context()))
	must(t, leases[1].Release(t.Context()))
	want()
}
