package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Get returns a record, or store.ErrNotFound.
func (s *kubeStore) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	doing := fmt.Sprintf("reading %s %q", kind, id)
	var r *store.Record
	var m *meta
	err := s.reading(ctx, doing, func(ctx context.Context) (err error) {
		r, m, err = s.read(ctx, recordName(kind, id))
		return err
	})
	if err != nil {
		return nil, err
	}
	if m == nil || m.pending {
		return nil, store.NotFound(kind, id)
	}
	return r, nil
}

// List returns the records that match, in the order of their creation: that of the clocks of
// those who created them.
func (s *kubeStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	return s.list(ctx, q, 0)
}

// list is List of at most so many records, 0 for any number.
func (s *kubeStore) list(ctx context.Context, q store.Query, atMost int) ([]store.Record, error) {
	const doing = "listing records"
	var list []store.Record
	one := func(raw json.RawMessage) error {
		var secret corev1.Secret
		if err := json.Unmarshal(raw, &secret); err != nil {
			return err
		}
		r, m, err := s.decode(&secret)
		if err != nil {
			return err
		}
		s.learn(m)
		// The labels are hashes.
		if q.Selects(r) {
			list = append(list, *r)
		}
		return nil
	}
	err := s.reading(ctx, doing, func(ctx context.Context) error {
		return s.client.ListEach(ctx, secretResource, s.namespace, kube.ListOptions{LabelSelector: selector(q), AtMost: atMost}, one, func() { list = nil })
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b store.Record) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// selector selects the committed records of a query.
func selector(q store.Query) string {
	parts := []string{labelObject + "=" + objectRecord, "!" + labelPending}
	if q.Kind != "" {
		parts = append(parts, labelKind+"="+kindName(q.Kind))
	}
	if q.Owner != "" {
		parts = append(parts, labelOwner+"="+hash(q.Owner))
	}
	if q.Key != "" {
		parts = append(parts, labelKey+"="+hash(q.Key))
	}
	return strings.Join(parts, ",")
}

// Create stores a new record, or returns store.ErrExists. A record without a natural key that
// is created under no lease is one POST. Any other one is pending first, for the POST could
// arrive after somebody else has taken the key, or the lease.
func (s *kubeStore) Create(ctx context.Context, r *store.Record) error {
	if r.Kind == "" || r.ID == "" {
		return fmt.Errorf("a record needs a kind and an id, got kind %q and id %q", r.Kind, r.ID)
	}
	doing := fmt.Sprintf("creating %s %q", r.Kind, r.ID)
	next := *r
	next.CreatedAt = s.creation()
	next.UpdatedAt, next.Revision = next.CreatedAt, 1
	m := &meta{
		name: recordName(r.Kind, r.ID), kind: r.Kind, id: r.ID, key: r.Key, revision: 1, created: next.CreatedAt,
		mark: random(), maker: process.Name(),
	}
	if _, err := s.encode(&next, m); err != nil {
		return s.explain(ctx, doing, err)
	}
	if err := s.ready(ctx, doing, true); err != nil {
		return err
	}
	p := s.enter(ctx)
	defer p.leave()
	m.leases = merged(p.labels(), foreseen(ctx))
	made, err := s.create(ctx, p, &next, m)
	if err != nil {
		return s.explain(ctx, doing, p.verdict(ctx, err))
	}
	s.learn(made)
	r.Revision, r.CreatedAt, r.UpdatedAt = next.Revision, next.CreatedAt, next.UpdatedAt
	return nil
}

// creation is the time of a creation, which is later than that of the one before.
func (s *kubeStore) creation() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock().UTC().Round(0)
	if !now.After(s.created) {
		now = s.created.Add(1)
	}
	s.created = now
	return now
}

// create makes a record as m says and returns what is stored then.
func (s *kubeStore) create(ctx context.Context, p *passage, r *store.Record, m *meta) (*meta, error) {
	makings.Store(m.mark, nil)
	defer makings.Delete(m.mark)
	staged := r.Key != "" || len(p.fences) > 0
	if err := p.check(ctx, false); err != nil {
		return nil, err
	}
	placed, fresh := false, false
	for again := false; ; again = true {
		if !placed {
			m.pending, m.resourceVersion, m.reservation = staged, "", ""
			existing, err := s.post(ctx, p, r, m)
			switch {
			case err != nil:
				return nil, err
			case existing != nil:
				return existing, nil
			case m.resourceVersion == "":
				continue
			}
			placed = true
		}
		if !staged {
			return m, nil
		}
		if r.Key != "" {
			reservation, isFresh, err := s.reserve(ctx, r.Kind, r.Key, r.ID)
			if err != nil {
				s.withdraw(ctx, m, fresh)
				return nil, err
			}
			m.reservation, fresh = reservation, fresh || isFresh
		}
		if err := p.check(ctx, again); err != nil {
			s.withdraw(ctx, m, fresh)
			return nil, err
		}
		committed := *m
		committed.pending, committed.maker = false, ""
		err := s.put(ctx, p, r, &committed)
		switch {
		case err == nil:
			return &committed, nil
		case !apierrors.IsConflict(err) && !missing(err, s.secret(m.name)):
			if !isUndecided(err) {
				s.withdraw(ctx, m, fresh)
			}
			return nil, err
		}
		// Somebody has changed the pending record, or removed it, or the answer to an
		// earlier try was lost.
		there, err := s.peek(ctx, m.name)
		switch {
		case err != nil:
			return nil, err
		case there == nil || there.mark != m.mark:
			placed = false
		case !there.pending:
			return there, nil
		default:
			m.uid, m.resourceVersion = there.uid, there.resourceVersion
		}
	}
}

// post makes the object of a record. When another one was in its place that is no record, m
// has no resource version afterwards. A record that an earlier call of this handle has made,
// without learning that, is returned, and r takes over its times.
func (s *kubeStore) post(ctx context.Context, p *passage, r *store.Record, m *meta) (made *meta, err error) {
	secret, err := s.encode(r, m)
	if err != nil {
		return nil, err
	}
	sending, cancel := s.sending(ctx)
	defer cancel()
	o, err := s.client.Create(sending, s.secret(m.name), secret)
	p.note(err)
	if err == nil {
		m.uid, m.resourceVersion = o.UID, o.ResourceVersion
		return nil, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		s.doubt(m, err)
		return nil, err
	}
	stored, there, err := s.read(ctx, m.name)
	switch {
	case err != nil || there == nil:
		return nil, err
	case there.mark == m.mark:
		m.uid, m.resourceVersion, m.pending = there.uid, there.resourceVersion, there.pending
		return nil, nil
	case there.pending:
		return nil, s.clear(ctx, there)
	case s.isDoubtful(there) && sameContents(stored, r):
		r.Revision, r.CreatedAt, r.UpdatedAt = stored.Revision, stored.CreatedAt, stored.UpdatedAt
		return there, nil
	default:
		return nil, store.Exists(r)
	}
}

// Update replaces a record of the stored revision, or returns store.ErrStale,
// store.ErrNotFound or store.ErrExists. It is one PUT when this handle has read or written
// that revision.
func (s *kubeStore) Update(ctx context.Context, r *store.Record) error {
	doing := fmt.Sprintf("updating %s %q", r.Kind, r.ID)
	next := *r
	next.UpdatedAt = s.clock().UTC().Round(0)
	if _, err := s.encode(&next, &meta{name: recordName(r.Kind, r.ID)}); err != nil {
		return s.explain(ctx, doing, err)
	}
	if err := s.ready(ctx, doing, false); err != nil {
		return err
	}
	p := s.enter(ctx)
	defer p.leave()
	written, err := s.update(ctx, p, &next)
	if err != nil {
		return s.explain(ctx, doing, p.verdict(ctx, err))
	}
	s.learn(written)
	r.Revision, r.CreatedAt, r.UpdatedAt = written.revision, written.created, next.UpdatedAt
	return nil
}

func (s *kubeStore) update(ctx context.Context, p *passage, r *store.Record) (written *meta, err error) {
	name, mark := recordName(r.Kind, r.ID), random()
	current := s.recall(name)
	if current != nil && current.revision != r.Revision {
		current = nil
	}
	var reservation string
	fresh := false
	defer func() {
		if err != nil && fresh && !isUndecided(err) {
			s.unreserve(ctx, r.Kind, r.Key, reservation)
		}
	}()
	for again := false; ; again = true {
		if current == nil {
			if current, err = s.peek(ctx, name); err != nil {
				return nil, err
			}
		}
		switch {
		case current == nil || current.pending:
			return nil, store.NotFound(r.Kind, r.ID)
		case current.mark == mark:
			// The answer to the first try was lost.
			return current, nil
		case current.revision != r.Revision && (current.revision != r.Revision+1 || !s.isDoubtful(current)):
			return nil, fmt.Errorf("%s %q: %w", r.Kind, r.ID, store.ErrStale)
		}
		if current, err = p.label(ctx, current); err != nil {
			return nil, err
		}
		if current == nil {
			continue
		}
		next := &meta{
			name: name, resourceVersion: current.resourceVersion, uid: current.uid, mark: mark, kind: r.Kind, id: r.ID, key: r.Key,
			revision: current.revision + 1, created: current.created, reservation: current.reservation, leases: current.leases,
		}
		if r.Key != current.key {
			next.reservation = ""
			if r.Key != "" {
				var isFresh bool
				if next.reservation, isFresh, err = s.reserve(ctx, r.Kind, r.Key, r.ID); err != nil {
					return nil, err
				}
				reservation, fresh = next.reservation, fresh || isFresh
			}
		}
		if err = p.check(ctx, again); err != nil {
			return nil, err
		}
		err = s.put(ctx, p, r, next)
		switch {
		case err == nil:
			if current.key != "" && current.key != r.Key {
				s.unreserve(ctx, r.Kind, current.key, current.reservation)
			}
			return next, nil
		case missing(err, s.secret(name)):
			s.forget(name)
			return nil, store.NotFound(r.Kind, r.ID)
		case !apierrors.IsConflict(err):
			return nil, err
		}
		current = nil
	}
}

// Delete removes a record, or returns store.ErrNotFound.
func (s *kubeStore) Delete(ctx context.Context, kind store.Kind, id string) error {
	doing := fmt.Sprintf("deleting %s %q", kind, id)
	if err := s.ready(ctx, doing, false); err != nil {
		return err
	}
	p := s.enter(ctx)
	defer p.leave()
	name := recordName(kind, id)
	deleted, err := s.erase(ctx, p, s.recall(name), func(ctx context.Context) (*meta, error) { return s.peek(ctx, name) })
	if err == nil && deleted == nil {
		err = store.NotFound(kind, id)
	}
	if err != nil {
		return s.explain(ctx, doing, p.verdict(ctx, err))
	}
	if deleted.key != "" {
		s.unreserve(ctx, kind, deleted.key, deleted.reservation)
	}
	return nil
}

// erase deletes an object under the leases of p and returns what it was; nil when there was
// none. current is how it was seen last, nil when it has to be looked for with peek.
func (s *kubeStore) erase(ctx context.Context, p *passage, current *meta, peek func(ctx context.Context) (*meta, error)) (deleted *meta, err error) {
	for again := false; ; again = true {
		if current == nil {
			if current, err = peek(ctx); err != nil || current == nil || current.pending {
				return nil, err
			}
		}
		if current, err = p.label(ctx, current); err != nil {
			return nil, err
		}
		if current == nil {
			continue
		}
		if err := p.check(ctx, again); err != nil {
			return nil, err
		}
		err = s.remove(ctx, p, current)
		switch {
		case err == nil:
			return current, nil
		case missing(err, s.secret(current.name)):
			return nil, nil
		case !apierrors.IsConflict(err):
			return nil, err
		}
		current = nil
	}
}

// read reads a record, which may be pending. The result is nil when there is none.
func (s *kubeStore) read(ctx context.Context, name string) (*store.Record, *meta, error) {
	ref := s.secret(name)
	var secret corev1.Secret
	if err := s.client.GetInto(ctx, ref, &secret); err != nil {
		if missing(err, ref) {
			s.forget(name)
			return nil, nil, nil
		}
		return nil, nil, err
	}
	r, m, err := s.decode(&secret)
	if err != nil {
		return nil, nil, err
	}
	s.learn(m)
	known := *m
	return r, &known, nil
}

// peek is read for who needs no contents.
func (s *kubeStore) peek(ctx context.Context, name string) (*meta, error) {
	ref := s.secret(name)
	o, err := s.client.GetMetadata(ctx, ref)
	if err != nil {
		if missing(err, ref) {
			s.forget(name)
			return nil, nil
		}
		return nil, err
	}
	return s.readMeta(&o.ObjectMeta)
}

// put replaces the object of a record that has the resource version of m, which gets the new
// one.
func (s *kubeStore) put(ctx context.Context, p *passage, r *store.Record, m *meta) error {
	secret, err := s.encode(r, m)
	if err != nil {
		return err
	}
	sending, cancel := s.sending(ctx)
	defer cancel()
	o, err := s.client.Replace(sending, s.secret(m.name), secret)
	p.note(err)
	if err != nil {
		s.doubt(m, err)
		return err
	}
	m.uid, m.resourceVersion = o.UID, o.ResourceVersion
	return nil
}

// remove deletes an object as it was read. One that an earlier try may have deleted is gone.
func (s *kubeStore) remove(ctx context.Context, p *passage, m *meta) error {
	sending, cancel := s.sending(ctx)
	defer cancel()
	err := s.client.DeleteVersion(sending, s.secret(m.name), m.uid, m.resourceVersion)
	p.note(err)
	gone := missing(err, s.secret(m.name))
	if err == nil || gone {
		s.forget(m.name)
	}
	if gone && wasRepeated(err) {
		return nil
	}
	return err
}

// doubt remembers a write whose outcome is not known: a record that has its mark is the own
// one when it is written again.
func (s *kubeStore) doubt(m *meta, err error) {
	if !isUndecided(err) || m.pending {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubtful[m.name] = m.mark
}

func (s *kubeStore) isDoubtful(m *meta) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.mark != "" && s.doubtful[m.name] == m.mark
}

func sameContents(a, b *store.Record) bool {
	return a.Key == b.Key && a.Owner == b.Owner && bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Sealed, b.Sealed)
}

// isUndecided reports whether a write may have been carried out, or may be yet. A conflict
// says that it cannot be: the resource version that it was for is gone.
func isUndecided(err error) bool {
	return wasRepeated(err) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err)
}

// wasRepeated reports whether nobody knows the outcome of an earlier try of a request.
func wasRepeated(err error) bool {
	return errors.As(err, new(*kube.UndecidedError))
}

// missing reports whether the server says that the object itself is not there: a gateway that
// knows no such path says no more than that.
func missing(err error, ref kube.Ref) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsNotFound(err) && status.ErrStatus.Details != nil && status.ErrStatus.Details.Name == ref.Name &&
		status.ErrStatus.Details.Kind == ref.Resource.GVR.Resource
}

// merged returns both.
func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}
