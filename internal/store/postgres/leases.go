package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// releaseTimeout bounds giving a lease back, which does not end with the caller's context. A
// lease that is not released expires.
const releaseTimeout = 5 * time.Second

// lease is a row of the table leases that has its token.
type lease struct {
	s     *pgStore
	name  string
	token int64
	// takenOver is set when the holder before has not given it back.
	takenOver bool
	// since is UnheldSince.
	since time.Time

	*store.Heartbeat
}

// UnheldSince is the time since which no other holder has had the lease.
func (l *lease) UnheldSince() time.Time { return l.since }

// leaseRow is what the table says of a lease, by the server's clock.
type leaseRow struct {
	holder      string
	acquisition uuid.UUID
	token       int64
	// acquired and renewed are in microseconds since 1970, left is how many there are until it expires.
	acquired, renewed, left int64
	// expired says that it is free; tooLong that it ends later than one that is renewed
	// now: it was written before the server's clock was set back, by as much as which it
	// would outlive its holder. released says that its last holder has given it back, or
	// that there was none.
	expired, tooLong, released bool
}

const leaseSQL = `SELECT holder, acquisition, token, (extract(epoch FROM acquired_at) * 1000000)::bigint, (extract(epoch FROM renewed_at) * 1000000)::bigint,
	(extract(epoch FROM least(expires_at - clock_timestamp(), $2::bigint * interval '1 millisecond')) * 1000000)::bigint,
	expires_at <= clock_timestamp(), expires_at > clock_timestamp() + $2::bigint * interval '1 millisecond', expires_at = to_timestamp(0)
	FROM {schema}.leases WHERE name = $1`

func scanLease(row pgx.Row) (l leaseRow, err error) {
	err = row.Scan(&l.holder, &l.acquisition, &l.token, &l.acquired, &l.renewed, &l.left, &l.expired, &l.tooLong, &l.released)
	return l, err
}

// held returns who has the lease and is alive, or nil.
func (l leaseRow) held(name string) *store.HeldError {
	if l.expired || process.Dead(l.holder) {
		return nil
	}
	return &store.HeldError{
		Name: name, Holder: l.holder, Since: time.UnixMicro(l.acquired).UTC(),
		Renewed: time.UnixMicro(l.renewed).UTC(), Expires: time.Now().Add(time.Duration(l.left) * time.Microsecond),
	}
}

// Acquire takes a lease, or returns a *store.HeldError.
func (s *pgStore) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	if name == "" || holder == "" {
		return nil, fmt.Errorf("a lease needs a name and a holder, got name %q and holder %q", name, holder)
	}
	doing := fmt.Sprintf("acquiring the lease %q", name)
	l := &lease{s: s, name: name}
	acquisition := uuid.New()
	expires, err := s.takeFree(ctx, doing, l, holder, acquisition)
	if err != nil {
		return nil, err
	}
	if l.token == 0 {
		held, err := s.heldBefore(ctx, doing, name)
		if err == nil && held == nil {
			err = s.change(ctx, doing, func(tx step) (err error) {
				expires = time.Now().Add(s.timing.lease)
				held, err = s.take(ctx, tx, l, holder, acquisition)
				return err
			})
		}
		if err != nil {
			return nil, err
		}
		if held != nil {
			return nil, held
		}
	}

	l.since = s.unheldSince(l)

	// The lease lives until Release, not until the caller's context ends.
	l.Heartbeat = store.StartHeartbeat(ctx, expires, s.timing.renew, l.renew)
	if !s.leases.Add(l) {
		return nil, errors.Join(s.errClosed(), l.Release(ctx))
	}
	return l, nil
}

// unheldSince is the time since which no other holder has had a lease that was taken: when it was seen free, if none has had it between.
func (s *pgStore) unheldSince(l *lease) time.Time {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	if token, since, ok := s.seen.Take(l.name); ok && l.token == token+1 {
		return since
	}
	return time.Now()
}

// see notes a lease that is free.
func (s *pgStore) see(name string, token int64, since time.Time) {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	s.seen.See(name, token, since)
}

// ReadAhead notes which leases are new.
func (s *pgStore) ReadAhead(_ context.Context, wanted ...store.Wanted) {
	for _, w := range wanted {
		if w.Lease != "" && w.New {
			s.see(w.Lease, 0, time.Time{})
		}
	}
}

// takeFree gives a lease that its last holder has given back, or that nobody ever had, to a holder. It waits for the writes that are under
// the lease. The token of any other lease is 0 afterwards.
func (s *pgStore) takeFree(ctx context.Context, doing string, l *lease, holder string, acquisition uuid.UUID) (expires time.Time, err error) {
	args := []any{l.name, holder, acquisition, s.timing.lease.Milliseconds()}
	scanToken := func(row pgx.Row) error { return row.Scan(&l.token) }
	err = s.write(ctx, doing, store.Fences(ctx), func(unsure bool) []statement {
		expires, l.token = time.Now().Add(s.timing.lease), 0
		all := []statement{{
			sql: `INSERT INTO {schema}.leases (name, token, holder, acquisition, acquired_at, renewed_at, expires_at)
				SELECT $1, 1, $2, $3, t, t, t + $4::bigint * interval '1 millisecond' FROM (SELECT clock_timestamp() AS t) AS clock
				ON CONFLICT DO NOTHING RETURNING token`, args: args, each: scanToken,
		}, {
			sql: `WITH free AS (SELECT name FROM {schema}.leases WHERE name = $1 AND expires_at = to_timestamp(0) FOR UPDATE)
				UPDATE {schema}.leases l SET token = l.token + 1, holder = $2, acquisition = $3,
				acquired_at = clock_timestamp(), renewed_at = clock_timestamp(), expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
				FROM free WHERE l.name = free.name RETURNING l.token`, args: args, each: scanToken,
		}}
		if unsure {
			// An earlier try may have been committed.
			all = append(all, statement{sql: "SELECT token FROM {schema}.leases WHERE name = $1 AND acquisition = $2", args: []any{l.name, acquisition}, each: scanToken})
		}
		return all
	})
	return expires, err
}

