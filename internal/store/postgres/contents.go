package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// A content is written in chunks under a generation that nobody reads, in statements of their
// own, so that a slow source keeps no transaction open. One last transaction makes the
// generation the current one of its digest. A generation that it replaces stays for a while,
// for those who are reading it.

const (
	// chunkSize is what a content costs in memory.
	chunkSize = 1 << 20
	// keepReplaced is longer than anybody reads a content.
	keepReplaced = "1 hour"
	// keepUnfinished is longer than anybody writes one.
	keepUnfinished = "1 day"
	// discardTimeout bounds the removal of what was written in vain. The rest is removed
	// after keepUnfinished.
	discardTimeout = 2 * time.Second
)

// MaxContent is the size in bytes of the largest content in the form that is kept.
func (s *pgStore) MaxContent() int64 { return s.maxContent }

// PutBlob keeps a content under its digest.
func (s *pgStore) PutBlob(ctx context.Context, digest string, r io.Reader) error {
	intact, err := s.intact(ctx, digest)
	if err != nil {
		return err
	}
	if intact {
		return store.CheckUpload(ctx, r, digest)
	}
	return s.PutEncoded(ctx, digest, func(w io.Writer) error { return store.CopyBlob(ctx, w, r, digest) })
}

// OpenBlob reads a content and checks its digest at the end.
func (s *pgStore) OpenBlob(ctx context.Context, digest string) (io.ReadCloser, error) {
	r, err := s.OpenEncoded(ctx, digest)
	if err != nil {
		return nil, err
	}
	return store.VerifyBlob(r, r, digest), nil
}

func (s *pgStore) intact(ctx context.Context, digest string) (bool, error) {
	r, err := s.OpenEncoded(ctx, digest)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // A content that was only read.
	return store.IsIntact(ctx, r, digest)
}

// DeleteBlob removes a content; a missing one is success.
func (s *pgStore) DeleteBlob(ctx context.Context, digest string) error {
	if err := check(ctx, digest); err != nil {
		return err
	}
	if _, err := s.database(ctx, false); errors.Is(err, errAbsent) {
		return nil
	}
	return s.write(ctx, "deleting the content "+digest, store.Fences(ctx), func(bool) []statement {
		return []statement{{sql: "DELETE FROM {schema}.contents WHERE digest = $1 AND state <> 'writing'", args: []any{digest}}}
	})
}

func check(ctx context.Context, digest string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := store.ParseDigest(digest)
	return err
}

// PutEncoded keeps what encode writes, which takes the place of what was there at once or not
// at all. It returns a *store.TooLargeError for more than the store keeps.
func (s *pgStore) PutEncoded(ctx context.Context, digest string, encode func(w io.Writer) error) error {
	if err := check(ctx, digest); err != nil {
		return err
	}
	pool, err := s.database(ctx, true)
	if err != nil {
		return err
	}
	w := &writer{ctx: ctx, s: s, pool: pool, digest: digest, doing: "storing the content " + digest}
	err = encode(w)
	if err == nil {
		err = w.finish()
	}
	if err == nil {
		return nil
	}
	w.discard(ctx)
	if w.failed != nil {
		// It says already what was done and where.
		return w.failed
	}
	return fmt.Errorf("%s: %s: %w", s.name(), w.doing, err)
}

// writer writes the chunks of a generation.
type writer struct {
	ctx    context.Context
	s      *pgStore
	pool   *pgxpool.Pool
	digest string
	doing  string

	// generation is 0 before the first chunk.
	generation int64
	chunks     int
	size       int64
	buffer     []byte
	// failed is the first error of the store, after which nothing is written.
	failed error
}

