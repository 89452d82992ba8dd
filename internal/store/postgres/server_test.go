package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// openStore opens a store for the time of a test.
func openStore(t *testing.T, c Config) *pgStore {
	t.Helper()
	s, err := open(t.Context(), c, quick(), testContent)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close())
	})
	return s
}

func createVIM(ctx context.Context, s store.Store, id string) error {
	return s.Create(ctx, &store.Record{Kind: store.KindVIM, ID: id, Data: []byte("data of " + id)})
}

// TestServer has what goes wrong between a store and its server, on one server.
func TestServer(t *testing.T) {
	server := pgtest.Start(t)
	for name, test := range map[string]func(t *testing.T, server *pgtest.Server){
		"unused store leaves no trace": serverUnused,
		"rights":                       serverRights,
		"wrong connections":            serverConnections,
		"formats":                      serverFormats,
		"read only":                    serverReadOnly,
		"abandoned contents":           serverAbandoned,
		"stopped writer":               serverStopped,
		"clock set back":               serverClock,
		"settings of the server":       serverSettings,
		"sealed contents":              serverSealed,
		"a whole store":                serverWhole,
		"round trips":                  serverTrips,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server)
		})
	}
}

func serverUnused(t *testing.T, server *pgtest.Server) {
	s := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "unused"})
	if _, err := s.Get(t.Context(), store.KindVIM, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get = %v, want ErrNotFound", err)
	}
	if list, err := s.List(t.Context(), store.Query{}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v", list, err)
	}
	require.ErrorIs(t, s.Delete(t.Context(), store.KindVIM, "a"), store.ErrNotFound, "Delete")
	if _, err := s.OpenBlob(t.Context(), store.Digest(nil)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OpenBlob = %v, want ErrNotFound", err)
	}
	require.NoError(t, s.DeleteBlob(t.Context(), store.Digest(nil)), "DeleteBlob")
	var schemas int
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = 'unused'").Scan(&schemas), "schemas were made")
	require.Equal(t, 0, schemas, "schemas were made")
}

// serverRights has a user who may not make a schema: one is made for it, or it shares one.
func serverRights(t *testing.T, server *pgtest.Server) {
	server.Exec(t, "postgres", "CREATE ROLE plain LOGIN PASSWORD 'secret-pw'; CREATE ROLE member LOGIN PASSWORD 'secret-pw'")
	connStr := server.URL("plain", "secret-pw", "postgres", "sslmode=disable")
	s := openStore(t, Config{ConnStr: connStr, Schema: "granted"})
	wantError(t, createVIM(t.Context(), s, "a"), "making its tables", "permission denied for database postgres", "CREATE SCHEMA granted AUTHORIZATION plain")

	server.Exec(t, "postgres", "CREATE SCHEMA granted AUTHORIZATION plain")
	require.NoError(t, createVIM(t.Context(), s, "a"))
	member := openStore(t, Config{ConnStr: server.URL("member", "secret-pw", "postgres", "sslmode=disable"), Schema: "granted"})
	_, err := member.Get(t.Context(), store.KindVIM, "a")
	wantError(t, err, "permission denied for schema granted", "GRANT USAGE ON SCHEMA granted")
	server.Exec(t, "postgres", "GRANT USAGE ON SCHEMA granted TO member; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA granted TO member")
	require.NoError(t, createVIM(t.Context(), member, "b"))
	l, err := member.Acquire(t.Context(), "a", process.Name())
	if err == nil {
		err = errors.Join(createVIM(store.Under(t.Context(), l.Fence()), member, "c"), l.Release(t.Context()))
	}
	if err == nil {
		err = member.PutBlob(t.Context(), store.Digest([]byte("x")), strings.NewReader("x"))
	}
	require.NoError(t, err)

	server.Exec(t, "postgres", "CREATE ROLE planner LOGIN PASSWORD 'secret-pw'; GRANT USAGE ON SCHEMA granted TO planner; GRANT SELECT ON ALL TABLES IN SCHEMA granted TO planner")
	for name, parameters := range map[string]string{"planner": "sslmode=disable", "member": "sslmode=disable&default_transaction_read_only=on"} {
		reader := openStore(t, Config{ConnStr: server.URL(name, "secret-pw", "postgres", parameters), Schema: "granted"})
		_, err = reader.Get(t.Context(), store.KindVIM, "a")
		require.NoError(t, err, "%s reads", name)
		_, err = reader.List(t.Context(), store.Query{Kind: store.KindVIM})
		require.NoError(t, err, "%s lists", name)
		_, leaseErr := reader.Acquire(t.Context(), "a", process.Name())
		for _, err := range []error{leaseErr, createVIM(t.Context(), reader, "d"), reader.Delete(t.Context(), store.KindVIM, "a")} {
			require.ErrorIs(t, err, store.ErrReadOnly, "%s writes", name)
		}
	}
}

