package kube

import (
	"net/http"
	"sync"
	"time"
)

// pace is how fast the API server has answered at best: how far away it is, and what a write takes it, whatever else it does meanwhile.
type pace struct {
	mu sync.Mutex
	// any is the shortest time from a request to its answer, write that of a write; 0 before the first one.
	any, write time.Duration
}

// note counts an answer to a request that began then; the time until there was a connection is no part of it.
func (p *pace) note(method string, begun time.Time) {
	if begun.IsZero() {
		return
	}
	took := time.Since(begun)
	p.mu.Lock()
	defer p.mu.Unlock()
	shorten(&p.any, took)
	if method != http.MethodGet {
		shorten(&p.write, took)
	}
}

func shorten(to *time.Duration, took time.Duration) {
	if *to == 0 || took < *to {
		*to = took
	}
}

const (
	// writeTime is what a write takes the API server as long as none was seen, minWriteTime what it takes at least.
	writeTime    = 5 * time.Millisecond
	minWriteTime = time.Millisecond
)

// Pace returns how long a request is on its way to the API server and back, and what the server takes to write an object.
func (c *Client) Pace() (roundTrip, write time.Duration) {
	c.pace.mu.Lock()
	defer c.pace.mu.Unlock()
	if write = writeTime; c.pace.write > 0 {
		write = max(minWriteTime, c.pace.write-c.pace.any)
	}
	return c.pace.any, write
}
