package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// releaseTimeout bounds giving a lease back, which does not end with the caller's
// context. A lease that is not released expires.
const releaseTimeout = 5 * time.Second

// lease is a row of the table leases that has its token.
type lease struct {
	s     *sqliteStore
	name  string
	token int64
	// takenOver is set when the holder before has not given it back.
	takenOver bool

	*store.Heartbeat
}

// Acquire takes a lease, or returns a *store.HeldError.
func (s *sqliteStore) Acquire(ctx context.Context, name, holder string) (store.Lease, error) {
	if name == "" || holder == "" {
		return nil, fmt.Errorf("a lease needs a name and a holder, got name %q and holder %q", name, holder)
	}
	l := &lease{s: s, name: name}
	var held *store.HeldError
	var expires time.Time
	err := s.change(ctx, fmt.Sprintf("acquiring the lease %q", name), func(tx *sql.Tx) (err error) {
		begun, now := time.Now(), s.clock()
		if held, l.takenOver, err = s.holderOf(ctx, tx, name, now); err != nil || held != nil {
			return err
		}
		expires = begun.Add(s.timing.lease)
		return tx.QueryRowContext(ctx, `INSERT INTO leases (name, token, holder, acquired_at, renewed_at, expires_at) VALUES (?, 1, ?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET token = token + 1, holder = excluded.holder,
				acquired_at = excluded.acquired_at, renewed_at = excluded.renewed_at, expires_at = excluded.expires_at
			RETURNING token`,
			name, holder, now.UnixNano(), now.UnixNano(), now.Add(s.timing.lease).UnixNano()).Scan(&l.token)
	})
	if err != nil {
		return nil, err
	}
	if held != nil {
		return nil, held
	}

	// The lease lives until Release, not until the caller's context ends.
	l.Heartbeat = store.StartHeartbeat(ctx, expires, s.timing.renew, l.renew)
	if !s.leases.Add(l) {
		return nil, errors.Join(s.errClosed(), l.Release(ctx))
	}
	return l, nil
}

// checkFences returns a *vnfm.LeaseLostError when a lease that ctx is under was acquired
// again since.
func checkFences(ctx context.Context, tx *sql.Tx) error {
	for _, f := range store.Fences(ctx) {
		var token int64
		var holder string
		err := tx.QueryRowContext(ctx, "SELECT token, holder FROM leases WHERE name = ?", f.Lease).Scan(&token, &holder)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if token != f.Token {
			return &vnfm.LeaseLostError{Object: f.Lease, Holder: process.Describe(holder)}
		}
	}
	return nil
}

// holderOf returns who has a lease and is alive, or nil, and then whether the last holder has not given it back. A lease that
// ends later than one that is renewed now was written before the clock was set back, by as much as which it would
// outlive its holder: from now on it has the time of any other one, in which a holder that is
// alive renews it.
func (s *sqliteStore) holderOf(ctx context.Context, tx *sql.Tx, name string, now time.Time) (held *store.HeldError, abandoned bool, err error) {
	var acquired, renewed, expires int64
	held = &store.HeldError{Name: name}
	err = tx.QueryRowContext(ctx, "SELECT holder, acquired_at, renewed_at, expires_at FROM leases WHERE name = ?", name).Scan(&held.Holder, &acquired, &renewed, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if expires <= now.UnixNano() || process.Dead(held.Holder) {
		return nil, expires != 0, nil
	}
	longest := now.Add(s.timing.lease).UnixNano()
	held.Since, held.Renewed, held.Expires = time.Unix(0, acquired).UTC(), time.Unix(0, renewed).UTC(), time.Unix(0, min(expires, longest)).UTC()
	if expires > longest {
		_, err = tx.ExecContext(ctx, "UPDATE leases SET expires_at = ? WHERE name = ?", longest, name)
	}
	return held, false, err
}

// renew moves the expiry on. taken says that the lease is somebody else's.
func (l *lease) renew(ctx context.Context) (expires time.Time, taken bool, err error) {
	err = l.s.write(ctx, fmt.Sprintf("renewing the lease %q", l.name), func(db *sql.DB) error {
		now := l.s.clock()
		expires = time.Now().Add(l.s.timing.lease)
		res, err := db.ExecContext(ctx, "UPDATE leases SET renewed_at = ?, expires_at = ? WHERE name = ? AND token = ?",
			now.UnixNano(), now.Add(l.s.timing.lease).UnixNano(), l.name, l.token)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		taken = n == 0 && err == nil
		return err
	})
	return expires, taken, err
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
	return l.s.write(ctx, fmt.Sprintf("releasing the lease %q", l.name), func(db *sql.DB) error {
		// The row stays: the next token must be a greater one.
		_, err := db.ExecContext(ctx, "UPDATE leases SET expires_at = 0 WHERE name = ? AND token = ?", l.name, l.token)
		return err
	})
}