func serverConnections(t *testing.T, server *pgtest.Server) {
	server.Exec(t, "postgres", "CREATE ROLE known LOGIN PASSWORD 'secret-pw'")
	for name, test := range map[string]struct {
		connStr string
		want    []string
	}{
		"wrong password": {server.URL("known", "secret-pw-not", "postgres", "sslmode=disable"), []string{"password authentication failed", "PGPASSWORD"}},
		"no database":    {server.URL("known", "secret-pw", "nowhere", "sslmode=disable"), []string{`"nowhere" does not exist`, "CREATE DATABASE nowhere"}},
		"no TLS":         {server.URL("known", "secret-pw", "postgres", "sslmode=verify-full"), []string{"refused TLS", "ssl = on"}},
		"nobody listens": {"postgres://known:secret-pw@127.0.0.1:1/postgres?sslmode=disable", []string{"127.0.0.1:1", "connection refused", "check host and port"}},
		"no such host":   {"postgres://known:secret-pw@host.invalid/postgres", []string{"host.invalid", "check host and port"}},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			s := openStore(t, Config{ConnStr: test.connStr})
			wantError(t, createVIM(t.Context(), s, "a"), append(test.want, "PostgreSQL store "+s.hosts)...)
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("the error took %s", took)
			}
		})
	}
}

func serverFormats(t *testing.T, server *pgtest.Server) {
	old := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "formats", Release: "v1.0.0"})
	require.NoError(t, createVIM(t.Context(), old, "a"))
	// A newer release takes the store over while an older one works on it.
	server.Exec(t, "postgres", "UPDATE formats.schema_version SET version = 99, release = 'v9.0.0'")
	wantError(t, createVIM(t.Context(), old, "b"), "format 99", "newer release", "v9.0.0")
	fresh := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "formats"})
	_, err := fresh.Get(t.Context(), store.KindVIM, "a")
	wantError(t, err, "format 99", "v9.0.0", "use that release")

	server.Exec(t, "postgres", `CREATE SCHEMA "of others"; CREATE TABLE "of others".t (n int); CREATE SCHEMA flyway; CREATE TABLE flyway.schema_version (version_rank int)`)
	for _, schema := range []string{"of others", "flyway"} {
		foreign := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: schema})
		wantError(t, createVIM(t.Context(), foreign, "a"), "another application", "name another schema")
	}

	// A creation that fails leaves nothing behind.
	server.Exec(t, "postgres", "CREATE SCHEMA half; CREATE TABLE half.contents (n int)")
	half := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "half"})
	pool, err := half.connect(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, half.createTables(t.Context(), pool, &tables{schema: true}), errForeign)
	server.Exec(t, "postgres", "DROP TABLE half.contents")
	require.NoError(t, createVIM(t.Context(), half, "a"))
	// A process that has seen less than there is now finds that out.
	for _, seen := range []tables{{}, {schema: true}} {
		require.NoError(t, half.retry(t.Context(), "making its tables", func() error { return half.createTables(t.Context(), half.pool, &seen) }))
	}
	if seen, err := half.readTables(t.Context(), half.pool); err != nil || !seen.present {
		t.Errorf("tables %+v, %v, want them present", seen, err)
	}
}

