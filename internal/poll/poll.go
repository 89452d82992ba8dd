// Package poll pauses between two tries.
package poll

import (
	"context"
	"time"
)

// Sleep pauses for d. It ends early with the error of ctx when ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
