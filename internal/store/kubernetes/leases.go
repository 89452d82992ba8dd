package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// leaseMark begins the part of a holder's identity that tells an acquisition from others of
// the same holder.
const leaseMark = " lease="

// acquisitions are the marks of the leases that this process takes or holds. A Lease that
// names this process with another mark is left over: it could not be given back.
var acquisitions sync.Map

// lease is an acquisition of a Lease.
type lease struct {
	s        *kubeStore
	name     string
	mark     string
	identity string
	// token and object are those of the Lease as it was written last. The heartbeat alone
	// writes object, and Release after the end of that.
	token  int64
	object *coordinationv1.Lease
	// takenOver is set when the holder before has not given it back.
	takenOver bool
	// since is UnheldSince.
	since time.Time

	*store.Heartbeat

	mu sync.Mutex
	// renewed is when the request of the last renewal began.
	renewed time.Time
	// writing is the number of writes under the lease that are on their way.
	writing int
	// released is set when no write may begin any more that Release does not know of,
	// unclean when one may still arrive.
	released, unclean bool
}

// UnheldSince is the time since which no other holder has had the lease.
func (l *lease) UnheldSince() time.Time { return l.since }

// sighting is a lease as it was seen in somebody's hands, since a time.
type sighting struct {
	identity string
	renewed  time.Time
	since    time.Time
}

// Acquire takes a lease, or returns a *store.HeldError: at once when the holder has renewed
// the lease just now, by the own clock, else when it does so within the lease's duration.
func (s *kubeStore) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	if name == "" || holder == "" {
		return nil, fmt.Errorf("a lease needs a name and a holder, got name %q and holder %q", name, holder)
	}
	doing := fmt.Sprintf("acquiring the lease %q", name)
	if err := s.ready(ctx, doing, true); err != nil {
		return nil, err
	}
	mark := random()
	l := &lease{s: s, name: name, mark: mark, identity: holder + leaseMark + mark}
	acquisitions.Store(mark, nil)
	orphaned, err := s.take(ctx, l, holder)
	if err != nil {
		acquisitions.Delete(mark)
		return nil, s.explain(ctx, doing, err)
	}

	// The lease lives until Release, not until the caller's context ends.
	l.Heartbeat = store.StartHeartbeat(ctx, l.renewed.Add(s.timing.lease), s.timing.renew, l.renew)
	switch {
	case !s.leases.Add(l):
		err = errors.New("it was closed meanwhile")
	case ctx.Err() != nil:
		err = ctx.Err()
	case orphaned:
		err = s.inherit(ctx, l)
	}
	if err != nil {
		if orphaned {
			l.mu.Lock()
			l.unclean = true
			l.mu.Unlock()
		}
		return nil, errors.Join(s.explain(ctx, doing, err), l.Release(ctx))
	}
	return l, nil
}

// take writes the Lease for l. orphaned says that writes of an earlier holder may be on their
// way.
func (s *kubeStore) take(ctx context.Context, l *lease, holder string) (orphaned bool, err error) {
	var seen *sighting
	for {
		asked := time.Now()
		// One that this handle gave back last, or has seen free, is taken without a look: the
		// server refuses that when somebody has had it since.
		current, since, known := s.takeSeen(ctx, l.name)
		if !known {
			if current, err = s.readLease(ctx, l.name); err != nil {
				return false, err
			}
		}
		orphaned = false
		if current != nil {
			identity := identityOf(current)
			switch {
			case identity == l.identity:
				// The answer to an earlier try was lost, and what was found before it.
				l.object, l.token, l.since = current, tokenOf(current), time.Now()
				return true, nil
			case identity == "":
				orphaned, l.takenOver = isUnclean(current), false
			case holderGone(identity):
				orphaned, l.takenOver = true, true
			default:
				now, rest := s.watch(current, asked)
				changed := seen != nil && (seen.identity != now.identity || !seen.renewed.Equal(now.renewed))
				if rest > 0 && (changed || s.looksAlive(current)) {
					held := heldError(l.name, current)
					held.Renewed, held.Expires = now.renewed, time.Now().Add(rest)
					return false, held
				}
				if rest > 0 {
					seen = &now
					if err := poll.Sleep(ctx, min(rest, s.timing.renew/2)); err != nil {
						return false, err
					}
					continue
				}
				orphaned, l.takenOver = true, true
			}
		}
		err = s.seize(ctx, l, holder, current)
		switch {
		case err == nil:
			if l.since = since; !known || orphaned {
				l.since = time.Now()
			}
			return orphaned, nil
		case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !missing(err, s.leaseRef(l.name)):
			if isUndecided(err) {
				s.abandon(ctx, l)
			}
			return false, err
		}
	}
}

