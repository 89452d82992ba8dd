package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// format is the format that this release reads and writes: the tables, and the data in the
// records. A release whose records have a field more, or one of another meaning, has a new
// format: an earlier one would drop unknown fields when it writes a record. It refuses the
// store instead, and each write when the store was open already.
//
// Every format has the table schema_version with the columns version and release.
const format = 1

const schema = `
CREATE TABLE schema_version (
	version INTEGER NOT NULL,
	release TEXT    NOT NULL -- of the provider that created the tables
) STRICT;
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
	token      INTEGER NOT NULL, -- rises with every acquisition; rows stay for that
	holder     TEXT    NOT NULL,
	acquired_at INTEGER NOT NULL,
	renewed_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

var (
	errNewerFormat = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("the database of another application")
)

// createTables creates the tables of an empty database. Tables of a newer format, or of another
// application, are an error.
func createTables(ctx context.Context, db *sql.DB, release string) error {
	if empty, err := checkFormat(ctx, db); err != nil || !empty {
		return err
	}
	// The mode is kept in the file. It cannot be changed in a transaction.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // Nothing to undo after the commit, and nothing to add to an error.

	// Another process may have created them since.
	if empty, err := checkFormat(ctx, tx); err != nil || !empty {
		return err
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO schema_version VALUES (?, ?)", format, release); err != nil {
		return err
	}
	return tx.Commit()
}

// checkFormat returns an error for a database of a newer format or of another application, and
// reports whether the database is empty.
func checkFormat(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (empty bool, err error) {
	var ours, tables int
	err = q.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE name = 'schema_version'), count(*) FROM sqlite_schema").Scan(&ours, &tables)
	switch {
	case err != nil:
		return false, err
	case tables == 0:
		return true, nil
	case ours == 0:
		return false, errForeign
	}
	var version int
	var release string
	if err := q.QueryRowContext(ctx, "SELECT version, release FROM schema_version").Scan(&version, &release); err != nil {
		return false, err
	}
	if version > format {
		return false, fmt.Errorf("format %d was %w (%s), this one knows formats up to %d", version, errNewerFormat, release, format)
	}
	return false, nil
}
