package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const columns = "kind, id, coalesce(key, ''), owner, revision, data, sealed, created_at, updated_at"

// Get returns a record, or store.ErrNotFound.
func (s *pgStore) Get(ctx context.Context, kind store.Kind, id string) (*store.Record, error) {
	var r store.Record
	err := s.read(ctx, fmt.Sprintf("reading %s %q", kind, id), func(pool *pgxpool.Pool) error {
		err := scan(pool.QueryRow(ctx, s.sql("SELECT "+columns+" FROM {schema}.records WHERE kind = $1 AND id = $2"), string(kind), id), &r)
		if errors.Is(err, pgx.ErrNoRows) {
			r.Revision = 0
			return nil
		}
		return err
	})
	if errors.Is(err, errAbsent) || err == nil && r.Revision == 0 {
		return nil, store.NotFound(kind, id)
	}
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// List returns the records that match, in the order of their creation.
func (s *pgStore) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	where, args := []string{"true"}, []any{}
	for _, c := range []struct{ column, value string }{{"kind", string(q.Kind)}, {"owner", q.Owner}, {"key", q.Key}} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, fmt.Sprintf("%s = $%d", c.column, len(args)))
		}
	}
	query := s.sql("SELECT " + columns + " FROM {schema}.records WHERE " + strings.Join(where, " AND ") + " ORDER BY seq")
	var list []store.Record
	err := s.read(ctx, "listing records", func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r store.Record, err error) {
			err = scan(row, &r)
			return r, err
		})
		return err
	})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return list, err
}

// Create stores a new record, or returns store.ErrExists.
func (s *pgStore) Create(ctx context.Context, r *store.Record) error {
	if r.Kind == "" || r.ID == "" {
		return fmt.Errorf("a record needs a kind and an id, got kind %q and id %q", r.Kind, r.ID)
	}
	write := uuid.New()
	var created int64
	err := s.change(ctx, fmt.Sprintf("creating %s %q", r.Kind, r.ID), func(tx step) error {
		// The conflict waits for the end of a transaction that has the same in progress.
		err := tx.QueryRow(ctx, s.sql(`INSERT INTO {schema}.records (kind, id, key, owner, revision, data, sealed, created_at, updated_at, write_id)
			SELECT $1::text, $2::text, nullif($3::text, ''), $4::text, 1, $5::bytea, $6::bytea, t, t, $7::uuid FROM (SELECT `+nowNanos+` AS t) AS clock
			ON CONFLICT DO NOTHING RETURNING created_at`),
			string(r.Kind), r.ID, r.Key, r.Owner, present(r.Data), present(r.Sealed), write).Scan(&created)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if tx.unsure {
			err := tx.QueryRow(ctx, s.sql("SELECT created_at FROM {schema}.records WHERE kind = $1 AND id = $2 AND write_id = $3"), string(r.Kind), r.ID, write).Scan(&created)
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		return store.ErrExists
	})
	if errors.Is(err, store.ErrExists) {
		return store.Exists(r)
	}
	if err != nil {
		return err
	}
	r.Revision, r.CreatedAt, r.UpdatedAt = 1, nanos(created), nanos(created)
	return nil
}

// Update replaces a record whose Revision is the stored one.
func (s *pgStore) Update(ctx context.Context, r *store.Record) error {
	write := uuid.New()
	var created, updated int64
	if _, err := s.database(ctx, false); errors.Is(err, errAbsent) {
		return store.NotFound(r.Kind, r.ID)
	}
	err := s.change(ctx, fmt.Sprintf("updating %s %q", r.Kind, r.ID), func(tx step) error {
		err := tx.QueryRow(ctx, s.sql(`UPDATE {schema}.records SET key = nullif($4, ''), owner = $5, revision = revision + 1, data = $6, sealed = $7,
			updated_at = `+nowNanos+`, write_id = $8
			WHERE kind = $1 AND id = $2 AND revision = $3 RETURNING created_at, updated_at`),
			string(r.Kind), r.ID, r.Revision, r.Key, r.Owner, present(r.Data), present(r.Sealed), write).Scan(&created, &updated)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		var mine bool
		err = tx.QueryRow(ctx, s.sql("SELECT created_at, updated_at, write_id = $3 FROM {schema}.records WHERE kind = $1 AND id = $2"), string(r.Kind), r.ID, write).
			Scan(&created, &updated, &mine)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return store.ErrNotFound
		case err == nil && !mine:
			return store.ErrStale
		default:
			return err
		}
	})
	switch {
	case isDuplicate(err):
		return store.Exists(r)
	case errors.Is(err, store.ErrNotFound):
		return store.NotFound(r.Kind, r.ID)
	case errors.Is(err, store.ErrStale):
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, store.ErrStale)
	case err != nil:
		return err
	}
	r.Revision, r.CreatedAt, r.UpdatedAt = r.Revision+1, nanos(created), nanos(updated)
	return nil
}

// Delete removes a record, or returns store.ErrNotFound.
func (s *pgStore) Delete(ctx context.Context, kind store.Kind, id string) error {
	if _, err := s.database(ctx, false); errors.Is(err, errAbsent) {
		return store.NotFound(kind, id)
	}
	err := s.change(ctx, fmt.Sprintf("deleting %s %q", kind, id), func(tx step) error {
		tag, err := tx.Exec(ctx, s.sql("DELETE FROM {schema}.records WHERE kind = $1 AND id = $2"), string(kind), id)
		if err == nil && tag.RowsAffected() == 0 && !tx.unsure {
			return store.ErrNotFound
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return store.NotFound(kind, id)
	}
	return err
}

func scan(row pgx.Row, r *store.Record) error {
	var kind string
	var created, updated int64
	if err := row.Scan(&kind, &r.ID, &r.Key, &r.Owner, &r.Revision, &r.Data, &r.Sealed, &created, &updated); err != nil {
		return err
	}
	r.Kind, r.CreatedAt, r.UpdatedAt = store.Kind(kind), nanos(created), nanos(updated)
	return nil
}

func nanos(t int64) time.Time { return time.Unix(0, t).UTC() }

// present makes an empty value of nil, which would be NULL.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
