package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// heldLease is a lease as a store implements it.
type heldLease interface {
	comparable
	Lease
	// Lose closes Lost.
	Lose()
}

// Leases are the leases that a handle holds. The zero value belongs to an open handle.
type Leases[L heldLease] struct {
	mu     sync.Mutex
	closed bool
	held   map[L]struct{}
}

// Add notes a lease that was acquired. It reports whether the handle is open: when it is not,
// the caller releases the lease.
func (s *Leases[L]) Add(l L) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[L]struct{}{}
	}
	s.held[l] = struct{}{}
	return !s.closed
}

// Remove forgets a lease that is released, and reports whether it was still held.
func (s *Leases[L]) Remove(l L) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, held := s.held[l]
	delete(s.held, l)
	return held
}

// All returns the leases that are held.
func (s *Leases[L]) All() []L {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.held))
}

// Closed reports whether the handle was closed.
func (s *Leases[L]) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close gives back all leases, closing their Lost, and calls end after that. A second call
// does nothing.
func (s *Leases[L]) Close(end func() error) error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	held := s.All()
	errs := make([]error, len(held), len(held)+1)
	var wg sync.WaitGroup
	for i, l := range held {
		l.Lose()
		wg.Go(func() { errs[i] = l.Release(context.Background()) })
	}
	wg.Wait()
	return errors.Join(append(errs, end())...)
}