// heldBefore returns who has a lease for certain. Who only asks does not lock the row, for
// which the writes of the holder would wait.
func (s *pgStore) heldBefore(ctx context.Context, doing, name string) (held *store.HeldError, err error) {
	err = s.read(ctx, doing, func(pool *pgxpool.Pool) error {
		held = nil
		return s.ask(ctx, pool, statement{sql: leaseSQL, args: []any{name, s.timing.lease.Milliseconds()}, each: func(row pgx.Row) error {
			l, err := scanLease(row)
			if err == nil && !l.tooLong {
				held = l.held(name)
			}
			return err
		}})
	})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return held, err
}

// take gives a lease to a holder, unless somebody has it. It waits for the writes that are under the lease.
func (s *pgStore) take(ctx context.Context, tx step, l *lease, holder string, acquisition uuid.UUID) (*store.HeldError, error) {
	name := l.name
	// Only a row can be locked.
	_, err := tx.Exec(ctx, s.sql(`INSERT INTO {schema}.leases (name, token, holder, acquisition, acquired_at, renewed_at, expires_at)
		VALUES ($1, 0, '', $2, to_timestamp(0), to_timestamp(0), to_timestamp(0)) ON CONFLICT DO NOTHING`), name, uuid.Nil)
	if err != nil {
		return nil, err
	}
	row, err := scanLease(tx.QueryRow(ctx, s.sql(leaseSQL+" FOR UPDATE"), name, s.timing.lease.Milliseconds()))
	if err != nil {
		return nil, err
	}
	if row.acquisition == acquisition {
		// An earlier try was committed, and has noted what it found.
		l.token = row.token
		return nil, nil
	}
	if held := row.held(name); held != nil {
		if row.tooLong {
			// From now on it has the time of any other one, in which a holder that is alive
			// renews it.
			_, err = tx.Exec(ctx, s.sql("UPDATE {schema}.leases SET expires_at = clock_timestamp() + $2::bigint * interval '1 millisecond' WHERE name = $1"), name, s.timing.lease.Milliseconds())
		}
		return held, err
	}
	l.takenOver = !row.released
	err = tx.QueryRow(ctx, s.sql(`UPDATE {schema}.leases SET token = token + 1, holder = $2, acquisition = $3,
		acquired_at = clock_timestamp(), renewed_at = clock_timestamp(), expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
		WHERE name = $1 RETURNING token`), name, holder, acquisition, s.timing.lease.Milliseconds()).Scan(&l.token)
	return nil, err
}

// renew moves the expiry on. taken says that the lease is somebody else's.
func (l *lease) renew(ctx context.Context) (expires time.Time, taken bool, err error) {
	err = l.s.onLease(ctx, fmt.Sprintf("renewing the lease %q", l.name), func(pool *pgxpool.Pool) error {
		expires = time.Now().Add(l.s.timing.lease)
		return l.s.ask(ctx, pool, statement{
			sql:  "UPDATE {schema}.leases SET renewed_at = clock_timestamp(), expires_at = clock_timestamp() + $3::bigint * interval '1 millisecond' WHERE name = $1 AND token = $2",
			args: []any{l.name, l.token, l.s.timing.lease.Milliseconds()},
			affected: func(n int64) error {
				taken = n == 0
				return nil
			},
		})
	})
	return expires, taken, err
}

// onLease does f, a single statement that can be repeated.
func (s *pgStore) onLease(ctx context.Context, doing string, f func(pool *pgxpool.Pool) error) error {
	pool := s.ready.Load()
	if pool == nil {
		return s.errClosed()
	}
	return s.retry(ctx, doing, func() error { return f(pool) })
}

// Fence names this acquisition.
func (l *lease) Fence() store.Fence { return store.Fence{Lease: l.name, Token: l.token} }

// TakenOver reports whether the holder before did not give the lease back.
func (l *lease) TakenOver() bool { return l.takenOver }

// Release gives the lease back, whether ctx has ended or not.
func (l *lease) Release(ctx context.Context) error {
	l.Stop()
	if !l.s.leases.Remove(l) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	err := l.s.onLease(ctx, fmt.Sprintf("releasing the lease %q", l.name), func(pool *pgxpool.Pool) error {
		// The row stays: the next token must be a greater one.
		return l.s.ask(ctx, pool, statement{sql: "UPDATE {schema}.leases SET expires_at = to_timestamp(0) WHERE name = $1 AND token = $2", args: []any{l.name, l.token}})
	})
	if err == nil {
		l.s.see(l.name, l.token, l.since)
	}
	return err
}

// HeldLeases returns who holds a lease and is not known to be dead.
func (s *pgStore) HeldLeases(ctx context.Context) ([]store.HeldError, error) {
	var list []store.HeldError
	err := s.read(ctx, "listing the leases", func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, s.sql(`SELECT name, holder, (extract(epoch FROM acquired_at) * 1000000)::bigint
			FROM {schema}.leases WHERE expires_at > clock_timestamp() ORDER BY name`))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h store.HeldError, err error) {
			var acquired int64
			err = row.Scan(&h.Name, &h.Holder, &acquired)
			h.Since = time.UnixMicro(acquired).UTC()
			return h, err
		})
		return err
	})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return store.Alive(list), err
}
