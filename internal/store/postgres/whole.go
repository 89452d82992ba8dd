package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

const (
	// maxWhole is the size in bytes of the records of the largest store that is read as a whole: on a slow network, reading it takes no longer than
	// asking twice.
	maxWhole = 256 << 10
	// maxSeen is how many leases are seen with it; names of leases stay for ever.
	maxSeen = 2000
)

// wholeSQL is one statement, so that all of it is of one moment: how large the store is, its leases unless there are too many, and its
// records unless they are too large.
const wholeSQL = `WITH size AS (SELECT coalesce(sum(octet_length(data) + octet_length(sealed)), 0) AS bytes FROM {schema}.records),
	counted AS (SELECT count(*) AS n FROM {schema}.leases)
	SELECT part, kind, id, coalesce(key, ''), owner, revision, data, sealed, created_at, updated_at FROM (
		SELECT 0 AS part, 0 AS seq, '' AS kind, '' AS id, '' AS key, '' AS owner, bytes::bigint AS revision, ''::bytea AS data, ''::bytea AS sealed,
			n AS created_at, 0::bigint AS updated_at FROM size, counted
		UNION ALL SELECT 1, 0, '', name, '', '', token, '', '', CASE WHEN expires_at = to_timestamp(0) THEN 1 ELSE 0 END, 0
			FROM {schema}.leases, counted WHERE n <= $2
		UNION ALL SELECT 2, seq, kind, id, key, owner, revision, data, sealed, created_at, updated_at
			FROM {schema}.records, size WHERE bytes <= $1
	) AS whole ORDER BY part, seq`

// ReadWhole returns all that a small store holds, and sees which leases are free, in one round trip.
func (s *pgStore) ReadWhole(ctx context.Context, _ bool) (*store.Whole, error) {
	var whole *store.Whole
	var leases, seen int64
	var at time.Time
	var free map[string]int64
	var others map[string]bool
	err := s.read(ctx, "reading all records", func(pool *pgxpool.Pool) error {
		whole, seen, free, others, at = nil, 0, map[string]int64{}, map[string]bool{}, time.Now()
		return s.ask(ctx, pool, statement{sql: wholeSQL, args: []any{int64(maxWhole), int64(maxSeen)}, each: func(row pgx.Row) error {
			var r store.Record
			part, created, err := scanPart(row, &r)
			switch {
			case err != nil:
				return err
			case part == 0:
				if leases = created; r.Revision <= maxWhole {
					whole = &store.Whole{At: at, Leases: true}
				}
			case part == 1:
				if seen++; created == 1 {
					free[r.ID] = r.Revision
				} else {
					others[r.ID] = true
				}
			default:
				whole.Records = append(whole.Records, r)
			}
			return nil
		}})
	})
	if errors.Is(err, errAbsent) {
		whole, leases, err = &store.Whole{At: at, Leases: true}, seen, nil
	}
	if err != nil {
		return nil, err
	}
	if leases == seen {
		s.seenMu.Lock()
		defer s.seenMu.Unlock()
		// Before the records: they are of the same moment.
		s.seen.SeeAll(free, others, at.Add(-1))
	}
	return whole, nil
}

// scanPart reads a row of wholeSQL, and what it has as the time of creation.
func scanPart(row pgx.Row, r *store.Record) (part int, created int64, err error) {
	var kind string
	var updated int64
	if err := row.Scan(&part, &kind, &r.ID, &r.Key, &r.Owner, &r.Revision, &r.Data, &r.Sealed, &created, &updated); err != nil {
		return 0, 0, err
	}
	r.Kind, r.CreatedAt, r.UpdatedAt = store.Kind(kind), nanos(created), nanos(updated)
	return part, created, nil
}
