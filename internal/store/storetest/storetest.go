// Package storetest is the conformance suite of package store: what every place for
// records, contents and leases has to do.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Backend is a kind of store under test.
type Backend struct {
	// New makes an empty place and returns its address, which is valid in other
	// processes of this machine too.
	New func(t *testing.T) string
	// Open opens a handle on the place of that address.
	Open func(ctx context.Context, address string) (store.Store, error)
	// Damage changes a stored content behind the back of the store. Nil where that
	// cannot be done.
	Damage func(t *testing.T, address, digest string)
	// Lease is how long a lease lives without renewal.
	Lease time.Duration
	// OpenAt opens a handle of a machine that has another clock. A store whose only clock is
	// that of a server leaves it alone. Nil where all handles are on one machine.
	OpenAt func(ctx context.Context, address string, clock func() time.Time) (store.Store, error)
	// Break opens a handle of which one request fails with its connection, that of the number
	// at, from 0: before it is done, or done and never answered. requests tells how many there
	// were. Nil where a store makes no requests.
	Break func(t *testing.T, address string, at int, done bool) (s store.Store, requests func() int)
	// TriesAgain says that the store repeats a request that fails once, so that its user sees
	// no error.
	TriesAgain bool
	// MaxContent is the size of the largest content in bytes; 0 where there is none.
	MaxContent int64
	// Records is how many records the test of many has; 0 is 10,000. A store that takes more
	// than some 5 s for that has fewer, and says why.
	Records int
}

// Run runs the suite. It starts the test binary again, with the name of t as the
// test to run: nothing but Run may have an effect in the test that calls it.
func Run(t *testing.T, b Backend) {
	runAsChild(t, b)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, b Backend)
	}{
		{"empty", testEmpty},
		{"create and get", testCreateGet},
		{"create twice", testCreateTwice},
		{"failed write leaves the record alone", testFailedWrite},
		{"update", testUpdate},
		{"stale update", testStaleUpdate},
		{"delete", testDelete},
		{"list", testList},
		{"records live on", testReopen},
		{"many records", testManyRecords},
		{"records are imported", testImport},
		{"concurrent records", testConcurrentRecords},
		{"concurrent natural keys", testConcurrentKeys},
		{"cancelled context", testCancelled},
		{"closed handle", testClosed},

		{"content", testBlob},
		{"content with another digest", testBlobDigest},
		{"content that fails while it is read", testBlobReadError},
		{"content twice", testBlobTwice},
		{"damaged content", testBlobDamaged},
		{"big content", testBlobBig},
		{"contents of all sizes", testBlobSizes},
		{"contents are listed", testContents},
		{"concurrent contents", testConcurrentBlobs},

		{"lease", testLease},
		{"lease is renewed", testLeaseRenewed},
		{"lease ends with its handle", testLeaseClosed},
		{"lease released after the context ended", testLeaseReleaseCancelled},
		{"concurrent leases", testConcurrentLeases},
		{"writes after a lease was lost", testFence},
		{"held leases are listed", testHeldLeases},
		{"clocks that differ", testClocks},
		{"requests that fail", testFailures},

		{"processes write records", testProcessesRecords},
		{"twenty processes", testTwentyProcesses},
		{"processes take turns", testProcessesLease},
		{"process with a lease is killed", testProcessKilled},
		{"unknown process with a lease is killed", testUnknownProcessKilled},
		{"process with a lease is stopped", testProcessStopped},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, b)
		})
	}
}

// open opens n handles on a place and closes them at the end of the test.
func (b Backend) open(t *testing.T, address string, n int) []store.Store {
	t.Helper()
	handles := make([]store.Store, n)
	for i := range handles {
		s, err := b.Open(t.Context(), address)
		if err != nil {
			t.Fatalf("opening a handle: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("closing a handle: %v", err)
			}
		})
		handles[i] = s
	}
	return handles
}

// one opens one handle on an empty place.
func (b Backend) one(t *testing.T) store.Store {
	t.Helper()
	return b.open(t, b.New(t), 1)[0]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, s store.Store, r store.Record) store.Record {
	t.Helper()
	if err := s.Create(t.Context(), &r); err != nil {
		t.Fatalf("creating %s %q: %v", r.Kind, r.ID, err)
	}
	return r
}

func get(t *testing.T, s store.Store, kind store.Kind, id string) *store.Record {
	t.Helper()
	r, err := s.Get(t.Context(), kind, id)
	if err != nil {
		t.Fatalf("getting %s %q: %v", kind, id, err)
	}
	return r
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func sampleRecord(id string) store.Record {
	return store.Record{
		Kind: store.KindInstance, ID: id, Key: "vim/" + id, Owner: "vim-1",
		Data: fmt.Appendf(nil, `{"name": %q}`, id), Sealed: []byte{0, 1, 2, 0xff},
	}
}
