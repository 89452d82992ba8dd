// Package postgres keeps the store in a schema of a PostgreSQL database: for teams and
// pipelines whose runners keep no disk. It works through PgBouncer in transaction mode as
// well: it has no state in a session, and prepares nothing.
//
// Time is the server's alone, so that the clocks of the machines do not matter.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// DefaultSchema is the schema of the tables when none is named.
const DefaultSchema = "vnf"

// Config says where the store is.
type Config struct {
	// ConnStr is a connection string as Terraform's own backend pg has it: a URL
	// (postgres://user@host:5432/database) or pairs (host=… dbname=…). Missing parts
	// come from the variables and files of libpq: PGHOST, PGPASSWORD, ~/.pgpass.
	ConnStr string
	// Schema is the schema of the tables; empty is DefaultSchema.
	Schema string
	// Release is the release of the provider, which a new store records for the errors of
	// releases that cannot read it.
	Release string
}

// timing is how long things take; tests shorten it.
type timing struct {
	// lease is how long a lease lives without renewal, renew how often it is renewed.
	lease, renew time.Duration
	// patience is how long to try again while the server fails over or restarts, or others
	// lock what is to be written.
	patience time.Duration
	// lock is how long one statement waits for a lock, and idle how long a transaction
	// lives whose client says nothing. A process that is stopped inside of a transaction
	// keeps others waiting for that long.
	lock, idle time.Duration
}

func defaultTiming() timing {
	return timing{lease: 15 * time.Second, renew: 5 * time.Second, patience: 30 * time.Second, lock: 10 * time.Second, idle: 10 * time.Second}
}

const (
	// maxConns bounds the connections of a process: servers have a hundred by default.
	maxConns = 4
	// connectTimeout bounds one attempt to connect when the connection string does not.
	connectTimeout = 10 * time.Second
	// maxContent is the size of the largest content, in the form that is kept.
	maxContent = 64 << 20
)

// errAbsent says that there is no table of ours yet, and that nothing was made.
var errAbsent = errors.New("no tables")

type pgStore struct {
	place
	config  *pgxpool.Config
	release string
	timing  timing
	// maxContent is the bound of contents in bytes.
	maxContent int64

	// ready is the pool, once the tables exist, in a format of this release.
	ready atomic.Pointer[pgxpool.Pool]
	// absent is what the last look has seen that has found no tables.
	absent atomic.Pointer[tables]
	// connected is set when the server has answered once.
	connected atomic.Bool
	// making is a semaphore rather than a mutex, so that waiting for it ends with the context. Who has it makes the tables.
	making chan struct{}

	mu sync.Mutex
	// pool is what the store is asked through, once somebody has asked, and looking the look for its tables that is on its way.
	pool    *pgxpool.Pool
	looking *look

	leases store.Leases[*lease]

	seenMu sync.Mutex
	// seen are the tokens of leases that were free when they were seen.
	seen store.Seen[int64]
}

var _ store.Portable = (*pgStore)(nil)

// Open returns the store in a schema of a database. Nothing is connected to before the first
// use, and nothing is made before the first write. The returned store keeps nothing of ctx.
// An error says what is wrong with the configuration.
func Open(ctx context.Context, c Config) (store.Store, error) {
	return open(ctx, c, defaultTiming(), maxContent)
}

func open(ctx context.Context, c Config, t timing, maxContent int64) (*pgStore, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	config, at, err := parseConfig(c)
	if err != nil {
		return nil, err
	}
	s := &pgStore{
		place: at, config: config, release: c.Release, timing: t, maxContent: maxContent,
		making: make(chan struct{}, 1),
	}
	config.AfterConnect = func(context.Context, *pgx.Conn) error {
		s.connected.Store(true)
		return nil
	}
	return s, nil
}

// Close gives back the leases that are still held and closes the connections.
func (s *pgStore) Close() error {
	return s.leases.Close(func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ready.Store(nil)
		if s.looking != nil {
			s.looking.stop()
		}
		if s.pool != nil {
			s.pool.Close()
		}
		return nil
	})
}

