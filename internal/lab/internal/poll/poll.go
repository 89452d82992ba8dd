// Package poll waits for what is about to come up.
package poll

import (
	"context"
	"fmt"
	"time"
)

// interval is how often something that is about to come up is looked at.
const interval = 100 * time.Millisecond

// Until tries until there is no error, and returns the last one when ctx ends.
func Until(ctx context.Context, what string, try func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: %w", what, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