// serverReadOnly reads from what is never written, as a hot standby is.
func serverReadOnly(t *testing.T, server *pgtest.Server) {
	connStr := server.ConnStr("postgres")
	require.NoError(t, createVIM(t.Context(), openStore(t, Config{ConnStr: connStr, Schema: "readonly"}), "a"))
	server.Exec(t, "postgres", "CREATE ROLE reader SUPERUSER LOGIN; ALTER ROLE reader SET default_transaction_read_only = on")
	s := openStore(t, Config{ConnStr: strings.Replace(connStr, "user=postgres", "user=reader", 1), Schema: "readonly"})
	if _, err := s.Get(t.Context(), store.KindVIM, "a"); err != nil {
		t.Error(err)
	}
	wantError(t, createVIM(t.Context(), s, "b"), "read-only transaction", "name the primary server")
	_, err := s.Acquire(t.Context(), "a", process.Name())
	wantError(t, err, "read-only transaction")
}

// serverAbandoned looks at what stays of contents that are replaced, or whose writer died.
func serverAbandoned(t *testing.T, server *pgtest.Server) {
	s := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "abandoned"})
	put := func(content string) {
		t.Helper()
		require.NoError(t, s.PutBlob(t.Context(), store.Digest([]byte(content)), strings.NewReader(content)))
	}
	count := func() (n int) {
		t.Helper()
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT count(*) FROM abandoned.contents").Scan(&n))
		return n
	}
	put("a content")
	digest := store.Digest([]byte("a content"))
	// Who reads keeps what it reads while it is replaced.
	long := strings.Repeat("0123456789", 300_000)
	put(long)
	r, err := s.OpenBlob(t.Context(), store.Digest([]byte(long)))
	require.NoError(t, err)
	server.Exec(t, "postgres", "UPDATE abandoned.contents SET state = 'replaced'")
	if got, err := readAll(r); err != nil || got != long {
		t.Errorf("a content that is replaced reads as %d bytes, %v", len(got), err)
	}
	// Who dies leaves chunks under no digest.
	server.Exec(t, "postgres", fmt.Sprintf("INSERT INTO abandoned.contents (digest, state, since, size, chunks) VALUES ('%s', 'writing', clock_timestamp(), 0, 0)", digest))
	put("another one")
	require.Equal(t, 4, count(), "generations, want those of two that are replaced, one that is written and one that is read")
	server.Exec(t, "postgres", "UPDATE abandoned.contents SET since = since - interval '2 days'")
	put("a third one")
	require.Equal(t, 2, count(), "generations, want those of two contents")
	// Deleting is for readers what it is elsewhere: nothing is there any more.
	put(long)
	r, err = s.OpenBlob(t.Context(), store.Digest([]byte(long)))
	require.NoError(t, err)
	require.NoError(t, s.DeleteBlob(t.Context(), store.Digest([]byte(long))))
	_, err = readAll(r)
	require.ErrorIs(t, err, store.ErrNotFound, "reading a content that was deleted")
	put(long)
	server.Exec(t, "postgres", "DELETE FROM abandoned.chunks WHERE n = 1")
	_, err = readOne(t, s, long)
	require.ErrorIs(t, err, store.ErrCorrupt, "reading a content without its second chunk")
	put(long)
	var replaced int
	require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT count(*) FROM abandoned.contents WHERE state = 'replaced'").Scan(&replaced), "generations are replaced")
	require.Equal(t, 1, replaced, "generations are replaced")
	if got, err := readOne(t, s, long); err != nil || got != long {
		t.Errorf("a content that was repaired reads as %d bytes, %v", len(got), err)
	}
}

