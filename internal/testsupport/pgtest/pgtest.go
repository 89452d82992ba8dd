// Package pgtest gives tests a PostgreSQL server: that of Debian's package postgresql, with
// a directory and a port of its own. A test that needs it is skipped where it is not
// installed, and fails there when LAB_REQUIRE is "all".
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
)

// Superuser and Password are those of the user who may do everything. The password is asked
// for over TCP alone.
const (
	Superuser = "postgres"
	Password  = "a-Passw0rd/of:the@test"
)

// startTimeout bounds the start of a server, and is longer than it takes on a busy machine.
const startTimeout = 2 * time.Minute

// Server is a server that runs until its test ends. It keeps nothing safe: it neither syncs
// nor checks anything that costs time.
type Server struct {
	// Folder holds the socket, Port is that of the socket and of 127.0.0.1.
	Folder string
	Port   int

	bin  string
	user *credential
	log  *bytes.Buffer
}

// Start starts a server with settings of postgresql.conf, "name=value".
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	labtest.NotShort(t, "PostgreSQL")
	bin, err := programs()
	if err != nil {
		labtest.Missing(t, fmt.Sprintf("PostgreSQL: %v: install the Debian package postgresql", err))
	}
	who, err := unprivileged()
	if err != nil {
		labtest.Missing(t, fmt.Sprintf("PostgreSQL: %v", err))
	}
	folder, err := newFolder(t)
	require.NoError(t, err)
	s := &Server{Folder: folder, bin: bin, user: who, log: &bytes.Buffer{}}
	s.Write(t, "password", Password)
	require.NoError(t, who.own(folder))
	initdb := s.command("initdb", "--pgdata", s.data(), "--username", Superuser, "--pwfile", filepath.Join(folder, "password"),
		"--auth-local", "trust", "--auth-host", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	out, err := initdb.CombinedOutput()
	require.NoError(t, err, "initdb: %v\n%s", err, out)
	s.serve(t, settings)
	return s
}

// newFolder makes the folder of a server. The folders of a test are closed to the user of the server. This one is inside of one
// that is ours, with a name by which `lab sweep` removes it when this process was killed.
func newFolder(t testing.TB) (string, error) {
	t.Helper()
	outer, err := os.MkdirTemp("", fmt.Sprintf("vnf-postgres.%d.", os.Getpid())) //nolint:usetesting // See above.
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = os.RemoveAll(outer) })
	if err := os.Chmod(outer, 0o711); err != nil { //nolint:gosec // The user of the server passes through.
		return "", err
	}
	folder := filepath.Join(outer, "server")
	return folder, os.Mkdir(folder, 0o700)
}

func (s *Server) data() string { return filepath.Join(s.Folder, "data") }

// Write writes a file that the server can read, before or while it runs, and returns its path.
func (s *Server) Write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(s.Folder, name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, s.user.own(path))
	return path
}

// programs finds the folder of initdb and postgres, which is not in PATH on Debian.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("initdb is neither in PATH nor below /usr/lib/postgresql")
	}
	// The newest of the same number of digits.
	return filepath.Dir(slices.Max(found)), nil
}

func (s *Server) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, program), args...) //nolint:gosec,noctx // A program of the package; who starts it ends it.
	cmd.Dir = s.Folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = s.user.process()
	return cmd
}

// serve starts the server on a free port, and stops it when the test ends.
func (s *Server) serve(t testing.TB, settings []string) {
	t.Helper()
	const tries = 5
	for try := 1; ; try++ {
		s.Port = porttest.Free(t)
		stop, err := s.start(t.Context(), settings)
		if err == nil {
			t.Cleanup(stop)
			return
		}
		// Somebody else may have taken the port.
		require.NotEqual(t, tries, try)
		require.Contains(t, s.log.String(), "Address already in use", "PostgreSQL does not start: %v\n%s", err, s.log)
	}
}

func (s *Server) start(ctx context.Context, settings []string) (stop func(), err error) {
	args := []string{"-D", s.data(), "-k", s.Folder, "-p", strconv.Itoa(s.Port)}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1", "fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off",
		"shared_buffers=32MB", "wal_level=minimal", "max_wal_senders=0",
	}, settings...) {
		args = append(args, "-c", setting)
	}
	s.log.Reset()
	cmd := s.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		// The server ends with the thread that has started it.
		keepThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	stop = func() {
		// At once; the processes of its connections end with it.
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.ConnStr("postgres"))
		if err == nil {
			return stop, conn.Close(ctx)
		}
		select {
		case <-ended:
			return nil, err
		case <-ctx.Done():
			stop()
			return nil, err
		default:
			_ = poll.Sleep(ctx, 20*time.Millisecond)
		}
	}
}

// ConnStr is the connection of the superuser to a database, through the socket.
func (s *Server) ConnStr(database string) string {
	return fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=disable", s.Folder, s.Port, Superuser, database)
}

// URL is the connection of a user to a database over TCP, with parameters ("sslmode=disable").
func (s *Server) URL(user, password, database, parameters string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(user, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)),
		Path: "/" + database, RawQuery: parameters,
	}
	return u.String()
}

// Exec has the superuser run statements in a database.
func (s *Server) Exec(t testing.TB, database, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.ConnStr(database))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), statements)
	require.NoError(t, errors.Join(err, conn.Close(t.Context())), "%s", statements)
}
