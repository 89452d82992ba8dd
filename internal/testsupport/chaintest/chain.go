// Package chaintest counts how many requests wait for each other.
package chaintest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Chain notes which requests waited for which. It is safe for concurrent use; a nil one notes nothing.
type Chain struct {
	// Trace gets a line for each request that was answered: its place in the chain, when it was begun and answered, in milliseconds, who
	// has sent it, and what it was; through a relay, what of it is text. An empty line ends what Take takes. It is nil for no trace, and set
	// before the first request.
	Trace io.Writer

	mu sync.Mutex
	// answered are, for each depth, when its first request was answered; the request before all has none.
	answered []time.Time
	deepest  int
	first    time.Time
}

// Handler delays each request on its way to next, so that those that wait for each other can be told from those that do not.
func (c *Chain) Handler(delay time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		depth := c.begin(began)
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			return
		case <-timer.C:
		}
		next.ServeHTTP(&answer{ResponseWriter: w, begins: func() {
			agent, _, _ := strings.Cut(r.UserAgent(), "/")
			c.end(depth, began, fmt.Sprintf("%s %s %s", agent, r.Method, r.URL))
		}}, r)
	})
}

// begin returns the depth of a request: one more than the deepest that was answered before.
func (c *Chain) begin(at time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	depth := 1
	for d, answered := range c.answered {
		if answered.Before(at) {
			depth = d + 2
		}
	}
	c.deepest = max(c.deepest, depth)
	return depth
}

// end notes the answer to a request, and what it was.
func (c *Chain) end(depth int, began time.Time, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	if c.Trace != nil {
		if c.first.IsZero() {
			c.first = began
		}
		_, _ = fmt.Fprintf(c.Trace, "%2d %6d %6d %s\n", depth, began.Sub(c.first).Milliseconds(), at.Sub(c.first).Milliseconds(), what)
	}
	if depth == len(c.answered)+1 {
		c.answered = append(c.answered, at)
	}
}

// Take returns the length of the longest chain of requests since the last call.
func (c *Chain) Take() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.deepest
	c.deepest, c.answered = 0, nil
	if c.Trace != nil && !c.first.IsZero() {
		c.first = time.Time{}
		_, _ = fmt.Fprintln(c.Trace)
	}
	return out
}

// answer tells when an answer begins.
type answer struct {
	http.ResponseWriter
	begins func()
	once   sync.Once
}

func (a *answer) WriteHeader(status int) {
	a.once.Do(a.begins)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
