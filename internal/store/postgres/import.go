package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// Import stores records as they are, all or none.
func (s *pgStore) Import(ctx context.Context, records ...store.Record) error {
	if len(records) == 0 {
		return nil
	}
	write := uuid.New()
	return s.change(ctx, fmt.Sprintf("importing %d records", len(records)), func(tx step) error {
		var batch pgx.Batch
		stored := 0
		var duplicate *store.Record
		for i := range records {
			r := &records[i]
			batch.Queue(s.sql(`INSERT INTO {schema}.records (kind, id, key, owner, revision, data, sealed, created_at, updated_at, write_id)
				VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`),
				string(r.Kind), r.ID, r.Key, r.Owner, r.Revision, present(r.Data), present(r.Sealed), r.CreatedAt.UnixNano(), r.UpdatedAt.UnixNano(), write).
				Exec(func(tag pgconn.CommandTag) error {
					stored += int(tag.RowsAffected())
					if tag.RowsAffected() == 0 && duplicate == nil {
						duplicate = r
					}
					return nil
				})
		}
		if err := tx.SendBatch(ctx, &batch).Close(); err != nil || stored == len(records) {
			return err
		}
		if tx.unsure {
			var before int
			if err := tx.QueryRow(ctx, s.sql("SELECT count(*) FROM {schema}.records WHERE write_id = $1"), write).Scan(&before); err != nil || before == len(records) {
				return err
			}
		}
		return store.Exists(duplicate)
	})
}