// serverStopped has a process stop inside of a transaction. It holds the lease up for a
// while, not for ever, and its write is lost.
func serverStopped(t *testing.T, server *pgtest.Server) {
	brief := quick()
	brief.idle = time.Second
	s, err := open(t.Context(), Config{ConnStr: server.ConnStr("postgres"), Schema: "stopped"}, brief, testContent)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	first, err := s.Acquire(t.Context(), "a", "somebody elsewhere")
	require.NoError(t, err)
	require.NoError(t, first.Release(t.Context()))
	tx, err := s.begin(t.Context(), s.pool)
	require.NoError(t, err)
	t.Cleanup(func() { rollback(context.WithoutCancel(t.Context()), tx) })
	require.NoError(t, s.checkRights(t.Context(), tx, []store.Fence{first.Fence()}))
	_, err = tx.Exec(t.Context(), "INSERT INTO stopped.records (kind, id, owner, revision, data, sealed, created_at, updated_at, write_id) VALUES ('vim', 'lost', '', 1, '', '', 0, 0, gen_random_uuid())")
	require.NoError(t, err)
	// The lease is free, but the write is not over.
	begun := time.Now()
	second, err := s.Acquire(t.Context(), "a", "another one")
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(begun), brief.idle/2, "the lease was acquired after")
	require.Error(t, tx.Commit(t.Context()), "the stopped process has committed")
	_, err = s.Get(t.Context(), store.KindVIM, "lost")
	require.ErrorIs(t, err, store.ErrNotFound, "Get of the lost write")
	require.ErrorAs(t, createVIM(store.Under(t.Context(), first.Fence()), s, "late"), new(*vnfm.LeaseLostError), "a write of the stopped process")
	require.NoError(t, second.Release(t.Context()))
}

// serverClock sets the clock of the server back while a lease is held whose holder dies.
func serverClock(t *testing.T, server *pgtest.Server) {
	s := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "clock"})
	held, err := s.Acquire(t.Context(), "a", "somebody elsewhere")
	require.NoError(t, err)
	l, ok := held.(*lease)
	require.True(t, ok, held)
	l.Stop()
	server.Exec(t, "postgres", "UPDATE clock.leases SET expires_at = expires_at + interval '1 hour', acquired_at = acquired_at + interval '1 hour'")
	err = vnfm.RetryWhileBusy(vnfm.WithLockTimeout(t.Context(), time.Minute), func() error {
		next, err := s.Acquire(t.Context(), "a", "another one")
		if errors.As(err, new(*store.HeldError)) {
			return &vnfm.BusyError{Object: "a"}
		}
		if err != nil {
			return err
		}
		return next.Release(t.Context())
	})
	require.NoError(t, err, "a lease that lives for an hour")
}

// serverSettings has settings that change how values look in texts.
func serverSettings(t *testing.T, server *pgtest.Server) {
	server.Exec(t, "postgres", "CREATE ROLE odd SUPERUSER LOGIN; ALTER ROLE odd SET bytea_output = escape; ALTER ROLE odd SET DateStyle = 'SQL, DMY'; "+
		"ALTER ROLE odd SET TimeZone = 'Asia/Kathmandu'; ALTER ROLE odd SET default_transaction_isolation = serializable; ALTER ROLE odd SET search_path = ''")
	s := openStore(t, Config{ConnStr: strings.Replace(server.ConnStr("postgres"), "user=postgres", "user=odd", 1), Schema: "odd"})
	r := store.Record{Kind: store.KindVIM, ID: "a", Data: []byte{0, 1, 2, 0xff}, Sealed: []byte(`\x00`)}
	require.NoError(t, s.Create(t.Context(), &r))
	got, err := s.Get(t.Context(), r.Kind, r.ID)
	if err != nil || string(got.Data) != string(r.Data) || string(got.Sealed) != string(r.Sealed) || !got.CreatedAt.Equal(r.CreatedAt) || time.Since(got.CreatedAt).Abs() > time.Hour {
		t.Errorf("Get = %+v, %v, want %+v", got, err, r)
	}
	l, err := s.Acquire(t.Context(), "a", process.Name())
	if err == nil {
		err = l.Release(t.Context())
	}
	require.NoError(t, err)
}

