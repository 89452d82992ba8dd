package heat

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	var all turns
	counts := map[string]*int{"a": new(int), "b": new(int)}
	var workers sync.WaitGroup
	for key, count := range counts {
		for range 50 {
			workers.Go(func() {
				leave, err := all.take(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				defer leave()
				// The race detector, and a lost addition, would tell of two at once.
				*count++
			})
		}
	}
	workers.Wait()
	for key, count := range counts {
		assert.Equal(t, 50, *count, "%s was done", key)
	}
	leave, err := all.take(t.Context(), "a")
	require.NoError(t, err)
	defer leave()
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = all.take(ended, "a")
	require.ErrorIs(t, err, context.Canceled, "waiting for a key in a context that has ended")
}
