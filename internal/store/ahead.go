package store

import "context"

// Wanted is what will be read: a record; all records of a kind that have an owner, or of any; a lease, which will be acquired; or a content,
// which will be deleted.
type Wanted struct {
	Kind Kind
	// ID is that of a record; empty for a list.
	ID    string
	Owner string
	// Lease is the name of a lease. New says that its name is new, so that nobody has it.
	Lease string
	New   bool
	// Content is the digest of a content.
	Content string
}

// IsFar reports whether KeepRecent is around a store: its answers take their time.
func IsFar(s Store) bool {
	far, ok := s.(interface{ IsFar() bool })
	return ok && far.IsFar()
}

// IsFar implements what IsFar asks for.
func (*recent) IsFar() bool { return true }

// IsFar is that of the store below.
func (u *unwritten) IsFar() bool { return IsFar(u.Store) }

// IsFar is that of the store below.
func (t *traced) IsFar() bool { return IsFar(t.Store) }

// aheadReader is implemented by stores whose reads can be asked for before they are needed.
type aheadReader interface {
	ReadAhead(ctx context.Context, wanted ...Wanted)
}

// ReadAhead asks a store that is far away for what the caller, with this context, will read next, all at once, and waits for nothing: whoever
// reads it then gets that answer, a list once, unless this handle has written a record of its kind since. A list that was asked for already
// is not asked for again. It does nothing for a store that
// KeepRecent is not around, for which an answer is near.
func ReadAhead(ctx context.Context, s Store, wanted ...Wanted) {
	if r, ok := s.(aheadReader); ok {
		r.ReadAhead(ctx, wanted...)
	}
}

// ReadAhead is that of the store below.
func (u *unwritten) ReadAhead(ctx context.Context, wanted ...Wanted) {
	ReadAhead(ctx, u.Store, wanted...)
}

// ReadAhead is that of the store below: who reads the answer has a span.
func (t *traced) ReadAhead(ctx context.Context, wanted ...Wanted) { ReadAhead(ctx, t.Store, wanted...) }

// ReadAhead keeps what is read, and what is on its way, for who reads it.
func (s *recent) ReadAhead(ctx context.Context, wanted ...Wanted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q, a := range s.lists {
		if s.clock().Sub(a.at) >= recentFor {
			delete(s.lists, q)
		}
	}
	_, canWhole := s.Store.(wholeReader)
	for _, w := range wanted {
		switch {
		case w.New || w.Content != "":
			ReadAhead(ctx, s.Store, w)
		case canWhole && !s.large:
			s.wholeAhead(ctx, w)
		case w.Lease != "":
			ReadAhead(ctx, s.Store, w)
		case w.ID != "":
			go func() { _, _ = s.Get(ctx, w.Kind, w.ID) }()
		default:
			s.listAhead(ctx, Query{Kind: w.Kind, Owner: w.Owner})
		}
	}
}

// wholeAhead reads the whole store unless what is wanted is known. It is called with the mutex held.
func (s *recent) wholeAhead(ctx context.Context, w Wanted) {
	fences := Fences(ctx)
	if w.Lease != "" {
		if !s.hasWhole(nil) || !s.whole.Leases {
			s.askWhole(ctx, true)
		}
		return
	}
	known := s.of(w.Kind, w.ID)
	isKnown := w.ID != "" && (known.isKnown && s.isFresh(known.at, fences) || s.isAbsent(known, w.Kind, w.ID, fences))
	if w.ID == "" {
		_, isKnown = s.listWhole(Query{Kind: w.Kind, Owner: w.Owner}, fences)
	}
	if !isKnown {
		s.askWhole(ctx, false)
	}
}

// listAhead reads a list. It is called with the mutex held.
func (s *recent) listAhead(ctx context.Context, q Query) {
	if s.isUsable(s.lists[q], q, Fences(ctx)) {
		return
	}
	a := &asked{at: s.clock(), writes: s.writes(q), answered: make(chan struct{})}
	s.lists[q] = a
	go func() {
		defer close(a.answered)
		a.list, a.err = s.Store.List(ctx, q)
	}()
}

// writes is the number of the last write that may have changed the answer to a query. It is called with the mutex held.
func (s *recent) writes(q Query) int {
	if q.Owner == "" {
		return s.written[Query{Kind: q.Kind}]
	}
	return max(s.written[Query{Kind: q.Kind, Owner: q.Owner}], s.written[Query{Kind: q.Kind, Owner: anybodys}])
}

// isUsable reports whether the answer to a query, nil for none, may be taken for what is there, under leases. It is called with the mutex held.
func (s *recent) isUsable(a *asked, q Query, fences []Fence) bool {
	return a != nil && s.writes(q) == a.writes && s.isFresh(a.at, fences)
}

// List implements Store.
func (s *recent) List(ctx context.Context, q Query) ([]Record, error) {
	s.mu.Lock()
	list, known := s.listWhole(q, Fences(ctx))
	if !known && s.lists[q] == nil && s.awaitWhole(ctx) {
		list, known = s.listWhole(q, Fences(ctx))
	}
	if known && ctx.Err() == nil {
		s.mu.Unlock()
		return list, nil
	}
	a := s.lists[q]
	delete(s.lists, q)
	usable := func() bool { return s.isUsable(a, q, Fences(ctx)) && ctx.Err() == nil }
	wait := usable()
	s.mu.Unlock()
	if wait {
		select {
		case <-a.answered:
		case <-ctx.Done():
		}
		s.mu.Lock()
		wait = usable()
		s.mu.Unlock()
		if wait && a.err == nil {
			return a.list, nil
		}
	}
	return s.Store.List(ctx, q)
}
