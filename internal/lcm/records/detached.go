package records

import (
	"context"
	"time"
)

// detachedLimit bounds what is still written after the caller gave up: an
// interrupted apply must return within two seconds.
const detachedLimit = 1500 * time.Millisecond

// Detached returns a context for the last writes of an operation, which must
// happen although ctx has ended.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), detachedLimit)
}
