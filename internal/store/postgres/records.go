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
		r.Revision = 0
		return s.ask(ctx, pool, statement{
			sql: "SELECT " + columns + " FROM {schema}.records WHERE kind = $1 AND id = $2", args: []any{string(kind), id},
			each: func(row pgx.Row) error { return scan(row, &r) },
		})
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
	query := "SELECT " + columns + " FROM {schema}.records WHERE " + strings.Join(where, " AND ") + " ORDER BY seq"
	var list []store.Record
	err := s.read(ctx, "listing records", func(pool *pgxpool.Pool) error {
		list = nil
		return s.ask(ctx, pool, statement{sql: query, args: args, each: func(row pgx.Row) error {
			var r store.Record
			err := scan(row, &r)
			list = append(list, r)
			return err
		}})
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
	var made bool
	scanCreated := func(row pgx.Row) error {
		made = true
		return row.Scan(&created)
	}
	err := s.write(ctx, fmt.Sprintf("creating %s %q", r.Kind, r.ID), store.Fences(ctx), func(unsure bool) []statement {
		made = false
		// The conflict waits for the end of a transaction that has the same in progress.
		all := []statement{{sql: `INSERT INTO {schema}.records (kind, id, key, owner, revision, data, sealed, created_at, updated_at, write_id)
			SELECT $1::text, $2::text, nullif($3::text, ''), $4::text, 1, $5::bytea, $6::bytea, t, t, $7::uuid FROM (SELECT ` + nowNanos + ` AS t) AS clock
			ON CONFLICT DO NOTHING RETURNING created_at`,
			args: []any{string(r.Kind), r.ID, r.Key, r.Owner, r.Data, r.Sealed, write}, each: scanCreated}}
		if unsure {
			all = append(all, statement{
				sql:  "SELECT created_at FROM {schema}.records WHERE kind = $1 AND id = $2 AND write_id = $3",
				args: []any{string(r.Kind), r.ID, write}, each: scanCreated,
			})
		}
		return all
	})
	if err != nil {
		return err
	}
	if !made {
		return store.Exists(r)
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
	var there, mine bool
	err := s.write(ctx, fmt.Sprintf("updating %s %q", r.Kind, r.ID), store.Fences(ctx), func(bool) []statement {
		there, mine = false, false
		return []statement{{
			sql: `UPDATE {schema}.records SET key = nullif($4, ''), owner = $5, revision = revision + 1, data = $6, sealed = $7,
				updated_at = ` + nowNanos + `, write_id = $8 WHERE kind = $1 AND id = $2 AND revision = $3`,
			args: []any{string(r.Kind), r.ID, r.Revision, r.Key, r.Owner, r.Data, r.Sealed, write},
		}, {
			// Written by this try, by an earlier one, or by others.
			sql: "SELECT created_at, updated_at, write_id = $3 FROM {schema}.records WHERE kind = $1 AND id = $2", args: []any{string(r.Kind), r.ID, write},
			each: func(row pgx.Row) error {
				there = true
				return row.Scan(&created, &updated, &mine)
			},
		}}
	})
	switch {
	case isDuplicate(err):
		return store.Exists(r)
	case err != nil:
		return err
	case !there:
		return store.NotFound(r.Kind, r.ID)
	case !mine:
		return fmt.Errorf("%s %q: %w", r.Kind, r.ID, store.ErrStale)
	}
	r.Revision, r.CreatedAt, r.UpdatedAt = r.Revision+1, nanos(created), nanos(updated)
	return nil
}

// Delete removes a record, or returns store.ErrNotFound.
func (s *pgStore) Delete(ctx context.Context, kind store.Kind, id string) error {
	if _, err := s.database(ctx, false); errors.Is(err, errAbsent) {
		return store.NotFound(kind, id)
	}
	gone := true
	err := s.write(ctx, fmt.Sprintf("deleting %s %q", kind, id), store.Fences(ctx), func(unsure bool) []statement {
		return []statement{{
			sql: "DELETE FROM {schema}.records WHERE kind = $1 AND id = $2", args: []any{string(kind), id},
			affected: func(n int64) error {
				gone = n > 0 || unsure
				return nil
			},
		}}
	})
	if err == nil && !gone {
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
