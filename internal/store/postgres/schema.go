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

// tables are those of a schema, as they were seen.
type tables struct {
	// version is their format, 0 for none. schema says that there is the schema.
	version int
	schema  bool
}

// formatNow looks at the tables. A version above newest is an error, and so are the tables of others.
func (s *pgStore) formatNow(ctx context.Context, pool *pgxpool.Pool, newest int) (seen tables, err error) {
	var ours, others, schemas int
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return exchange(ctx, conn.Conn(), statement{
			sql: tablesSQL, args: []any{s.schema}, row: func(row pgx.Row) error { return row.Scan(&ours, &others, &schemas) },
		}, statement{sql: s.sql(formatSQL), row: func(row pgx.Row) error {
			var release string
			if err := row.Scan(&seen.version, &release); err != nil {
				return err
			}
			return checkFormat(seen.version, newest, release)
		}})
	})
	seen.schema = schemas > 0
	switch c := code(err); {
	case c == codeUndefinedTable && others == 0:
		return tables{schema: seen.schema}, nil
	case c == codeUndefinedColumn, errors.Is(err, pgx.ErrNoRows), c == codeUndefinedTable && ours == 0:
		return seen, errForeign
	default:
		return seen, err
	}
}

// tablesSQL counts the tables of the schema, first those that say which format it has, and the schemas of its name.
const tablesSQL = `SELECT count(*) FILTER (WHERE c.relname = 'schema_version'), count(*),
	(SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1)
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

// migrate brings the tables to the format after the last of steps, and notes that this release did it: all of that is one round trip, for
// tables as they were seen. When another process was faster, they are looked at again. It can be repeated.
func (s *pgStore) migrate(ctx context.Context, pool *pgxpool.Pool, seen *tables, steps []string) error {
	err := pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		_, err := conn.Conn().PgConn().Exec(ctx, s.migration(*seen, steps)).ReadAll()
		if code(err) != "" {
			// The transaction has failed: without its end, the connection would be closed.
			_ = exchange(ctx, conn.Conn(), statement{sql: "ROLLBACK"})
		}
		return err
	})
	if code(err) == "" {
		return err
	}
	// They may have been seen a while ago.
	before := *seen
	now, lookErr := s.formatNow(ctx, pool, len(steps))
	switch {
	case lookErr != nil:
		return lookErr
	case now.version == len(steps):
		return nil
	case now != before:
		*seen = now
		return errOvertaken
	default:
		return fmt.Errorf("format %d: %w", len(steps), err)
	}
}

// migration is the transaction that leads from tables as they were seen to the format after the last of steps. It fails where they are others.
func (s *pgStore) migration(seen tables, steps []string) string {
	release := "'" + strings.ReplaceAll(s.release, "'", "''") + "'"
	// One process at a time; the lock ends with the transaction.
	all := []string{s.beginSQL(), fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey(s.schema))}
	if seen.version > 0 {
		all = append(all, s.sql(fmt.Sprintf("SELECT 1 / CASE WHEN version = %d THEN 1 ELSE 0 END FROM {schema}.schema_version", seen.version)))
	}
	// An administrator may have made the schema, and have given no right to make one.
	if !seen.schema {
		all = append(all, s.sql("CREATE SCHEMA {schema}"))
	}
	if seen.version == 0 {
		all = append(all, s.sql("CREATE TABLE {schema}.schema_version (version integer NOT NULL, release text NOT NULL); INSERT INTO {schema}.schema_version VALUES (0, '')"))
	}
	all = append(all, steps[seen.version:]...)
	all = append(all, s.sql(fmt.Sprintf("UPDATE {schema}.schema_version SET version = %d, release = %s", len(steps), release)), "COMMIT")
	return strings.Join(all, ";\n")
}

// lockKey is the number of the advisory lock of a schema.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("terraform-provider-vnf store " + schema))
	return int64(h.Sum64()) //nolint:gosec // Any number does.
}
