package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const columns = "kind, id, coalesce(key, ''), owner, revision, data, sealed, created_at, updated_at"

// Get returns a record, or store.ErrNotFound.
func (s *sqliteStore) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	missing := store.NotFound(kind, id)
	db, err := s.database(ctx, false)
	if errors.Is(err, errAbsent) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	var r store.Record
	found := false
	err = s.retry(ctx, fmt.Sprintf("reading %s %q", kind, id), func() error {
		err := scan(db.QueryRowContext(ctx, "SELECT "+columns+" FROM records WHERE kind = ? AND id = ?", kind, id), &r)
		found = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, missing
	}
	return &r, nil
}

// List returns the records that match, in the order of their creation.
func (s *sqliteStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	db, err := s.database(ctx, false)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	where, args := []string{"true"}, []any{}
	for column, value := range map[string]string{"kind": string(q.Kind), "owner": q.Owner, "key": q.Key} {
		if value != "" {
			where, args = append(where, column+" = ?"), append(args, value)
		}
	}
	query := "SELECT " + columns + " FROM records WHERE " + strings.Join(where, " AND ") + " ORDER BY seq" //nolint:gosec // all parts are constants of this file
	var list []store.Record
	err = s.retry(ctx, "listing records", func() error {
		list = nil
		rows, err := db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err below says what went wrong.
		for rows.Next() {
			var r store.Record
			if err := scan(rows, &r); err != nil {
				return err
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	return list, err
}

// Create stores a new record, or returns store.ErrExists.
func (s *sqliteStore) Create(ctx context.Context, r *store.Record) error {
	if r.Kind == "" || r.ID == "" {
		return fmt.Errorf("a record needs a kind and an id, got kind %q and id %q", r.Kind, r.ID)
	}
	now := time.Now().UTC().Round(0)
	err := s.change(ctx, fmt.Sprintf("creating %s %q", r.Kind, r.ID), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO records (kind, id, key, owner, revision, data, sealed, created_at, updated_at)
			VALUES (?, ?, nullif(?, ''), ?, 1, ?, ?, ?, ?)`,
			r.Kind, r.ID, r.Key, r.Owner, present(r.Data), present(r.Sealed), now.UnixNano(), now.UnixNano())
		return err
	})
	if isDuplicate(err) {
		return store.Exists(r)
	}
	if err != nil {
		return err
	}
	r.Revision, r.CreatedAt, r.UpdatedAt = 1, now, now
	return nil
}

// Update replaces a record of the stored revision, or returns store.ErrStale,
// store.ErrNotFound or store.ErrExists.
func (s *sqliteStore) Update(ctx context.Context, r *store.Record) error {
	now := time.Now().UTC().Round(0)
	var created int64
	var updated, found bool
	err := s.change(ctx, fmt.Sprintf("updating %s %q", r.Kind, r.ID), func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT created_at FROM records WHERE kind = ? AND id = ?", r.Kind, r.ID).Scan(&created)
		found = err == nil
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `UPDATE records SET key = nullif(?, ''), owner = ?, revision = revision + 1, data = ?, sealed = ?, updated_at = ?
			WHERE kind = ? AND id = ? AND revision = ?`,
			r.Key, r.Owner, present(r.Data), present(r.Sealed), now.UnixNano(), r.Kind, r.ID, r.Revision)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		updated = n == 1
		return err
	})
	switch {
	case isDuplicate(err):
		return store.Exists(r)
	case err != nil:
		return err
	case !found:
		return store.NotFound(r.Kind, r.ID)
	case !updated:
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, store.ErrStale)
	}
	r.Revision, r.CreatedAt, r.UpdatedAt = r.Revision+1, time.Unix(0, created).UTC(), now
	return nil
}

// Delete removes a record, or returns store.ErrNotFound.
func (s *sqliteStore) Delete(ctx context.Context, kind store.Kind, id string) error {
	var deleted int64
	if _, err := s.database(ctx, false); errors.Is(err, errAbsent) {
		return store.NotFound(kind, id)
	}
	err := s.change(ctx, fmt.Sprintf("deleting %s %q", kind, id), func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM records WHERE kind = ? AND id = ?", kind, id)
		if err != nil {
			return err
		}
		deleted, err = res.RowsAffected()
		return err
	})
	if err == nil && deleted == 0 {
		return store.NotFound(kind, id)
	}
	return err
}

// change does f in a transaction that writes records, when the leases of ctx are still
// the caller's and no newer release has taken over the store.
func (s *sqliteStore) change(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	return s.write(ctx, doing, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // Nothing to undo after the commit, and nothing to add to an error.
		if _, err := checkFormat(ctx, tx); err != nil {
			return err
		}
		if err := checkFences(ctx, tx); err != nil {
			return err
		}
		if err := f(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// write does f, one at a time in this handle, and again while other processes hold
// SQLite's lock.
func (s *sqliteStore) write(ctx context.Context, doing string, f func(db *sql.DB) error) error {
	db, err := s.database(ctx, true)
	if err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return fmt.Errorf("local store %s: %s: %w", s.path, doing, context.Cause(ctx))
	}
	return s.retry(ctx, doing, func() error { return f(db) })
}

func scan(row interface{ Scan(dest ...any) error }, r *store.Record) error {
	var created, updated int64
	if err := row.Scan(&r.Kind, &r.ID, &r.Key, &r.Owner, &r.Revision, &r.Data, &r.Sealed, &created, &updated); err != nil {
		return err
	}
	r.CreatedAt, r.UpdatedAt = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC()
	return nil
}

// present makes an empty blob of nil, which would be NULL.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
