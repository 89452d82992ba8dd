package postgres

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// asking counts how often a connection writes after it has read: round trips.
type asking struct {
	net.Conn
	asked atomic.Bool
	trips *atomic.Int64
}

func (c *asking) Write(p []byte) (int, error) {
	if !c.asked.Swap(true) {
		c.trips.Add(1)
	}
	return c.Conn.Write(p)
}

func (c *asking) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.asked.Store(false)
	}
	return n, err
}

// serverTrips has what each call costs: the server may be far away.
func serverTrips(t *testing.T, server *pgtest.Server) {
	s := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "trips"})
	ctx, trips := t.Context(), new(atomic.Int64)
	s.config.MaxConns = 1
	s.config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return &asking{Conn: conn, trips: trips}, err
	}
	// Through one connection, the look for the tables goes after the first read.
	_, err := s.Get(ctx, store.KindVIM, "first")
	require.ErrorIs(t, err, store.ErrNotFound)
	login := trips.Swap(0) - 2
	_, err = s.Get(ctx, store.KindVIM, "first")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, int64(2), trips.Load(), "round trips to a read without tables")
	require.LessOrEqual(t, login, int64(3), "round trips to log in")
	r := &store.Record{Kind: store.KindVIM, ID: "a", Key: "k", Owner: "o", Data: []byte("data"), Sealed: []byte("sealed")}
	content := "content"
	var l store.Lease
	acquire := func() (err error) {
		l, err = s.Acquire(ctx, "l", "holder")
		ctx = store.Under(t.Context(), l.Fence())
		return err
	}
	for _, step := range []struct {
		what string
		do   func() error
		want int64
	}{
		{"make the tables and create", func() error { return createVIM(ctx, s, "first") }, 2},
		{"create", func() error { return s.Create(ctx, r) }, 1},
		{"get", func() error { _, err := s.Get(ctx, r.Kind, r.ID); return err }, 1},
		{"list", func() error { _, err := s.List(ctx, store.Query{Kind: r.Kind, Owner: r.Owner}); return err }, 1},
		{"acquire for the first time", acquire, 1},
		{"update under a lease", func() error { return s.Update(ctx, r) }, 1},
		{"release", func() error { return l.Release(t.Context()) }, 1},
		{"acquire what was given back", acquire, 1},
		{"delete under a lease", func() error { return s.Delete(ctx, r.Kind, r.ID) }, 1},
		{"put a content", func() error { return s.PutBlob(ctx, store.Digest([]byte(content)), strings.NewReader(content)) }, 2},
		{"open a content", func() error {
			reader, err := s.OpenBlob(ctx, store.Digest([]byte(content)))
			if err == nil {
				_, err = io.ReadAll(reader)
			}
			return err
		}, 1},
		{"delete a content", func() error { return s.DeleteBlob(ctx, store.Digest([]byte(content))) }, 1},
	} {
		trips.Store(0)
		require.NoError(t, step.do(), step.what)
		require.Equal(t, step.want, trips.Load(), "round trips to %s", step.what)
	}
	require.NoError(t, l.Release(t.Context()))
}