// serverSealed keeps contents sealed, as the engine does.
func serverSealed(t *testing.T, server *pgtest.Server) {
	keys, err := seal.New(seal.Source{KeyFile: filepath.Join(t.TempDir(), "key.txt")})
	require.NoError(t, err)
	inner := openStore(t, Config{ConnStr: server.ConnStr("postgres"), Schema: "sealed"})
	s := seal.NewStore(inner, keys)
	for _, content := range []string{"", strings.Repeat("a secret of a package ", 200_000)} {
		digest := store.Digest([]byte(content))
		for range 2 {
			require.NoError(t, s.PutBlob(t.Context(), digest, strings.NewReader(content)))
		}
		if got, err := readOne(t, s, content); err != nil || got != content {
			t.Errorf("a content of %d bytes reads as %d bytes, %v", len(content), len(got), err)
		}
	}
	var plain int
	require.NoError(t, inner.pool.QueryRow(t.Context(), "SELECT count(*) FROM sealed.chunks WHERE position('a secret'::bytea IN data) > 0").Scan(&plain), "chunks are plain")
	require.Equal(t, 0, plain, "chunks are plain")
	large := strings.Repeat("x", testContent)
	err = s.PutBlob(t.Context(), store.Digest([]byte(large)), strings.NewReader(large))
	require.ErrorAs(t, err, new(*store.TooLargeError), "a content that is too large when it is sealed")
}

// TestTLS connects to a server whose certificate has to be right.
func TestTLS(t *testing.T) {
	server := pgtest.Start(t)
	certificate, key := selfSigned(t, "127.0.0.1")
	ca := server.Write(t, "server.crt", string(certificate))
	server.Write(t, "server.key", string(key))
	server.Exec(t, "postgres", fmt.Sprintf("ALTER SYSTEM SET ssl_cert_file = '%s'", ca))
	server.Exec(t, "postgres", fmt.Sprintf("ALTER SYSTEM SET ssl_key_file = '%s/server.key'", server.Folder))
	server.Exec(t, "postgres", "ALTER SYSTEM SET ssl = on")
	server.Exec(t, "postgres", "SELECT pg_reload_conf()")
	user := func(parameters string) string {
		return server.URL(pgtest.Superuser, pgtest.Password, "postgres", parameters)
	}
	// The server reads its settings a moment later.
	trusted := openStore(t, Config{ConnStr: user("sslmode=verify-full&sslrootcert=" + ca), Schema: "tls"})
	for deadline := time.Now().Add(time.Minute); ; {
		err := createVIM(t.Context(), trusted, "a")
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "refused TLS") || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	_, err := openStore(t, Config{ConnStr: user("sslmode=verify-full"), Schema: "tls"}).Get(t.Context(), store.KindVIM, "a")
	wantError(t, err, "certificate", "sslrootcert=")
	other, _ := selfSigned(t, "localhost")
	_, err = openStore(t, Config{ConnStr: user("sslmode=verify-full&sslrootcert=" + server.Write(t, "other.pem", string(other))), Schema: "tls"}).Get(t.Context(), store.KindVIM, "a")
	wantError(t, err, "certificate", "sslrootcert=")
	require.NotContains(t, err.Error(), pgtest.Password, "error has the password")
}

func readAll(r io.ReadCloser) (string, error) {
	content, err := io.ReadAll(r)
	return string(content), errors.Join(err, r.Close())
}

func readOne(t *testing.T, s store.Store, content string) (string, error) {
	t.Helper()
	r, err := s.OpenBlob(t.Context(), store.Digest([]byte(content)))
	if err != nil {
		return "", err
	}
	return readAll(r)
}
