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

// format is the format that this release reads and writes: the tables, and the data in the
// records, as in package sqlite. Every format has the table schema_version with the columns
// version and release.
const format = 1

const schemaSQL = `
CREATE TABLE {schema}.schema_version (
	version integer NOT NULL,
	release text    NOT NULL -- of the provider that created the tables
);
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
ALTER TABLE {schema}.chunks ALTER COLUMN data SET STORAGE EXTERNAL`

// sql is a statement on the tables of the store: {schema} is their schema.
func (s *pgStore) sql(statement string) string {
	return strings.ReplaceAll(statement, "{schema}", pgx.Identifier{s.schema}.Sanitize())
}

var (
	errNewerFormat = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("holds tables of another application")
)

// tables is the state of a schema when it was last read.
type tables struct {
	// present is set when the tables exist, schema when at least the schema does.
	present, schema bool
}

// readTables reads the state of the schema. Tables of a newer format, or of another application, are an error.
func (s *pgStore) readTables(ctx context.Context, pool *pgxpool.Pool) (seen tables, err error) {
	var ours, others, schemas int
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return exchange(ctx, conn.Conn(), statement{
			sql: tablesSQL, args: []any{s.schema}, row: func(row pgx.Row) error { return row.Scan(&ours, &others, &schemas) },
		}, statement{sql: s.sql(formatSQL), row: scanFormat})
	})
	seen.schema = schemas > 0
	switch c := code(err); {
	case c == codeUndefinedTable && others == 0:
		return seen, nil
	case c == codeUndefinedColumn, errors.Is(err, pgx.ErrNoRows), c == codeUndefinedTable && ours == 0:
		return seen, errForeign
	}
	seen.present = err == nil
	return seen, err
}

// tablesSQL counts the tables of the schema, first those that say which format it has, and the schemas of its name.
const tablesSQL = `SELECT count(*) FILTER (WHERE c.relname = 'schema_version'), count(*),
	(SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1)
	FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')`

const formatSQL = "SELECT version, release FROM {schema}.schema_version"

// scanFormat checks a row of formatSQL.
func scanFormat(row pgx.Row) error {
	var version int
	var release string
	if err := row.Scan(&version, &release); err != nil {
		return err
	}
	return checkFormat(version, release)
}

// checkFormat refuses a newer format.
func checkFormat(version int, release string) error {
	if version > format {
		return fmt.Errorf("format %d was %w (%s), this one knows formats up to %d", version, errNewerFormat, release, format)
	}
	return nil
}

// createTables creates the tables in one round trip. If another process was faster, it reads the state of the schema again. It can be
// repeated.
func (s *pgStore) createTables(ctx context.Context, pool *pgxpool.Pool, seen *tables) error {
	err := pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		_, err := conn.Conn().PgConn().Exec(ctx, s.creation(*seen)).ReadAll()
		if code(err) != "" {
			// The transaction has failed: without its end, the connection would be closed.
			_ = exchange(ctx, conn.Conn(), statement{sql: "ROLLBACK"})
		}
		return err
	})
	if code(err) == "" {
		return err
	}
	before := *seen
	now, readErr := s.readTables(ctx, pool)
	switch {
	case readErr != nil:
		return readErr
	case now.present:
		return nil
	case now != before:
		*seen = now
		return errOvertaken
	default:
		return err
	}
}

// creation is the transaction that creates the tables, and the schema if it is missing. It fails where tables exist.
func (s *pgStore) creation(seen tables) string {
	release := "'" + strings.ReplaceAll(s.release, "'", "''") + "'"
	// One process at a time; the lock ends with the transaction.
	all := []string{s.beginSQL(), fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey(s.schema))}
	// An administrator may have created the schema, without the right to create others.
	if !seen.schema {
		all = append(all, s.sql("CREATE SCHEMA {schema}"))
	}
	all = append(all, s.sql(schemaSQL), s.sql(fmt.Sprintf("INSERT INTO {schema}.schema_version VALUES (%d, %s)", format, release)), "COMMIT")
	return strings.Join(all, ";\n")
}

// lockKey is the number of the advisory lock of a schema.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("terraform-provider-vnf store " + schema))
	return int64(h.Sum64()) //nolint:gosec // Any number does.
}
