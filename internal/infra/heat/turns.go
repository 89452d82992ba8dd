package heat

import (
	"context"
	"sync"
)

// turns lets one at a time do what has the same key.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{}
}

// take waits until nobody has the key. The error is that of a context that ends before.
func (t *turns) take(ctx context.Context, key string) (leave func(), err error) {
	for {
		t.mu.Lock()
		busy := t.taken[key]
		if busy == nil {
			done := make(chan struct{})
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			t.taken[key] = done
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, key)
				close(done)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
