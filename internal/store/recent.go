package store

import (
	"context"
	"sync"
	"time"
)

// recentFor is how long a record that was read is not read again. Terraform reads an object and plans it in that time.
const recentFor = 3 * time.Second

// recent is a store that remembers records for a moment.
type recent struct {
	Store
	clock func() time.Time

	mu    sync.Mutex
	known map[recordName]*remembered
	// acquired is when this handle took a lease last, by its name.
	acquired map[string]acquisition
}

type acquisition struct {
	token int64
	at    time.Time
}

type recordName struct {
	kind Kind
	id   string
}

// remembered is a record as this handle has read or written it last.
type remembered struct {
	record *Record
	// at is before the request.
	at time.Time
	// writes rises with each write: what was read before that is not remembered after it.
	writes int
}

// KeepRecent returns a store over s, which is far away: a record that this handle has read or written a moment ago is not read again.
// Another process may have written it since, as it may between any read and what follows from it. Who must know takes a lease, and what
// was read before that is read again; and a write of a record that has changed is ErrStale as ever. Closing it closes s.
func KeepRecent(s Store) Store {
	r := &recent{Store: s, clock: time.Now, known: map[recordName]*remembered{}, acquired: map[string]acquisition{}}
	if encoded, ok := s.(EncodedBlobs); ok {
		return struct {
			*recent
			EncodedBlobs
		}{r, encoded}
	}
	return r
}

// Get implements Store.
func (s *recent) Get(ctx context.Context, kind Kind, id string) (*Record, error) {
	name := recordName{kind, id}
	s.mu.Lock()
	known := s.known[name]
	if known == nil {
		known = &remembered{}
		s.known[name] = known
	}
	writes, now := known.writes, s.clock()
	if known.record != nil && ctx.Err() == nil && now.Sub(known.at) < recentFor && s.isSince(known.at, Fences(ctx)) {
		defer s.mu.Unlock()
		found := *known.record
		return &found, nil
	}
	s.mu.Unlock()
	r, err := s.Store.Get(ctx, kind, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if known.writes == writes {
		known.keep(r, now)
	}
	return r, err
}

// isSince reports whether a time is one since which all leases are held.
func (s *recent) isSince(at time.Time, fences []Fence) bool {
	for _, f := range fences {
		if a := s.acquired[f.Lease]; a.token != f.Token || !at.After(a.at) {
			return false
		}
	}
	return true
}

// Acquire implements Store.
func (s *recent) Acquire(ctx context.Context, name, holder string) (Lease, error) {
	l, err := s.Store.Acquire(ctx, name, holder)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.acquired[name] = acquisition{l.Fence().Token, s.clock()}
	}
	return l, err
}

// keep remembers a copy of a record; nil is none.
func (r *remembered) keep(record *Record, at time.Time) {
	r.record, r.at = nil, at
	if record != nil {
		found := *record
		r.record = &found
	}
}

// wrote remembers a record that was written by a request after a time; nil when nobody knows what is stored.
func (s *recent) wrote(kind Kind, id string, r *Record, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := recordName{kind, id}
	known := s.known[name]
	if known == nil {
		known = &remembered{}
		s.known[name] = known
	}
	known.writes++
	known.keep(r, at)
}

// Create implements Store.
func (s *recent) Create(ctx context.Context, r *Record) error {
	return s.write(ctx, r, s.Store.Create)
}

// Update implements Store.
func (s *recent) Update(ctx context.Context, r *Record) error {
	return s.write(ctx, r, s.Store.Update)
}

func (s *recent) write(ctx context.Context, r *Record, write func(context.Context, *Record) error) error {
	at, kind, id := s.clock(), r.Kind, r.ID
	err := write(ctx, r)
	if err != nil {
		r = nil
	}
	s.wrote(kind, id, r, at)
	return err
}

// Delete implements Store.
func (s *recent) Delete(ctx context.Context, kind Kind, id string) error {
	err := s.Store.Delete(ctx, kind, id)
	s.wrote(kind, id, nil, time.Time{})
	return err
}

// MaxContent is the size in bytes of the largest content that the store below keeps; 0 when it has no bound.
func (s *recent) MaxContent() int64 {
	if bounded, ok := s.Store.(interface{ MaxContent() int64 }); ok {
		return bounded.MaxContent()
	}
	return 0
}
