package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// The server may be far away. So what belongs together is sent together, and is one round trip: a read, and a transaction that writes,
// with its beginning, what it has to look up before, and its commit.

// statement is a part of an exchange.
type statement struct {
	sql string
	// args are of type string, int64, []byte or uuid.UUID: the server is not asked for their types first.
	args []any
	// row reads one row of the result, and each is called for all of them; nil for who needs none. A first row that is missing is
	// pgx.ErrNoRows for row.
	row  func(row pgx.Row) error
	each func(row pgx.Row) error
	// affected is called with the number of rows that were written.
	affected func(n int64) error
}

// binaryResults asks for values that no setting of the server can give another form.
var binaryResults = []int16{pgtype.BinaryFormatCode}

// queue adds the statement to a batch.
func (q *statement) queue(batch *pgconn.Batch) error {
	values, types, formats := make([][]byte, len(q.args)), make([]uint32, len(q.args)), make([]int16, len(q.args))
	for i, arg := range q.args {
		formats[i] = pgtype.BinaryFormatCode
		switch value := arg.(type) {
		case string:
			values[i], types[i], formats[i] = []byte(value), pgtype.TextOID, pgtype.TextFormatCode
		case int64:
			values[i], types[i] = binary.BigEndian.AppendUint64(nil, uint64(value)), pgtype.Int8OID //nolint:gosec // The same bits.
		case []byte:
			values[i], types[i] = present(value), pgtype.ByteaOID
		case uuid.UUID:
			values[i], types[i] = value[:], pgtype.UUIDOID
		default:
			return fmt.Errorf("an argument of type %T in %s", arg, q.sql)
		}
	}
	batch.ExecParams(q.sql, values, types, formats, binaryResults)
	return nil
}

// receive reads the result of the statement.
func (q *statement) receive(types *pgtype.Map, result *pgconn.ResultReader) error {
	rows := pgx.RowsFromResultReader(types, result)
	defer rows.Close()
	found := false
	for rows.Next() {
		read := q.each
		if q.row != nil && !found {
			read = q.row
		}
		found = true
		if read == nil {
			continue
		}
		if err := read(rows); err != nil {
			return err
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	if q.row != nil && !found {
		return q.row(noRow{})
	}
	if q.affected != nil {
		return q.affected(rows.CommandTag().RowsAffected())
	}
	return nil
}

// noRow is the row of a result without rows.
type noRow struct{}

func (noRow) Scan(...any) error { return pgx.ErrNoRows }

// exchange sends statements together and reads their results. The first error of the server ends it, and what was written is rolled back.
// An error of a function that reads a result is returned after that has come to its end.
func exchange(ctx context.Context, conn *pgx.Conn, statements ...statement) error {
	batch := &pgconn.Batch{}
	for i := range statements {
		if err := statements[i].queue(batch); err != nil {
			return err
		}
	}
	results := conn.PgConn().ExecBatch(ctx, batch)
	var failed error
	for i := 0; results.NextResult(); i++ {
		if err := statements[i].receive(conn.TypeMap(), results.ResultReader()); err != nil && failed == nil {
			failed = err
		}
	}
	if err := results.Close(); err != nil {
		return err
	}
	return failed
}

// ask reads with one statement.
func (s *pgStore) ask(ctx context.Context, pool *pgxpool.Pool, q statement) error {
	q.sql = s.sql(q.sql)
	return pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { return exchange(ctx, conn.Conn(), q) })
}

// codeDivision is how a statement ends a transaction that must not go on.
const codeDivision = "22012"

// rights are the statements that end a transaction when the store has a newer format by now, or a lease is another one's: see
// checkRights, which says why.
func (s *pgStore) rights(fences []store.Fence) []statement {
	out := []statement{{
		sql:  s.sql("SELECT CASE WHEN version <= $1 THEN version ELSE version / (version - version) END FROM {schema}.schema_version"),
		args: []any{int64(format)},
	}}
	for _, f := range fences {
		out = append(out, statement{
			sql:  s.sql("SELECT 1 / CASE WHEN (SELECT token FROM {schema}.leases WHERE name = $1 FOR KEY SHARE) IS NOT DISTINCT FROM $2 THEN 1 ELSE 0 END"),
			args: []any{f.Lease, f.Token},
		})
	}
	return out
}

// write runs statements as a transaction, in one exchange, when the leases of ctx are still the caller's and no newer release has taken
// over the store; again when it failed for a reason that passes. They are asked for before each try: unsure is as in step.
func (s *pgStore) write(ctx context.Context, doing string, fences []store.Fence, statements func(unsure bool) []statement) error {
	pool, err := s.database(ctx, true)
	if err != nil {
		return err
	}
	unsure := false
	return s.retry(ctx, doing, func() error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		all := []statement{{sql: "BEGIN ISOLATION LEVEL READ COMMITTED"}, {
			sql:  "SELECT set_config('lock_timeout', $1, true)",
			args: []any{strconv.FormatInt(s.timing.lock.Milliseconds(), 10)},
		}}
		all = append(all, s.rights(fences)...)
		for _, q := range statements(unsure) {
			q.sql = s.sql(q.sql)
			all = append(all, q)
		}
		err = s.finish(ctx, conn, append(all, statement{sql: "COMMIT"}))
		if err != nil {
			unsure = unsure || isUnsure(err)
		}
		if code(err) == codeDivision {
			return s.whyNot(ctx, pool, fences)
		}
		return err
	})
}

// finish runs a transaction to its end also when ctx ends meanwhile, so that the caller learns what was written, and gives the connection
// back.
func (s *pgStore) finish(ctx context.Context, conn *pgxpool.Conn, all []statement) error {
	defer conn.Release()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(commitGrace, cancel) })()
	err := exchange(sending, conn.Conn(), all...)
	if err != nil && code(err) != "" {
		// The transaction has failed: without its end, the connection would be closed.
		_ = exchange(sending, conn.Conn(), statement{sql: "ROLLBACK"})
	}
	return err
}

// whyNot says why a transaction had no right to write.
func (s *pgStore) whyNot(ctx context.Context, pool *pgxpool.Pool, fences []store.Fence) error {
	tx, err := s.begin(ctx, pool)
	if err != nil {
		return err
	}
	defer rollback(ctx, tx)
	if err := s.checkRights(ctx, tx, fences); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errOvertaken, errors.New("a lease was another one's, and is not any more"))
}