// takeSeen returns a lease as this handle gave it back or saw it free, the first time it is asked for, and since when it has had no holder. One that
// never had a holder is nil.
func (s *kubeStore) takeSeen(ctx context.Context, name string) (seen *coordinationv1.Lease, since time.Time, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaitLook(ctx, s.leaseRef(name).Name)
	if !s.seen.Knows(name) {
		s.awaitLook(ctx, allLeases)
	}
	return s.seen.Take(name)
}

// watch notes how a lease of somebody else is seen, and returns since when it is as it is, and
// for how long it has to stay so until it has expired. asked is when it was asked for.
func (s *kubeStore) watch(l *coordinationv1.Lease, asked time.Time) (sighting, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := sighting{identity: identityOf(l), renewed: renewedAt(l), since: time.Now()}
	if before, ok := s.sightings[l.Annotations[annotationName]]; ok && before.identity == now.identity && before.renewed.Equal(now.renewed) {
		now.since = before.since
	}
	s.sightings[l.Annotations[annotationName]] = now
	return now, s.durationOf(l) - asked.Sub(now.since)
}

// looksAlive reports whether a lease was renewed within its duration, or just after now, by
// the own clock.
func (s *kubeStore) looksAlive(l *coordinationv1.Lease) bool {
	age := s.clock().Sub(renewedAt(l))
	return age < s.durationOf(l) && age > -s.timing.renew
}

// seize writes a Lease as that of l, over the one that was read, nil for none. The token rises
// even when the Lease was deleted, or restored from a backup, by somebody.
func (s *kubeStore) seize(ctx context.Context, l *lease, holder string, current *coordinationv1.Lease) error {
	next := s.newLease(l.name, current)
	now := s.clock()
	token := now.UnixMilli()
	if current != nil {
		token = max(token, tokenOf(current)+1)
	}
	next.Annotations[annotationToken] = strconv.FormatInt(token, 10)
	next.Annotations[annotationHolder] = holder
	delete(next.Annotations, annotationUnclean)
	setHolder(next, l.identity, now, s.timing.lease)

	sending, cancel := s.sending(ctx)
	defer cancel()
	begun := time.Now()
	written, err := s.writeLease(sending, next)
	if err != nil {
		// An earlier try may have got through: then it is found with this token.
		l.renewed = begun
		return err
	}
	l.object, l.token, l.renewed = written, token, begun
	return nil
}

// abandon gives back a lease that an acquisition of unknown outcome may have got. One that
// cannot be given back expires.
func (s *kubeStore) abandon(ctx context.Context, l *lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timing.answer)
	defer cancel()
	current, err := s.readLease(ctx, l.name)
	if err != nil || current == nil || identityOf(current) != l.identity {
		return
	}
	setHolder(current, "", renewedAt(current), s.durationOf(current))
	current.Annotations[annotationUnclean] = "true"
	_, _ = s.writeLease(ctx, current)
}

