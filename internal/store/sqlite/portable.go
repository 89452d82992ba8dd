package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Contents returns the digests of all contents in ascending order.
func (s *sqliteStore) Contents(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	const doing = "listing the contents"
	folders, err := os.ReadDir(filepath.Join(s.dir, "blobs", "sha256"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explain(doing, err)
	}
	var digests []string
	for _, folder := range folders {
		files, err := os.ReadDir(filepath.Join(s.dir, "blobs", "sha256", folder.Name()))
		if err != nil {
			return nil, s.explain(doing, err)
		}
		for _, file := range files {
			digest := "sha256:" + file.Name()
			// Files of others are left alone.
			if _, err := store.ParseDigest(digest); err == nil {
				digests = append(digests, digest)
			}
		}
	}
	slices.Sort(digests)
	return digests, nil
}

// Import stores records as they are, all or none.
func (s *sqliteStore) Import(ctx context.Context, records ...store.Record) error {
	var at int
	err := s.change(ctx, fmt.Sprintf("importing %d records", len(records)), func(tx *sql.Tx) error {
		for i, r := range records {
			at = i
			_, err := tx.ExecContext(ctx, "INSERT INTO records (kind, id, key, owner, revision, data, sealed, created_at, updated_at) VALUES (?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?)",
				r.Kind, r.ID, r.Key, r.Owner, r.Revision, present(r.Data), present(r.Sealed), r.CreatedAt.UnixNano(), r.UpdatedAt.UnixNano())
			if err != nil {
				return err
			}
		}
		return nil
	})
	if isDuplicate(err) {
		return store.Exists(&records[at])
	}
	return err
}

// HeldLeases returns who holds a lease and is not known to be dead.
func (s *sqliteStore) HeldLeases(ctx context.Context) ([]store.HeldError, error) {
	db, err := s.database(ctx, false)
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var held []store.HeldError
	err = s.retry(ctx, "listing the leases", func() error {
		held = nil
		rows, err := db.QueryContext(ctx, "SELECT name, holder, acquired_at FROM leases WHERE expires_at > ? ORDER BY name", s.clock().UnixNano())
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err below says what went wrong.
		for rows.Next() {
			var h store.HeldError
			var acquired int64
			if err := rows.Scan(&h.Name, &h.Holder, &acquired); err != nil {
				return err
			}
			h.Since = time.Unix(0, acquired).UTC()
			held = append(held, h)
		}
		return rows.Err()
	})
	return store.Alive(held), err
}
