package kube

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// retryPolicy bounds the retries of one request after transient failures. All requests of this
// package may be sent twice.
type retryPolicy struct {
	// base and limit bound the delay, which doubles with every attempt.
	base, limit time.Duration
	// window bounds the retries while a server that has answered before is interrupted or asks for
	// a later try.
	window time.Duration
	// propagationWindow bounds the wait for the effects of another write.
	propagationWindow time.Duration
	// attempts bounds the tries against a server that has never answered or that answers with an
	// internal error.
	attempts int
	// attemptTimeout bounds one try, so that a lost connection is noticed.
	attemptTimeout time.Duration
}

func defaultRetry() retryPolicy {
	return retryPolicy{
		base:              100 * time.Millisecond,
		limit:             3 * time.Second,
		window:            45 * time.Second,
		propagationWindow: 5 * time.Second,
		attempts:          3,
		attemptTimeout:    60 * time.Second,
	}
}

// once returns the policy of a check, whose answer must be a current one: retries are short.
func (p retryPolicy) once() retryPolicy {
	p.attempts, p.window, p.propagationWindow, p.attemptTimeout = 2, 2*time.Second, 0, dialTimeout
	return p
}

// next returns the delay before the next try, or false if err is final. tries is the number of
// tries so far, elapsed the time since the first.
func (p retryPolicy) next(err error, tries int, elapsed time.Duration, answered bool) (time.Duration, bool) {
	delay := p.backoff(tries)
	var server *serverError
	switch {
	case errors.As(err, new(*SourceError)):
		return 0, false
	case errors.As(err, &server):
		switch persistence(server) {
		case passing:
			if server.retryAfter > 0 {
				delay = server.retryAfter + rand.N(p.base) //nolint:gosec // jitter needs no secrecy
			}
			return delay, elapsed+delay <= p.window
		case propagating:
			return min(delay, p.propagationWindow/10), elapsed+delay <= p.propagationWindow
		case doubtful:
			return delay, tries < p.attempts
		default:
			return 0, false
		}
	case isPermanentTransport(err):
		return 0, false
	case answered:
		return delay, elapsed+delay <= p.window
	case isTimeout(err):
		// A server that has never answered had the whole timeout for its answer.
		return 0, false
	default:
		return delay, tries < p.attempts
	}
}

// backoff doubles from base to limit with a jitter of one half.
func (p retryPolicy) backoff(tries int) time.Duration {
	d := p.limit
	if tries < 16 {
		d = min(p.base<<(tries-1), p.limit)
	}
	return d/2 + rand.N(d/2+1) //nolint:gosec // jitter needs no secrecy
}

// isTimeout reports whether one try ended by its own time-out.
func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

type persistenceOf int

const (
	final persistenceOf = iota
	// doubtful failures pass sometimes: a webhook that is being restarted.
	doubtful
	// propagating failures follow from a write that has not taken full effect yet: a definition
	// whose kind is not served, a namespace without its account.
	propagating
	// passing failures are known to pass.
	passing
)

// passingMessages come from an API server whose storage changes its leader or catches up.
var passingMessages = []string{
	"etcdserver: leader changed",
	"etcdserver: request timed out",
	"etcdserver: no leader",
	"etcdserver: too many requests",
	"raft proposal dropped",
	"storage is (re)initializing",
	"connection refused",
	"no endpoints available for service",
	"http2: server sent GOAWAY",
	"the server is currently unable to handle the request",
}

func persistence(e *serverError) persistenceOf {
	switch code := e.code; {
	case e.denied:
		return final
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout, code == http.StatusBadGateway:
		return passing
	case code == http.StatusInternalServerError:
		for _, m := range passingMessages {
			if strings.Contains(e.Error(), m) {
				return passing
			}
		}
		return doubtful
	case code == http.StatusConflict && e.transientConflict:
		return doubtful
	case code == http.StatusNotFound && e.notServed:
		return propagating
	case code == http.StatusForbidden && e.noAccount:
		return propagating
	default:
		return final
	}
}
