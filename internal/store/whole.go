package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// Most stores are small. To read one of them as a whole is one request, as a record is, and answers all that is read in the next moment.

// Whole is what a store holds.
type Whole struct {
	// Records are all of them, in the order of their creation.
	Records []Record
	// At is before they were read, and after it was seen which leases are free, if Leases says that this was done.
	At     time.Time
	Leases bool
}

// wholeReader is implemented by stores that can be far away.
type wholeReader interface {
	// ReadWhole returns all that a small store holds; nil for a larger one. With leases it is seen before which of them are free.
	ReadWhole(ctx context.Context, leases bool) (*Whole, error)
}

// undisturbed is implemented by leases that were taken as they were seen before.
type undisturbed interface {
	// UnheldSince is the time since which no other holder has had the lease: what was read after it is what is there under the lease.
	UnheldSince() time.Time
}

// KeepsContents reports whether a store knows that no content was deleted since a time: by this handle, or by others who have had the leases of
// ctx, under which contents are deleted.
func KeepsContents(ctx context.Context, s Store, since time.Time) bool {
	knows, ok := s.(interface {
		KeepsContents(ctx context.Context, since time.Time) bool
	})
	return ok && knows.KeepsContents(ctx, since)
}

// KeepsContents is what KeepsContents asks for.
func (s *recent) KeepsContents(ctx context.Context, since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fences := Fences(ctx)
	return len(fences) > 0 && s.isSince(since, fences) && s.deleted.Before(since)
}

// KeepsContents is that of the store below.
func (u *unwritten) KeepsContents(ctx context.Context, since time.Time) bool {
	return KeepsContents(ctx, u.Store, since)
}

// KeepsContents is that of the store below.
func (t *traced) KeepsContents(ctx context.Context, since time.Time) bool {
	return KeepsContents(ctx, t.Store, since)
}

// DeleteBlob implements Store.
func (s *recent) DeleteBlob(ctx context.Context, digest string) error {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deleted = s.clock()
	}()
	return s.Store.DeleteBlob(ctx, digest)
}

// wholeRead is a reading of the whole store.
type wholeRead struct {
	Whole
	// leases says that leases were asked for.
	leases bool
	// writes is the number of the last write before it.
	writes   int
	names    map[recordName]bool
	answered chan struct{}
}

// Selects reports whether a record is one of those that are asked for.
func (q Query) Selects(r *Record) bool {
	return (q.Kind == "" || q.Kind == r.Kind) && (q.Owner == "" || q.Owner == r.Owner) && (q.Key == "" || q.Key == r.Key)
}

// askWhole reads the whole store in the background, unless that is on its way, or the store is too large. It is called with the mutex held.
func (s *recent) askWhole(ctx context.Context, leases bool) {
	from, ok := s.Store.(wholeReader)
	if !ok || s.large || s.asking != nil && (s.asking.leases || !leases) {
		return
	}
	w := &wholeRead{leases: leases, writes: s.writeCount, answered: make(chan struct{})}
	s.asking = w
	go func() {
		whole, err := from.ReadWhole(ctx, leases)
		s.mu.Lock()
		defer s.mu.Unlock()
		defer close(w.answered)
		if s.asking == w {
			s.asking = nil
		}
		if err != nil {
			return
		}
		if s.large = whole == nil; s.large {
			return
		}
		w.Whole, w.names = *whole, make(map[recordName]bool, len(whole.Records))
		for i := range w.Records {
			r := &w.Records[i]
			w.names[recordName{r.Kind, r.ID}] = true
			if known := s.of(r.Kind, r.ID); known.writes <= w.writes {
				known.keep(r, true, w.At)
			}
		}
		if s.whole == nil || w.At.After(s.whole.At) {
			s.whole = w
		}
	}()
}

// hasWhole reports whether the whole store was read a moment ago, under leases.
func (s *recent) hasWhole(fences []Fence) bool {
	return s.whole != nil && s.isFresh(s.whole.At, fences)
}

// awaitWhole waits for a reading of the whole store, which the first read begins, and reports whether there was one. It is called with the
// mutex held, which it gives back meanwhile.
func (s *recent) awaitWhole(ctx context.Context) bool {
	if !s.begun {
		s.begun = true
		s.askWhole(ctx, false)
	}
	w := s.asking
	if w == nil {
		return false
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-w.answered:
	case <-ctx.Done():
	}
	return true
}

// isAbsent reports whether there was no such record in the whole store, and this handle has not written it since. It is called with the mutex
// held.
func (s *recent) isAbsent(known *remembered, kind Kind, id string, fences []Fence) bool {
	return s.hasWhole(fences) && known.writes <= s.whole.writes && !s.whole.names[recordName{kind, id}]
}

// listWhole answers a query from the whole store, with what this handle has written since. It is called with the mutex held.
func (s *recent) listWhole(q Query, fences []Fence) (list []Record, ok bool) {
	if !s.hasWhole(fences) {
		return nil, false
	}
	for i := range s.whole.Records {
		r := &s.whole.Records[i]
		if known := s.of(r.Kind, r.ID); known.writes > s.whole.writes {
			if !known.isKnown || !s.isFresh(known.at, fences) {
				return nil, false
			}
			r = known.record
		}
		if r != nil && q.Selects(r) {
			list = append(list, *r)
		}
	}
	var created []Record
	for name, known := range s.known {
		switch {
		case known.writes <= s.whole.writes || s.whole.names[name] || q.Kind != "" && q.Kind != name.kind:
		case !known.isKnown || !s.isFresh(known.at, fences):
			return nil, false
		case known.record != nil && q.Selects(known.record):
			created = append(created, *known.record)
		}
	}
	slices.SortFunc(created, func(a, b Record) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return append(list, created...), true
}

// Seen are leases of a store that were free when they were seen, by their names, with what tells whether somebody has had them since. It is not
// safe for concurrent use.
type Seen[T any] struct {
	free map[string]seenLease[T]
	// others are the names of those that were not free when all were seen at a time.
	others map[string]bool
	all    time.Time
}

type seenLease[T any] struct {
	as    T
	since time.Time
}

// See notes a lease as it was when it was free, since a time.
func (s *Seen[T]) See(name string, as T, since time.Time) {
	if s.free == nil {
		s.free = map[string]seenLease[T]{}
	}
	s.free[name] = seenLease[T]{as, since}
}

// SeeAll notes all leases: those that are free, and the names of those that are not.
func (s *Seen[T]) SeeAll(free map[string]T, others map[string]bool, at time.Time) {
	s.others, s.all = others, at
	maps.DeleteFunc(s.free, func(name string, _ seenLease[T]) bool { return others[name] })
	for name, as := range free {
		s.See(name, as, at)
	}
}

// Knows reports whether a lease was seen.
func (s *Seen[T]) Knows(name string) bool {
	_, seen := s.free[name]
	return seen || !s.all.IsZero() && !s.others[name]
}

// Take returns how a lease was seen free, once. One that nobody ever had is the zero value.
func (s *Seen[T]) Take(name string) (as T, since time.Time, ok bool) {
	seen, ok := s.free[name]
	switch {
	case ok:
		delete(s.free, name)
	case s.all.IsZero() || s.others[name]:
		return as, since, false
	default:
		seen.since = s.all
	}
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[name] = true
	return seen.as, seen.since, true
}
