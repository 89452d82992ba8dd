package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/durable"
)

// migrations returns the statements that make format i+1 of the store out of format i.
// They are never changed after a release; a change is a new one.
//
// The format is that of the tables and of the data in the records. A release whose
// records have a field more, or one of another meaning, has a new format, with a step that
// may be a mere comment: an earlier release would drop what it does not know when it writes
// a record. It refuses the store instead, and each write when the store was open already.
//
// Every format from 2 on has the table schema_version with the columns version and release,
// by which earlier releases say who has written it.
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
ALTER TABLE schema_version ADD COLUMN release TEXT NOT NULL DEFAULT '';
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
	errNewerFormat = errors.New("written by a newer release of the provider")
	errForeign     = errors.New("the database of another application")
)

// migrate brings the format of db, the file at path, to the version after the last of
// steps, and notes that this release did it. A backup of the former format is kept beside it.
func migrate(ctx context.Context, db *sql.DB, path string, steps []string, release string) error {
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
	if version, err = formatVersion(ctx, tx, len(steps)); err != nil || version == len(steps) {
		return err
	}
	if version == 0 {
		if _, err := tx.ExecContext(ctx, "CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT; INSERT INTO schema_version VALUES (0)"); err != nil {
			return err
		}
	} else if err := backUp(ctx, db, path, version); err != nil {
		return fmt.Errorf("backing it up before format %d becomes %d: %w", version, len(steps), err)
	}
	for ; version < len(steps); version++ {
		if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
			return fmt.Errorf("format %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE schema_version SET version = ?, release = ?", version, release); err != nil {
		return err
	}
	return tx.Commit()
}

// backupPath is where the database is kept as it was in an earlier format.
func backupPath(path string, version int) string {
	return fmt.Sprintf("%s.format-%d.backup", path, version)
}

// backUp copies the database, which the caller keeps others from writing. It appears under its
// name when it is complete and on the disk.
func backUp(ctx context.Context, db *sql.DB, path string, version int) (err error) {
	// CreateTemp makes files of mode 0600; SQLite writes into an empty file.
	f, err := os.CreateTemp(filepath.Dir(path), ".backup-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), removeFile(f.Name())) }()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", f.Name()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), backupPath(path, version)); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
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
	if version <= newest {
		return version, nil
	}
	var release string
	if err := q.QueryRowContext(ctx, "SELECT release FROM schema_version").Scan(&release); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("format %d was %w (%s), this one knows formats up to %d", version, errNewerFormat, release, newest)
}
