package vnfm

import (
	"context"
	"errors"
	"sync"
)

// ErrReadOnlyStore is what errors.Is finds in the error of a write that the user of the store has no right to.
var ErrReadOnlyStore = errors.New("the store may only be read")

type refreshKey struct{}

// refresh is what happened during a refresh.
type refresh struct {
	mu      sync.Mutex
	refused error
}

// WithRefresh returns a context for a refresh or a plan. What such a one writes says nothing new: records that the store has lost are
// written again. Where the store refuses that, since its user may only read, they are there for this process alone, see Unwritten.
func WithRefresh(ctx context.Context) context.Context {
	return context.WithValue(ctx, refreshKey{}, new(refresh))
}

// IsRefresh reports whether a context is one of WithRefresh.
func IsRefresh(ctx context.Context) bool { return ctx.Value(refreshKey{}) != nil }

// NoteUnwritten notes in a context of WithRefresh that a record is not in the store, and what the store said.
func NoteUnwritten(ctx context.Context, refused error) {
	if r, ok := ctx.Value(refreshKey{}).(*refresh); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = refused
	}
}

// Unwritten is what NoteUnwritten has noted last; nil when everything is in the store.
func Unwritten(ctx context.Context) error {
	r, ok := ctx.Value(refreshKey{}).(*refresh)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}
