package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// unreachableFor is how long to try to reach a server that has never answered: whoever
	// has mistyped its address need not wait.
	unreachableFor = time.Second
	// commitGrace is how long a commit may take once its context has ended: what it did is
	// known then.
	commitGrace = 1500 * time.Millisecond
)

// errOvertaken says that another transaction was faster, and that this one is to be tried
// again.
var errOvertaken = errors.New("another process has written the same at the same time")

// step is one try of a transaction.
type step struct {
	pgx.Tx
	// unsure says that an earlier try may have been committed: its connection was lost
	// before the answer. Rows that it has locked are free when a statement of this try
	// has written them or read them for update: then its outcome is known.
	unsure bool
}

// read does f, again when the connection is lost. It returns errAbsent when there are no
// tables. The first one goes beside the look for them.
func (s *pgStore) read(ctx context.Context, doing string, f func(pool *pgxpool.Pool) error) error {
	if s.ready.Load() == nil {
		isRead, err := s.readEarly(ctx, f)
		if isRead || err != nil {
			return err
		}
	}
	pool, err := s.database(ctx, false)
	if err != nil {
		return err
	}
	return s.retry(ctx, doing, func() error { return f(pool) })
}

// readEarly does f while the tables are looked for, and reports whether these have the format of this release and f was done.
func (s *pgStore) readEarly(ctx context.Context, f func(pool *pgxpool.Pool) error) (bool, error) {
	pool, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	early := make(chan error, 1)
	go func() { early <- f(pool) }()
	_, seen, err := s.look(ctx)
	failed := <-early
	if err == nil && !seen.present {
		err = errAbsent
	}
	return err == nil && failed == nil, err
}

// change does f in a transaction that writes, when the leases of ctx are still the caller's.
func (s *pgStore) change(ctx context.Context, doing string, f func(tx step) error) error {
	return s.transact(ctx, doing, store.Fences(ctx), f)
}

// transact does f in a transaction under fences, when no newer release has taken over the
// store; again when it failed for a reason that passes.
func (s *pgStore) transact(ctx context.Context, doing string, fences []store.Fence, f func(tx step) error) error {
	pool, err := s.database(ctx, true)
	if err != nil {
		return err
	}
	unsure := false
	return s.retry(ctx, doing, func() error {
		tx, err := s.begin(ctx, pool)
		if err != nil {
			return err
		}
		defer rollback(ctx, tx)
		if err := s.checkRights(ctx, tx, fences); err != nil {
			return err
		}
		if err := f(step{Tx: tx, unsure: unsure}); err != nil {
			return err
		}
		if err := s.commit(ctx, tx); err != nil {
			unsure = unsure || isUnsure(err)
			return err
		}
		return nil
	})
}

// begin starts a transaction. Its settings end with it, so that they are right behind a
// pooler too.
func (s *pgStore) begin(ctx context.Context, pool *pgxpool.Pool) (pgx.Tx, error) {
	return pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: s.beginSQL()})
}

func (s *pgStore) beginSQL() string {
	return fmt.Sprintf("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d",
		s.timing.lock.Milliseconds(), s.timing.idle.Milliseconds())
}

func rollback(ctx context.Context, tx pgx.Tx) {
	// Nothing to undo after the commit. A transaction that cannot be rolled back ends with
	// its connection.
	_ = tx.Rollback(ctx)
}

// commit commits also when ctx ends meanwhile, so that the caller learns what was written.
func (s *pgStore) commit(ctx context.Context, tx pgx.Tx) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	committing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(commitGrace, cancel) })()
	return tx.Commit(committing)
}

// isUnsure reports whether the server may have committed although commit failed. That the
// driver takes an error for one that came before the request says nothing here: a commit whose
// answer is lost ends like that too.
func isUnsure(err error) bool {
	switch c := code(err); {
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return false
	case c == "":
		return true
	default:
		return c == codeUnknownCompletion || strings.HasPrefix(c, classConnection) || strings.HasPrefix(c, classOperator)
	}
}

// checkRights looks up in the transaction of a write whether the store still has the format
// of this release, and whether the caller's leases are still its own. The rows of the leases
// stay locked against an acquisition, not against a renewal, until the transaction ends.
func (s *pgStore) checkRights(ctx context.Context, tx pgx.Tx, fences []store.Fence) error {
	var batch pgx.Batch
	batch.Queue(s.sql(formatSQL)).QueryRow(scanFormat)
	for _, f := range fences {
		batch.Queue(s.sql("SELECT token, holder FROM {schema}.leases WHERE name = $1 FOR KEY SHARE"), f.Lease).QueryRow(func(row pgx.Row) error {
			var token int64
			var holder string
			if err := row.Scan(&token, &holder); err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			if token != f.Token {
				return &vnfm.LeaseLostError{Object: f.Lease, Holder: process.Describe(holder)}
			}
			return nil
		})
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// retry does f again while the server cannot be reached, fails over, or has others write the
// same, until the time for that is over or ctx ends. The error of f is explained; doing says
// what f does.
func (s *pgStore) retry(ctx context.Context, doing string, f func() error) error {
	begun := time.Now()
	var last error
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := f()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			// What the end of ctx does to a try says nothing of the server.
			return s.ended(ctx, doing, cmp.Or(last, err))
		}
		last = err
		if s.leases.Closed() {
			return s.errClosed()
		}
		patience := s.timing.patience
		if !s.connected.Load() && code(err) == "" {
			patience = min(patience, unreachableFor)
		}
		if !isPassing(err) || time.Since(begun) > patience {
			if isPassing(err) && isConnect(err) {
				err = fmt.Errorf("%w; no answer since %s", err, begun.UTC().Format(time.RFC3339))
			}
			return s.explain(doing, err)
		}
		// When ctx has ended, the next try says so.
		_ = poll.Sleep(ctx, pause)
	}
}

// isPassing reports whether the same can succeed a moment later.
func isPassing(err error) bool {
	switch c := code(err); {
	case errors.Is(err, errOvertaken):
		return true
	case c == codeSerialization, c == codeDeadlock, c == codeLockTimeout, c == codeIdleTimeout, c == codeTooManyConnections,
		strings.HasPrefix(c, classConnection), strings.HasPrefix(c, classOperator) && c != codeQueryCancelled:
		return true
	case c != "":
		return false
	default:
		return isCut(err)
	}
}

// isCut reports whether the connection failed or was lost.
func isCut(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok || pgconn.SafeToRetry(err) {
		return true
	}
	lost := []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, pgconn.ErrConnClosed}
	return slices.ContainsFunc(lost, func(cut error) bool { return errors.Is(err, cut) })
}
