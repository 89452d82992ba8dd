package vnfm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTrailing: what follows a driver's work is over when the caller's wait is, and when nobody waits before the driver returns.
func TestTrailing(t *testing.T) {
	t.Parallel()
	done := false
	Trail(t.Context(), func() { done = true })
	require.True(t, done, "nobody waits")

	ctx, wait := WithTrailing(t.Context())
	begin, ended := make(chan struct{}), false
	Trail(ctx, func() {
		<-begin
		ended = true
	})
	close(begin)
	AwaitTrailing(ctx)
	require.True(t, ended, "the next operation")
	wait()
	AwaitTrailing(t.Context())
}
