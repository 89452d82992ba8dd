package postgres

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// TestEndedWithLastError: who waits for a server until the time is over reads why the server did not answer.
func TestEndedWithLastError(t *testing.T) {
	withoutLibpq(t)
	s, err := open(t.Context(), Config{ConnStr: "postgres://known:secret-pw@127.0.0.1:1/postgres?sslmode=disable"}, defaultTiming(), testContent)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for name, read := range map[string]func(context.Context) error{
		"the first look": func(ctx context.Context) error { _, err := s.Get(ctx, store.KindVIM, "v"); return err },
		"a statement": func(ctx context.Context) error {
			return s.retry(ctx, "reading", func() error { return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			err := read(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			wantError(t, err, "127.0.0.1:1", "context deadline exceeded", "connection refused", "check host and port")
		})
	}
	_, err = s.Get(t.Context(), store.KindVIM, "v")
	wantError(t, err, "127.0.0.1:1", "connection refused; no answer since 20", "; check host and port")
}
