package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// nowNanos is the server's time in nanoseconds since 1970, as records have it: a time that
// another store has given must survive a copy to the last digit.
const nowNanos = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

// migrations returns the statements that make format i+1 of the store out of format i. They
// are never changed after a release; a change is a new one.
//
// The format is that of the tables and of the data in the records, as in package sqlite: a
// release whose records have a field more, or one of another meaning, has a new format, and
// an earlier release refuses the store. Every format has the table schema_version with the
// columns version and release.
func migrations(schema string) []string {
	steps := []string{`
CREATE TABLE {schema}.records (
	seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind       text COLLATE "C" NOT NULL,
	id         text COLLATE "C" NOT NULL,
	key        text COLLATE "C",
	owner      text COLLATE "C" NOT NULL,
	revision   bigint NOT NULL,
	data       bytea NOT NULL,
	sealed     bytea NOT NULL,
	created_at bigint NOT NULL, -- nanoseconds since 1970
	updated_at bigint NOT NULL,
	write_id   uuid NOT NULL,   -- tells the writer of a lost connection what became of its write
	UNIQUE (kind, id),
	UNIQUE (kind, key)
);
CREATE INDEX records_by_owner ON {schema}.records (kind, owner);

CREATE TABLE {schema}.leases (
	name        text COLLATE "C" PRIMARY KEY,
	token       bigint NOT NULL, -- rises with every acquisition; rows stay for that
	holder      text NOT NULL,
	acquisition uuid NOT NULL,   -- what write_id is for records
	acquired_at timestamptz NOT NULL,
	renewed_at  timestamptz NOT NULL,
	expires_at  timestamptz NOT NULL
);

CREATE TABLE {schema}.contents (
	generation bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	digest     text COLLATE "C" NOT NULL,
	state      text NOT NULL CHECK (state IN ('writing', 'current', 'replaced')),
	since      timestamptz NOT NULL, -- when the state began
	size       bigint NOT NULL,
	chunks     integer NOT NULL
);
CREATE UNIQUE INDEX contents_current ON {schema}.contents (digest) WHERE state = 'current';
CREATE INDEX contents_passing ON {schema}.contents (since) WHERE state <> 'current';
CREATE TABLE {schema}.chunks (
	generation bigint NOT NULL REFERENCES {schema}.contents ON DELETE CASCADE,
	n          integer NOT NULL,
	data       bytea NOT NULL,
	PRIMARY KEY (generation, n)
);
-- Sealed contents cannot be compressed.
ALTER TABLE {schema}.chunks ALTER COLUMN data SET STORAGE EXTERNAL;
`}
	for i := range steps {
		steps[i] = inSchema(schema, steps[i])
	}
	return steps
}

// inSchema puts the quoted name of the schema into a statement.
func inSchema(schema, statement string) string {
	return strings.ReplaceAll(statement, "{schema}", pgx.Identifier{schema}.Sanitize())
}

// sql is a statement on the tables of the store: {schema} is their schema.
func (s *pgStore) sql(statement string) string { return inSchema(s.schema, statement) }

var (
	errNewerFormat = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("holds tables of another application")
)

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// formatVersion returns 0 for a schema that is missing or empty, and an error for a version
// above newest.
func (s *pgStore) formatVersion(ctx context.Context, q querier, newest int) (int, error) {
	var ours, others int
	err := q.QueryRow(ctx, tablesSQL, s.schema).Scan(&ours, &others)
	switch {
	case err != nil:
		return 0, err
	case others == 0:
		return 0, nil
	case ours == 0:
		return 0, errForeign
	}
	var version int
	var release string
	err = q.QueryRow(ctx, s.sql(formatSQL)).Scan(&version, &release)
	if code(err) == codeUndefinedColumn || errors.Is(err, pgx.ErrNoRows) {
		return 0, errForeign
	}
	if err != nil {
		return 0, err
	}
	return version, checkFormat(version, newest, release)
}

// formatNow is formatVersion for a pool, in one round trip.
func (s *pgStore) formatNow(ctx context.Context, pool *pgxpool.Pool, newest int) (version int, err error) {
	var ours, others int
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return exchange(ctx, conn.Conn(), statement{
			sql: tablesSQL, args: []any{s.schema}, row: func(row pgx.Row) error { return row.Scan(&ours, &others) },
		}, statement{sql: s.sql(formatSQL), row: func(row pgx.Row) error {
			var release string
			if err := row.Scan(&version, &release); err != nil {
				return err
			}
			return checkFormat(version, newest, release)
		}})
	})
	switch c := code(err); {
	case c == codeUndefinedTable && others == 0:
		return 0, nil
	case c == codeUndefinedColumn, errors.Is(err, pgx.ErrNoRows), c == codeUndefinedTable && ours == 0:
		return 0, errForeign
	default:
		return version, err
	}
}

// tablesSQL counts the tables of the schema, first those that say which format it has.
const tablesSQL = `SELECT count(*) FILTER (WHERE c.relname = 'schema_version'), count(*)
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')`

const formatSQL = "SELECT version, release FROM {schema}.schema_version"

// checkFormat refuses a format above the newest that this release knows.
func checkFormat(version, newest int, release string) error {
	if version > newest {
		return fmt.Errorf("format %d was %w (%s), this one knows formats up to %d", version, errNewerFormat, release, newest)
	}
	return nil
}

// migrate brings the tables to the format after the last of steps, and notes that this
// release did it. It can be repeated.
func (s *pgStore) migrate(ctx context.Context, pool *pgxpool.Pool, steps []string) error {
	tx, err := s.begin(ctx, pool)
	if err != nil {
		return err
	}
	defer rollback(ctx, tx)
	// One process at a time; the lock ends with the transaction.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey(s.schema)); err != nil {
		return err
	}
	version, err := s.formatVersion(ctx, tx, len(steps))
	if err != nil || version == len(steps) {
		return err
	}
	if version == 0 {
		if err := s.makeSchema(ctx, tx); err != nil {
			return err
		}
	}
	for ; version < len(steps); version++ {
		if _, err := tx.Exec(ctx, steps[version]); err != nil {
			return fmt.Errorf("format %d: %w", version+1, err)
		}
	}
	if _, err := tx.Exec(ctx, s.sql("UPDATE {schema}.schema_version SET version = $1, release = $2"), version, s.release); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// makeSchema makes the schema, which an administrator may have done, and the table of the
// format.
func (s *pgStore) makeSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT count(*) > 0 FROM pg_catalog.pg_namespace WHERE nspname = $1", s.schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, s.sql("CREATE SCHEMA {schema}")); err != nil {
			return fmt.Errorf("making the schema: %w", err)
		}
	}
	_, err := tx.Exec(ctx, s.sql("CREATE TABLE {schema}.schema_version (version integer NOT NULL, release text NOT NULL); INSERT INTO {schema}.schema_version VALUES (0, '')"))
	return err
}

// lockKey is the number of the advisory lock of a schema.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("terraform-provider-vnf store " + schema))
	return int64(h.Sum64()) //nolint:gosec // Any number does.
}
