package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// littleContent is stored by each of the twenty.
var littleContent = strings.Repeat("the same content ", 1000)

// roleWriteLittle does a little of everything.
func roleWriteLittle(ctx context.Context, s store.Store) error {
	own := store.Record{Kind: store.KindOperation, ID: fmt.Sprint(os.Getpid()), Key: fmt.Sprint(os.Getpid())}
	if err := s.Create(ctx, &own); err != nil {
		return err
	}
	shared := store.Record{Kind: store.KindInstance, ID: own.ID, Key: "the same"}
	if err := s.Create(ctx, &shared); err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	if err := s.PutBlob(ctx, digestOf(littleContent), reader(littleContent)); err != nil {
		return err
	}
	var l store.Lease
	for l == nil {
		var err error
		l, err = s.Acquire(ctx, "turn", process.Name())
		if _, held := errors.AsType[*store.HeldError](err); err != nil && !held {
			return err
		}
		if l == nil {
			_ = poll.Sleep(ctx, 10*time.Millisecond)
		}
	}
	// Nobody else writes it meanwhile: a stale record is an error.
	r, err := s.Get(ctx, store.KindVIM, "turns")
	if err == nil {
		r.Data = append(r.Data, '.')
		err = s.Update(store.Under(ctx, l.Fence()), r)
	}
	return errors.Join(err, l.Release(ctx))
}

// testTwentyProcesses is a fleet of runners that begin at the same time, in an empty place.
func testTwentyProcesses(t *testing.T, b Backend) {
	const processes = 20
	address := b.New(t)
	s := b.open(t, address, 1)[0]
	create(t, s, store.Record{Kind: store.KindVIM, ID: "turns"})
	children := make([]*child, processes)
	for i := range children {
		children[i] = start(t, address, "write little")
	}
	for _, c := range children {
		c.wait(t)
	}
	same(t, "turns", string(get(t, s, store.KindVIM, "turns").Data), strings.Repeat(".", processes))
	for kind, want := range map[store.Kind]int{store.KindOperation: processes, store.KindInstance: 1} {
		list, err := s.List(t.Context(), store.Query{Kind: kind})
		must(t, err)
		same(t, "number of records", len(list), want)
	}
	wantBlob(t, s, littleContent)
}
