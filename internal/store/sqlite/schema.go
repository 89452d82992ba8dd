package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// migrations returns the statements that make schema version i+1 out of version i.
// They are never changed after a release; a change of the schema is a new one.
func migrations() []string {
	return []string{`
CREATE TABLE records (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	kind       TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	key        TEXT,
	owner      TEXT    NOT NULL,
	revision   INTEGER NOT NULL,
	data       BLOB    NOT NULL,
	sealed     BLOB    NOT NULL,
	created_at INTEGER NOT NULL, -- nanoseconds since 1970
	updated_at INTEGER NOT NULL,
	UNIQUE (kind, id),
	UNIQUE (kind, key)
) STRICT;
CREATE INDEX records_by_owner ON records (kind, owner);
CREATE TABLE leases (
	name       TEXT    PRIMARY KEY,
	token      TEXT    NOT NULL, -- tells two acquisitions of one holder apart
	holder     TEXT    NOT NULL,
	acquired_at INTEGER NOT NULL,
	renewed_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`, `
CREATE TABLE fenced (
	name       TEXT    PRIMARY KEY,
	token      INTEGER NOT NULL, -- rises with every acquisition; rows stay for that
	holder     TEXT    NOT NULL,
	acquired_at INTEGER NOT NULL,
	renewed_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Who holds a lease by its former token loses it at the next renewal.
INSERT INTO fenced SELECT name, 1, holder, acquired_at, renewed_at, expires_at FROM leases;
DROP TABLE leases;
ALTER TABLE fenced RENAME TO leases;
`}
}

var (
	errNewerSchema = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("the database of another application")
)

// migrate brings the schema of db to the version after the last of steps.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	version, err := formatVersion(ctx, db, len(steps))
	if err != nil {
		return err
	}
	if version == len(steps) {
		return nil
	}
	if version == 0 {
		// The mode is kept in the file. It cannot be changed in a transaction.
		if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // Nothing to undo after the commit, and nothing to add to an error.

	// Another process may have done it meanwhile.
	if version, err = formatVersion(ctx, tx, len(steps)); err != nil {
		return err
	}
	if version == 0 {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT; INSERT INTO schema_version VALUES (0)"); err != nil {
			return err
		}
	}
	for ; version < len(steps); version++ {
		if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("schema version %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE schema_version SET version = ?", version); err != nil {
		return err
	}
	return tx.Commit()
}

// formatVersion returns 0 for an empty database, and an error for a version above
// newest.
func formatVersion(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, newest int,
) (int, error) {
	var ours, tables int
	err := q.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE name = 'schema_version'), count(*) FROM sqlite_schema").Scan(&ours, &tables)
	switch {
	case err != nil:
		return 0, err
	case tables == 0:
		return 0, nil
	case ours == 0:
		return 0, errForeign
	}
	var version int
	if err := q.QueryRowContext(ctx, "SELECT version FROM schema_version").Scan(&version); err != nil {
		return 0, err
	}
	if version > newest {
		return 0, fmt.Errorf("schema version %d, this release knows up to %d: %w", version, newest, errNewerSchema)
	}
	return version, nil
}
