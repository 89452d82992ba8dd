package store

import (
	"context"
	"errors"
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
	// acquired is since when nobody else has had a lease that this handle took, by its name.
	acquired map[string]acquisition
	// writeCount is how many writes there were by this handle, and written the number of the last one that has changed the records of a kind,
	// those of an owner, and those that may be anybody's.
	writeCount int
	written    map[Query]int
	// lists were asked for ahead, and are given once.
	lists map[Query]*asked

	// whole is all that was there when that was read last, asking how it is being read; nil for neither. large says that the store is too large
	// for that, begun that the first read has begun.
	whole, asking *wholeRead
	large, begun  bool
	// deleted is when this handle has deleted a content last.
	deleted time.Time
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
	// isKnown says that record is what was there; nil is none.
	isKnown bool
	record  *Record
	// at is before the request.
	at time.Time
	// writes is the number of the last write of the handle: what was read before that is not remembered after it.
	writes int
	// asked is a read that is not answered yet; nil for none.
	asked *asked
}

// asked is a read whose answer others wait for as well.
type asked struct {
	// at is before the request, and writes how many writes there were then.
	at     time.Time
	writes int
	// answered is closed when the rest is there.
	answered chan struct{}
	record   *Record
	list     []Record
	err      error
}

// KeepRecent returns a store over s, which is far away: a record that this handle has read or written a moment ago, or has found missing, is
// not read again, and one that is being read is not asked for twice. ReadAhead reads what will be needed. Of a small store that is all of it,
// and so is the first read.
// Another process may have written it since, as it may between any read and what follows from it. Who must know takes a lease, and what
// was read before that is read again, unless the lease was seen free before and nobody has had it since; and a write of a record
// that has changed is ErrStale as ever. Closing it closes s.
func KeepRecent(s Store) Store {
	r := newRecent(s, time.Now)
	if encoded, ok := s.(EncodedBlobs); ok {
		return struct {
			*recent
			EncodedBlobs
		}{r, encoded}
	}
	return r
}

func newRecent(s Store, clock func() time.Time) *recent {
	return &recent{
		Store: s, clock: clock, known: map[recordName]*remembered{}, acquired: map[string]acquisition{}, written: map[Query]int{}, lists: map[Query]*asked{},
	}
}

// Get implements Store.
func (s *recent) Get(ctx context.Context, kind Kind, id string) (*Record, error) {
	s.mu.Lock()
	known, awaited := s.of(kind, id), false
	for ctx.Err() == nil {
		if known.isKnown && s.isFresh(known.at, Fences(ctx)) {
			defer s.mu.Unlock()
			return copied(known.record, kind, id)
		}
		if s.isAbsent(known, kind, id, Fences(ctx)) {
			s.mu.Unlock()
			return nil, NotFound(kind, id)
		}
		a := known.asked
		if a == nil || a.writes != known.writes || !s.isFresh(a.at, Fences(ctx)) {
			if !awaited && s.awaitWhole(ctx) {
				awaited = true
				continue
			}
			break
		}
		s.mu.Unlock()
		select {
		case <-a.answered:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if a.err == nil && a.writes == known.writes && ctx.Err() == nil {
			defer s.mu.Unlock()
			return copied(a.record, kind, id)
		}
	}
	a := &asked{at: s.clock(), writes: known.writes, answered: make(chan struct{})}
	known.asked = a
	s.mu.Unlock()
	r, err := s.Store.Get(ctx, kind, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if missing := errors.Is(err, ErrNotFound); err != nil && !missing {
		a.err = err
	}
	if err == nil {
		a.record, _ = copied(r, kind, id)
	}
	close(a.answered)
	if known.asked == a {
		known.asked = nil
	}
	if known.writes == a.writes {
		known.keep(a.record, a.err == nil, a.at)
	}
	return r, err
}

// copied is a copy of a record, or ErrNotFound for none.
func copied(r *Record, kind Kind, id string) (*Record, error) {
	if r == nil {
		return nil, NotFound(kind, id)
	}
	found := *r
	return &found, nil
}

// of returns what is remembered of a record. It is called with the mutex held.
func (s *recent) of(kind Kind, id string) *remembered {
	name := recordName{kind, id}
	known := s.known[name]
	if known == nil {
		known = &remembered{}
		s.known[name] = known
	}
	return known
}

// isFresh reports whether what was asked for at a time may be taken for what is there, under leases.
func (s *recent) isFresh(at time.Time, fences []Fence) bool {
	return s.clock().Sub(at) < recentFor && s.isSince(at, fences)
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
		at := s.clock()
		if l, ok := l.(undisturbed); ok {
			at = l.UnheldSince()
		}
		s.acquired[name] = acquisition{l.Fence().Token, at}
	}
	return l, err
}

// keep remembers a record, nil for none, or that nobody knows what is stored.
func (r *remembered) keep(record *Record, isKnown bool, at time.Time) {
	r.record, r.isKnown, r.at = record, isKnown, at
}

// anybodys stands for writes of which is not known whose records they change.
const anybodys = "\x00"

// wrote remembers a record that was written by a request after a time, nil for one that was deleted, or that nobody knows what is stored. The
// owner is empty when nobody knows it.
func (s *recent) wrote(kind Kind, id, owner string, r *Record, isKnown bool, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeCount++
	s.written[Query{Kind: kind}] = s.writeCount
	if owner == "" {
		owner = anybodys
	}
	s.written[Query{Kind: kind, Owner: owner}] = s.writeCount
	known := s.of(kind, id)
	known.writes = s.writeCount
	if r != nil {
		r, _ = copied(r, kind, id)
	}
	known.keep(r, isKnown, at)
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
	at, kind, id, owner := s.clock(), r.Kind, r.ID, r.Owner
	err := write(ctx, r)
	if err != nil {
		r = nil
	}
	s.wrote(kind, id, owner, r, err == nil, at)
	return err
}

// Delete implements Store.
func (s *recent) Delete(ctx context.Context, kind Kind, id string) error {
	at := s.clock()
	err := s.Store.Delete(ctx, kind, id)
	s.wrote(kind, id, "", nil, err == nil, at)
	return err
}

// MaxContent is the size in bytes of the largest content that the store below keeps; 0 when it has no bound.
func (s *recent) MaxContent() int64 {
	if bounded, ok := s.Store.(interface{ MaxContent() int64 }); ok {
		return bounded.MaxContent()
	}
	return 0
}
