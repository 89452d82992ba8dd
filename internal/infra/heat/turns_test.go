package heat

import (
	"context"
	"errors"
	"sync"
	"testing"

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
		if *count != 50 {
			t.Errorf("%s was done %d times", key, *count)
		}
	}
	leave, err := all.take(t.Context(), "a")
	require.NoError(t, err)
	defer leave()
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := all.take(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a key in a context that has ended: %v", err)
	}
}
