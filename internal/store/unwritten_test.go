package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readable is a store that its user may only read.
type readable struct{ store.Store }

func refused() error { return store.RefusedWrite(errors.New("no right to write")) }

func (readable) Create(context.Context, *store.Record) error                  { return refused() }
func (readable) Update(context.Context, *store.Record) error                  { return refused() }
func (readable) Delete(context.Context, store.Kind, string) error             { return refused() }
func (readable) Acquire(context.Context, string, string) (store.Lease, error) { return nil, refused() }

// TestKeepUnwritten: a refresh over a store that may only be read has what it wrote, which no other handle sees; any other write is
// refused.
func TestKeepUnwritten(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	below, err := sqlite.Open(ctx, t.TempDir()+"/store.db", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, below.Close()) })
	require.NoError(t, below.Create(ctx, &store.Record{Kind: store.KindVIM, ID: "there", Data: []byte("{}")}))
	s := store.KeepUnwritten(readable{below})

	lost := &store.Record{Kind: store.KindVIM, ID: "lost", Key: "k", Owner: "o", Data: []byte(`{"a":1}`)}
	require.ErrorIs(t, s.Create(ctx, lost), store.ErrReadOnly)
	_, err = s.Acquire(ctx, "lease", "holder")
	require.ErrorIs(t, err, store.ErrReadOnly)

	refresh := vnfm.WithRefresh(ctx)
	lease, err := s.Acquire(refresh, "lease", "holder")
	require.NoError(t, err)
	require.NoError(t, vnfm.Unwritten(refresh))
	require.NoError(t, s.Create(store.Under(refresh, lease.Fence()), lost))
	require.ErrorIs(t, vnfm.Unwritten(refresh), store.ErrReadOnly)
	require.NoError(t, lease.Release(ctx))
	require.ErrorIs(t, s.Create(refresh, lost), store.ErrExists)

	got, err := s.Get(ctx, store.KindVIM, "lost")
	require.NoError(t, err)
	require.Equal(t, lost, got)
	got.Data = []byte(`{"a":2}`)
	require.NoError(t, s.Update(ctx, got))
	require.ErrorIs(t, s.Update(ctx, lost), store.ErrStale)
	for _, q := range []store.Query{{Kind: store.KindVIM}, {}} {
		all, err := s.List(ctx, q)
		require.NoError(t, err)
		require.Len(t, all, 2)
	}
	for _, q := range []store.Query{{Kind: store.KindVIM, Key: "k"}, {Owner: "o"}} {
		all, err := s.List(ctx, q)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.JSONEq(t, `{"a":2}`, string(all[0].Data))
	}
	require.ErrorIs(t, s.Update(refresh, &store.Record{Kind: store.KindVIM, ID: "there", Revision: 1}), store.ErrReadOnly)
	_, err = below.Get(ctx, store.KindVIM, "lost")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, s.Delete(ctx, store.KindVIM, "lost"))
	_, err = s.Get(ctx, store.KindVIM, "lost")
	require.ErrorIs(t, err, store.ErrNotFound)
}
