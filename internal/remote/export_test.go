package remote

import (
	"context"
	"time"
)

// DialAlive is Dial with other times between signs of life.
func DialAlive(ctx context.Context, h Host, every, patience time.Duration) (*Client, error) {
	return dial(ctx, h, 0, liveness{every: every, patience: patience})
}

// SetAgentTimeout changes how long an agent may take, and returns what puts it back.
func SetAgentTimeout(d time.Duration) func() {
	before := agentTimeout
	agentTimeout = d
	return func() { agentTimeout = before }
}