func (s *pgStore) errClosed() error { return fmt.Errorf("%s is closed", s.name()) }

// database returns the pool of connections to tables of this release's format; the first
// call looks for them. Without create, it returns errAbsent when there are none.
func (s *pgStore) database(ctx context.Context, create bool) (*pgxpool.Pool, error) {
	if pool := s.ready.Load(); pool != nil {
		return pool, nil
	}
	pool, seen, err := s.looked(ctx, create)
	switch {
	case err != nil:
		return nil, err
	case seen.present:
		return pool, nil
	case !create:
		return nil, errAbsent
	}
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", s.name(), context.Cause(ctx))
	}
	if pool := s.ready.Load(); pool != nil {
		return pool, nil
	}
	if err := s.retry(ctx, "making its tables", func() error { return s.createTables(ctx, pool, &seen) }); err != nil {
		return nil, err
	}
	return pool, s.use(pool)
}

// use notes that the tables have the format of this release.
func (s *pgStore) use(pool *pgxpool.Pool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases.Closed() {
		return s.errClosed()
	}
	s.ready.Store(pool)
	return nil
}

// connect returns the pool of connections, whatever they lead to.
func (s *pgStore) connect(ctx context.Context) (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases.Closed() {
		return nil, s.errClosed()
	}
	if s.pool == nil {
		pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), s.config)
		if err != nil {
			return nil, s.explain("connecting", err)
		}
		s.pool = pool
	}
	return s.pool, nil
}

// looked is a look for the tables. Who will make them needs none after one that has found none: when another process has made them since,
// that is found out then.
func (s *pgStore) looked(ctx context.Context, create bool) (*pgxpool.Pool, tables, error) {
	if seen := s.absent.Load(); create && seen != nil {
		pool, err := s.connect(ctx)
		return pool, *seen, err
	}
	return s.look(ctx)
}

// look is a look for the tables, whose answer is that of all who ask meanwhile. It goes on as long as one of them waits.
type look struct {
	waiting int
	stop    context.CancelFunc
	looked  chan struct{}
	seen    tables
	err     error
	// failed is why the last try found nothing out. It is for those whose time ends before that of the look.
	failed error
}

const lookingForTables = "looking for its tables"

// look looks for the tables.
func (s *pgStore) look(ctx context.Context) (*pgxpool.Pool, tables, error) {
	pool, err := s.connect(ctx)
	if err != nil {
		return nil, tables{}, err
	}
	s.mu.Lock()
	l := s.looking
	if l == nil {
		looking, stop := context.WithCancel(context.WithoutCancel(ctx))
		l = &look{stop: stop, looked: make(chan struct{})}
		s.looking = l
		go s.lookFor(looking, pool, l)
	}
	l.waiting++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.waiting--; l.waiting == 0 {
			l.stop()
			s.forget(l)
		}
	}()
	select {
	case <-l.looked:
		return pool, l.seen, l.err
	case <-ctx.Done():
		s.mu.Lock()
		failed := l.failed
		s.mu.Unlock()
		return nil, tables{}, s.ended(ctx, lookingForTables, failed)
	}
}

// lookFor is the work of a look. Who asks from its end on, or once nobody waits for it, begins another one.
func (s *pgStore) lookFor(ctx context.Context, pool *pgxpool.Pool, l *look) {
	l.err = s.retry(ctx, lookingForTables, func() (err error) {
		l.seen, err = s.readTables(ctx, pool)
		s.mu.Lock()
		defer s.mu.Unlock()
		l.failed = err
		return err
	})
	switch {
	case l.err != nil:
	case l.seen.present:
		l.err = s.use(pool)
	default:
		s.absent.Store(&l.seen)
	}
	s.mu.Lock()
	s.forget(l)
	s.mu.Unlock()
	close(l.looked)
}

// forget has the next one who asks look again. It is called with the mutex held.
func (s *pgStore) forget(l *look) {
	if s.looking == l {
		s.looking = nil
	}
}
