package postgres

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// serverWhole reads a store as a whole, and takes leases as they were seen then.
func serverWhole(t *testing.T, server *pgtest.Server) {
	config := Config{ConnStr: server.ConnStr("postgres"), Schema: "whole"}
	s, other := openStore(t, config), openStore(t, config)
	whole, err := s.ReadWhole(t.Context(), true)
	require.NoError(t, err)
	require.Empty(t, whole.Records)
	want := []store.Record{
		{Kind: store.KindVIM, ID: "b", Key: "k", Owner: "o", Data: []byte("data"), Sealed: []byte("sealed")}, {Kind: store.KindInstance, ID: "a"},
	}
	for i := range want {
		require.NoError(t, s.Create(t.Context(), &want[i]))
	}
	acquire := func(from *pgStore, name string) *lease {
		l, err := from.Acquire(t.Context(), name, "holder")
		require.NoError(t, err)
		return l.(*lease) //nolint:forcetypeassert,errcheck // It has no other one.
	}
	release := func(l *lease) { require.NoError(t, l.Release(t.Context())) }
	release(acquire(other, "given back"))
	release(acquire(other, "had by another one"))
	held := acquire(other, "held")
	whole, err = s.ReadWhole(t.Context(), true)
	require.NoError(t, err)
	got, err := s.List(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Equal(t, got, whole.Records)
	require.Len(t, got, len(want))

	release(acquire(other, "had by another one"))
	release(held)
	s.ReadAhead(t.Context(), store.Wanted{Lease: "a new one", New: true})
	for name, undisturbed := range map[string]bool{"given back": true, "never had": true, "a new one": true, "had by another one": false, "held": false} {
		l := acquire(s, name)
		require.Equal(t, undisturbed, whole.At.After(l.UnheldSince()), name)
		release(l)
		// What a handle has given back it takes again as that was, unless somebody else has had it.
		since := l.UnheldSince()
		l = acquire(s, name)
		require.Equal(t, since, l.UnheldSince(), name)
		release(l)
		release(acquire(other, name))
		l = acquire(s, name)
		require.True(t, l.UnheldSince().After(since), name)
		release(l)
	}

	large := store.Record{Kind: store.KindVIM, ID: "large", Data: bytes.Repeat([]byte("a"), maxWhole)}
	require.NoError(t, s.Create(t.Context(), &large))
	whole, err = s.ReadWhole(t.Context(), true)
	require.NoError(t, err)
	require.Nil(t, whole)
}
