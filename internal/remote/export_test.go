package remote

import (
	"context"
	"time"
)

// DialAlive is Dial with other times between signs of life.
func DialAlive(ctx context.Context, h Host, every, patience time.Duration) (*Client, error) {
	return dial(ctx, h, 0, liveness{every: every, patience: patience})
}