// renew writes a new time. taken says that the lease is somebody else's.
func (l *lease) renew(ctx context.Context) (expires time.Time, taken bool, err error) {
	// A connection that is dead must not take all the time that is left.
	ctx, cancel := context.WithTimeout(ctx, l.s.timing.renew)
	defer cancel()
	for {
		next := l.object.DeepCopy()
		setHolder(next, l.identity, l.s.clock(), l.s.timing.lease)
		begun := time.Now()
		written, err := l.s.writeLease(ctx, next)
		if err == nil {
			l.object = written
			l.mu.Lock()
			l.renewed = begun
			l.mu.Unlock()
			return begun.Add(l.s.timing.lease), false, nil
		}
		if !apierrors.IsConflict(err) && !missing(err, l.s.leaseRef(l.name)) {
			return time.Time{}, false, err
		}
		// It was changed, by an earlier renewal whose answer was lost, or by others.
		current, err := l.s.readLease(ctx, l.name)
		if err != nil {
			return time.Time{}, false, err
		}
		if current == nil || identityOf(current) != l.identity {
			return time.Time{}, true, nil
		}
		l.object = current
	}
}

// isFresh reports whether nobody can have acquired the lease since: it was renewed so lately
// that nobody has seen it unchanged for its whole duration. Both clocks say so: the one that
// only counts on stands still while the machine sleeps, and the other one can be set.
func (l *lease) isFresh() bool {
	select {
	case <-l.Lost():
		return false
	default:
	}
	l.mu.Lock()
	renewed, released := l.renewed, l.released
	l.mu.Unlock()
	now, limit := time.Now(), l.s.timing.lease-l.s.timing.renew
	return !released && now.Sub(renewed) < limit && now.Round(0).Sub(renewed.Round(0)).Abs() < limit
}

// begin counts a write that Release is to know of. False says that it was called before.
func (l *lease) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return false
	}
	l.writing++
	return true
}

func (l *lease) end(undecided bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing--
	l.unclean = l.unclean || undecided
}

// Fence names this acquisition.
func (l *lease) Fence() store.Fence { return store.Fence{Lease: l.name, Token: l.token} }

// TakenOver reports whether the holder before did not give the lease back.
func (l *lease) TakenOver() bool { return l.takenOver }

// Release gives the lease back, whether ctx has ended or not. While a write is on its way, or
// may be, the next holder learns that from the Lease. One that cannot be given back expires.
func (l *lease) Release(ctx context.Context) error {
	if !l.s.leases.Remove(l) {
		return nil
	}
	defer acquisitions.Delete(l.mark)
	l.Stop()
	l.Wait()
	l.mu.Lock()
	l.released = true
	unclean := l.unclean || l.writing > 0
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.s.timing.release)
	defer cancel()
	for current := l.object; ; {
		next := current.DeepCopy()
		setHolder(next, "", renewedAt(next), l.s.durationOf(next))
		if unclean {
			next.Annotations[annotationUnclean] = "true"
		}
		written, err := l.s.writeLease(ctx, next)
		if err == nil {
			l.s.mu.Lock()
			l.s.seen.See(l.name, written, l.since)
			l.s.mu.Unlock()
			return nil
		}
		doing := fmt.Sprintf("releasing the lease %q", l.name)
		if !apierrors.IsConflict(err) && !missing(err, l.s.leaseRef(l.name)) {
			return l.s.explain(ctx, doing, err)
		}
		if current, err = l.s.readLease(ctx, l.name); err != nil {
			return l.s.explain(ctx, doing, err)
		}
		if current == nil || identityOf(current) != l.identity {
			return nil
		}
	}
}

// holderGone reports whether the holder of a Lease is known to work no longer.
func holderGone(identity string) bool {
	name, mark, _ := strings.Cut(identity, leaseMark)
	if isThisProcess(name) {
		_, held := acquisitions.Load(mark)
		return !held
	}
	return process.Dead(name)
}

func heldError(name string, l *coordinationv1.Lease) *store.HeldError {
	holder, _, _ := strings.Cut(identityOf(l), leaseMark)
	held := &store.HeldError{Name: name, Holder: holder, Since: l.CreationTimestamp.Time}
	if l.Spec.AcquireTime != nil {
		held.Since = l.Spec.AcquireTime.UTC()
	}
	return held
}
