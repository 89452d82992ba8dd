package vnfm

import (
	"context"
	"slices"
	"sync"
)

type trailingKey struct{}

// trailing is what drivers still do after their work.
type trailing struct {
	mu    sync.Mutex
	tasks []chan struct{}
}

func (t *trailing) run(do func()) {
	done := make(chan struct{})
	t.mu.Lock()
	t.tasks = append(t.tasks, done)
	t.mu.Unlock()
	go func() {
		defer close(done)
		do()
	}()
}

func (t *trailing) wait() {
	t.mu.Lock()
	tasks := slices.Clone(t.tasks)
	t.mu.Unlock()
	for _, done := range tasks {
		<-done
	}
}

// WithTrailing returns a context in which drivers may end what follows their work while the caller goes on, and a
// function that waits for all of that, which the caller calls before it returns.
func WithTrailing(ctx context.Context) (with context.Context, wait func()) {
	t := &trailing{}
	return context.WithValue(ctx, trailingKey{}, t), t.wait
}

// Trail does what follows the work of a driver: in the background where the caller of the driver waits for it in the end, else at once.
func Trail(ctx context.Context, do func()) {
	if t, ok := ctx.Value(trailingKey{}).(*trailing); ok {
		t.run(do)
		return
	}
	do()
}

// AwaitTrailing waits for what was begun with Trail.
func AwaitTrailing(ctx context.Context) {
	if t, ok := ctx.Value(trailingKey{}).(*trailing); ok {
		t.wait()
	}
}
