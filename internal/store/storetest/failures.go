package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// task is something that a store is asked for.
type task struct {
	name string
	do   func(ctx context.Context, s store.Store) error
	// done is the error of a repetition that says that it was done already; nil for none.
	done error
	// check looks whether it was done.
	check func(t *testing.T, s store.Store)
}

const failureContent = "a content that is kept while connections fail"

// tasks are a life of a record, of a content and of a lease.
func tasks() []task {
	write := func(ctx context.Context, s store.Store, data string) error {
		r, err := s.Get(ctx, store.KindVIM, "a")
		if err != nil || string(r.Data) == data {
			return err
		}
		r.Data = []byte(data)
		return s.Update(ctx, r)
	}
	wantData := func(data string) func(t *testing.T, s store.Store) {
		return func(t *testing.T, s store.Store) {
			t.Helper()
			same(t, "data", string(get(t, s, store.KindVIM, "a").Data), data)
		}
	}
	digest := digestOf(failureContent)
	return []task{
		{"create", func(ctx context.Context, s store.Store) error {
			return s.Create(ctx, &store.Record{Kind: store.KindVIM, ID: "a", Key: "k", Data: []byte("0")})
		}, store.ErrExists, wantData("0")},
		{"update", func(ctx context.Context, s store.Store) error { return write(ctx, s, "1") }, nil, wantData("1")},
		{"list", func(ctx context.Context, s store.Store) error {
			list, err := s.List(ctx, store.Query{Kind: store.KindVIM})
			if err == nil && len(list) != 1 {
				err = fmt.Errorf("%d records are listed, want 1", len(list))
			}
			return err
		}, nil, nil},
		{"put a content", func(ctx context.Context, s store.Store) error {
			return s.PutBlob(ctx, digest, strings.NewReader(failureContent))
		}, nil, func(t *testing.T, s store.Store) { t.Helper(); wantBlob(t, s, failureContent) }},
		{"read a content", func(ctx context.Context, s store.Store) error {
			got, err := readBlob(ctx, s, digest)
			if err == nil && got != failureContent {
				err = fmt.Errorf("the content reads as %q", got)
			}
			return err
		}, nil, nil},
		{"write under a lease", func(ctx context.Context, s store.Store) error {
			l, err := s.Acquire(ctx, "a", process.Name())
			if err != nil {
				return err
			}
			return errors.Join(write(store.Under(ctx, l.Fence()), s, "2"), l.Release(ctx))
		}, nil, wantData("2")},
		{"delete", func(ctx context.Context, s store.Store) error { return s.Delete(ctx, store.KindVIM, "a") }, store.ErrNotFound,
			func(t *testing.T, s store.Store) {
				t.Helper()
				if _, err := s.Get(t.Context(), store.KindVIM, "a"); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("Get of a deleted record = %v, want ErrNotFound", err)
				}
			}},
		{"delete a content", func(ctx context.Context, s store.Store) error { return s.DeleteBlob(ctx, digest) }, nil,
			func(t *testing.T, s store.Store) { t.Helper(); wantNoBlob(t, s, digest) }},
	}
}

// isUntrue tells errors that would be lies: nobody else works on the store.
func isUntrue(err error) bool {
	for _, untrue := range []error{store.ErrNotFound, store.ErrExists, store.ErrStale, store.ErrCorrupt} {
		if errors.Is(err, untrue) {
			return true
		}
	}
	return errors.As(err, new(*vnfm.LeaseLostError)) || errors.As(err, new(*store.HeldError))
}

// testFailures has a request fail, each in turn or some of them by chance. A task that says
// that it succeeded was done. One that says that it failed can be repeated. Nothing is half
// done.
func testFailures(t *testing.T, b Backend) {
	if b.Break == nil {
		t.Skip("this store makes no requests, or they are not made to fail here")
	}
	requests := life(t, b, -1, false)
	t.Logf("a life takes %d requests", requests)
	const few = 24
	for _, instant := range killtest.New(t).Of(2*requests, few) {
		life(t, b, instant/2, instant%2 == 1)
	}
}

// life does all tasks and returns how many requests that took.
func life(t *testing.T, b Backend, at int, done bool) int {
	t.Helper()
	address := b.New(t)
	healthy, err := b.Open(t.Context(), address)
	must(t, err)
	// There are many lives: their connections end with them.
	defer func() { must(t, healthy.Close()) }()
	broken, requests := b.Break(t, address, at, done)
	for _, task := range tasks() {
		where := fmt.Sprintf("request %d fails (done: %t): %s", at, done, task.name)
		err := task.do(t.Context(), broken)
		if err != nil {
			if at < 0 || b.TriesAgain || isUntrue(err) {
				t.Fatalf("%s: %v", where, err)
			}
			t.Logf("%s: %v", where, err)
			err = task.do(t.Context(), healthy)
			for errors.As(err, new(*store.HeldError)) {
				// A lease whose answer was lost.
				acquired := acquireWithin(t, b, healthy, time.Now())
				must(t, acquired.Release(t.Context()))
				err = task.do(t.Context(), healthy)
			}
			if err != nil && (task.done == nil || !errors.Is(err, task.done)) {
				t.Fatalf("%s, repeated: %v", where, err)
			}
		}
		if task.check != nil {
			task.check(t, healthy)
		}
		if t.Failed() {
			t.Fatal(where)
		}
	}
	if err := broken.Close(); err != nil {
		t.Logf("request %d fails (done: %t): closing: %v", at, done, err)
	}
	return requests()
}
