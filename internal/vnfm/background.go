package vnfm

import (
	"context"
	"sync"
)

type backgroundKey struct{}

// background is what a call still has to do before it is answered.
type background struct {
	all sync.WaitGroup
	// mu keeps what begins from what ends.
	mu     sync.Mutex
	ending chan struct{}
}

// WithBackground returns a context in which things may be done in the background, and a function that waits for all of that, which the caller
// calls before it answers.
func WithBackground(ctx context.Context) (with context.Context, wait func()) {
	b := &background{ending: make(chan struct{})}
	return context.WithValue(ctx, backgroundKey{}, b), sync.OnceFunc(func() {
		b.mu.Lock()
		close(b.ending)
		b.mu.Unlock()
		b.all.Wait()
	})
}

// InBackground does something in the background where the caller waits for that in the end, and reports whether that is so: else it does
// nothing. From the time at which ending is closed, the caller waits.
func InBackground(ctx context.Context, do func(ending <-chan struct{})) bool {
	b, ok := ctx.Value(backgroundKey{}).(*background)
	if !ok {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.ending:
		// Nobody may wait any more.
		return false
	default:
		b.all.Go(func() { do(b.ending) })
		return true
	}
}