func (w *writer) Write(p []byte) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	if w.size+int64(len(w.buffer))+int64(len(p)) > w.s.maxContent {
		w.failed = &store.TooLargeError{What: "content " + w.digest, Limit: w.s.maxContent}
		return 0, w.failed
	}
	written := len(p)
	for len(p) > 0 {
		n := min(chunkSize-len(w.buffer), len(p))
		w.buffer = append(w.buffer, p[:n]...)
		p = p[n:]
		if len(w.buffer) == chunkSize {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

// flush writes the buffer as a chunk. The first one makes the generation, of which a lost answer leaves one that nobody writes.
func (w *writer) flush() error {
	w.failed = w.s.retry(w.ctx, w.doing, func() error {
		if w.generation == 0 {
			return w.s.ask(w.ctx, w.pool, statement{
				sql: `WITH made AS (INSERT INTO {schema}.contents (digest, state, since, size, chunks) VALUES ($1, 'writing', clock_timestamp(), 0, 0) RETURNING generation),
					chunk AS (INSERT INTO {schema}.chunks (generation, n, data) SELECT generation, 0, $2 FROM made)
					SELECT generation FROM made`,
				args: []any{w.digest, w.buffer}, row: func(row pgx.Row) error { return row.Scan(&w.generation) },
			})
		}
		// A try whose answer was lost has written the same.
		return w.s.ask(w.ctx, w.pool, statement{
			sql: "INSERT INTO {schema}.chunks (generation, n, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", args: []any{w.generation, int64(w.chunks), w.buffer},
		})
	})
	w.size += int64(len(w.buffer))
	w.chunks++
	w.buffer = w.buffer[:0]
	return w.failed
}

// last is the statement that makes the generation the current one: with its only chunk, when no other one was written. It tells whether there
// is a generation.
func (w *writer) last(found *bool) statement {
	made := func(n int64) error {
		*found = n > 0
		return nil
	}
	if w.generation != 0 {
		return statement{
			sql:  "UPDATE {schema}.contents SET state = 'current', since = clock_timestamp(), size = $2, chunks = $3 WHERE generation = $1",
			args: []any{w.generation, w.size, int64(w.chunks)}, affected: made,
		}
	}
	return statement{
		sql: `WITH chunk AS (SELECT $2::bytea AS data WHERE length($2) > 0),
			made AS (INSERT INTO {schema}.contents (digest, state, since, size, chunks)
				SELECT $1, 'current', clock_timestamp(), length($2), (SELECT count(*) FROM chunk) RETURNING generation),
			written AS (INSERT INTO {schema}.chunks (generation, n, data) SELECT generation, 0, data FROM made, chunk)
			SELECT generation FROM made`,
		args: []any{w.digest, w.buffer}, affected: made,
	}
}

// finish makes the generation the current one, and removes what nobody needs any more.
func (w *writer) finish() error {
	if w.failed != nil {
		return w.failed
	}
	if w.generation != 0 && len(w.buffer) > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	s := w.s
	found := false
	for again := true; again; {
		// Contents are no secret of a lease: the same digest is the same content.
		w.failed = s.write(w.ctx, w.doing, nil, func(bool) []statement {
			return []statement{{
				sql:  "UPDATE {schema}.contents SET state = 'replaced', since = clock_timestamp() WHERE digest = $1 AND state = 'current' AND generation <> $2",
				args: []any{w.digest, w.generation},
			}, w.last(&found), {
				sql: `DELETE FROM {schema}.contents WHERE generation IN (SELECT generation FROM {schema}.contents
					WHERE state = 'replaced' AND since < clock_timestamp() - interval '` + keepReplaced + `'
					OR state = 'writing' AND since < clock_timestamp() - interval '` + keepUnfinished + `' FOR UPDATE SKIP LOCKED)`,
			}}
		})
		// Another process has made another generation the current one, which is the same content.
		again = isDuplicate(w.failed)
	}
	if w.failed == nil && !found {
		return errors.New("its chunks were removed meanwhile: writing it took longer than " + keepUnfinished)
	}
	return w.failed
}

// discard removes an unfinished content. The rest is removed later.
func (w *writer) discard(ctx context.Context) {
	if w.generation == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	_, _ = w.pool.Exec(ctx, w.s.sql("DELETE FROM {schema}.contents WHERE generation = $1 AND state = 'writing'"), w.generation)
}

// OpenEncoded reads what PutEncoded kept.
func (s *pgStore) OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error) {
	if err := check(ctx, digest); err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, s: s, digest: digest}
	found := false
	err := s.read(ctx, "reading the content "+digest, func(pool *pgxpool.Pool) error {
		// Most contents are one chunk: they cost one request.
		found = false
		return s.ask(ctx, pool, statement{
			sql: `SELECT c.generation, c.size, c.chunks, k.data FROM {schema}.contents c
				LEFT JOIN {schema}.chunks k ON k.generation = c.generation AND k.n = 0 WHERE c.digest = $1 AND c.state = 'current'`,
			args: []any{digest},
			each: func(row pgx.Row) error {
				found = true
				return row.Scan(&r.generation, &r.left, &r.chunks, &r.data)
			},
		})
	})
	if errors.Is(err, errAbsent) || err == nil && !found {
		return nil, fmt.Errorf("content %s: %w", digest, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	if r.data != nil {
		r.next = 1
	}
	return r, nil
}

// reader reads the chunks of a generation.
type reader struct {
	ctx        context.Context
	s          *pgStore
	digest     string
	generation int64
	chunks     int
	// left is how many bytes there are to read, next the number of the next chunk, and data
	// what is left of the one before.
	left int64
	next int
	data []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	for len(r.data) == 0 {
		if r.next >= r.chunks {
			if r.left != 0 {
				return 0, r.corrupt("%d bytes are missing", r.left)
			}
			return 0, io.EOF
		}
		if err := r.fetch(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	r.left -= int64(n)
	return n, nil
}

func (r *reader) Close() error { return nil }

func (r *reader) corrupt(format string, args ...any) error {
	return fmt.Errorf("content %s: %w: %s", r.digest, store.ErrCorrupt, fmt.Sprintf(format, args...))
}

// fetch reads the next chunk.
func (r *reader) fetch() error {
	s := r.s
	there, missing := false, false
	err := s.read(r.ctx, "reading the content "+r.digest, func(pool *pgxpool.Pool) error {
		r.data = nil
		err := pool.QueryRow(r.ctx, s.sql("SELECT data FROM {schema}.chunks WHERE generation = $1 AND n = $2"), r.generation, r.next).Scan(&r.data)
		missing = errors.Is(err, pgx.ErrNoRows)
		if missing {
			err = pool.QueryRow(r.ctx, s.sql("SELECT count(*) > 0 FROM {schema}.contents WHERE generation = $1"), r.generation).Scan(&there)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case missing && !there:
		return fmt.Errorf("content %s: %w: it was removed while it was read", r.digest, store.ErrNotFound)
	case missing || len(r.data) == 0:
		return r.corrupt("chunk %d of %d is missing", r.next+1, r.chunks)
	}
	r.next++
	return nil
}

// Contents returns the digests of all contents.
func (s *pgStore) Contents(ctx context.Context) ([]string, error) {
	var list []string
	err := s.read(ctx, "listing the contents", func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, s.sql("SELECT digest FROM {schema}.contents WHERE state = 'current' ORDER BY digest"))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if errors.Is(err, errAbsent) {
		return nil, nil
	}
	return list, err
}
