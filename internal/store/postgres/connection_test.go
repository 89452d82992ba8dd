package postgres

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// withoutLibpq takes the variables of libpq away that this machine may have.
func withoutLibpq(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, value)
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

// caFile writes a file with a CA.
func caFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	certificate, _ := selfSigned(t, "db.example.com")
	require.NoError(t, os.WriteFile(path, certificate, 0o600))
	return path
}

func TestTLSIsVerified(t *testing.T) {
	withoutLibpq(t)
	ca := caFile(t)
	for connStr, want := range map[string]string{
		// Other hosts.
		"postgres://u:secret-pw@db.example.com/d":                             "verified",
		"postgresql://u:secret-pw@db.example.com/d?application_name=x":        "verified",
		"host=db.example.com user=u password=secret-pw":                       "verified",
		"postgres://u:secret-pw@db.example.com/d?sslmode=verify-full":         "verified",
		"postgres://u:secret-pw#1@db.example.com/d#x":                         "verified",
		"host=db.example.com sslmode=verify-ca sslrootcert=" + ca:             "verified",
		"host=db.example.com sslrootcert=" + ca:                               "verified",
		"host=10.1.2.3,10.1.2.4 user=u":                                       "verified",
		"host=localhost,db.example.com user=u":                                "verified",
		"postgres://u:secret-pw@db.example.com/d?sslmode=disable":             "sslmode=disable",
		"postgres://u:secret-pw@db.example.com/d?a=b&sslmode=allow":           "sslmode=allow",
		"host=db.example.com sslmode = 'prefer' password=secret-pw":           "sslmode=prefer",
		"host=db.example.com sslmode=require password=secret-pw":              "sslmode=require",
		"host=db.example.com sslmode=require sslrootcert=" + ca:               "sslmode=require",
		"host=db.example.com sslmode=verify-ca":                               "sslmode=verify-ca",
		"host=localhost,db.example.com sslmode=disable":                       "sslmode=disable",
		"postgres://u:secret-pw?@db.example.com/d":                            "no sslmode is set where it takes effect",
		"host=db.example.com password='secret-pw sslmode=verify-full' user=u": "sslmode=verify-full",
		"host=db.example.com password='secret-pw sslmode=disable' user=u":     "sslmode=disable",
		// This machine.
		"host=localhost user=u":                   "local",
		"host=127.0.0.1 user=u":                   "local",
		"postgres://u:secret-pw@[::1]:5433/d":     "local",
		"host=/var/run/postgresql sslmode=prefer": "local",
		"host=127.0.0.1 sslmode=disable":          "local",
		"":                                        "local",
	} {
		t.Run(connStr, func(t *testing.T) {
			config, _, err := parseConfig(Config{ConnStr: connStr})
			switch want {
			case "local":
				require.NoError(t, err)
			case "verified":
				require.NoError(t, err)
				for _, e := range endpoints(config.ConnConfig) {
					if !e.isLocal() && !e.isVerified() {
						t.Errorf("the connection to %s is not verified", e.host)
					}
				}
			default:
				wantError(t, err, want, "write sslmode=verify-full", "sslrootcert=")
			}
		})
	}
	t.Run("by the environment", func(t *testing.T) {
		t.Setenv("PGSSLMODE", "require")
		_, _, err := parseConfig(Config{ConnStr: "host=db.example.com"})
		wantError(t, err, "sslmode=require", "write sslmode=verify-full")
	})
}

// wantError checks that an error says all of that, and no password.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.Error(t, err, "no error, want one that says %q", parts)
	for _, part := range parts {
		require.ErrorContains(t, err, part, "error does not say")
	}
	require.NotContains(t, err.Error(), "secret-pw", "error has the password")
}

func TestMalformedConnectionStrings(t *testing.T) {
	withoutLibpq(t)
	for connStr, want := range map[string]string{
		"postgres://u:secret-pw/1@host/d":                                "special characters of the password",
		"postgres://u:secret-pw%@host/d":                                 "special characters of the password",
		"postgres://u:secret-pw@host:port/d":                             "invalid port value",
		"secret-pw":                                                      "write a URL",
		"host=h password='secret-pw":                                     "write a URL",
		"host=localhost port=secret-pw":                                  "invalid port value",
		"host=localhost port=99999 password=secret-pw":                   "invalid port value",
		"host=localhost connect_timeout=secret-pw":                       "invalid connect_timeout value",
		"host=localhost target_session_attrs=secret-pw":                  "unknown target_session_attrs value",
		"host=db.example.com sslrootcert=/no/such/ca password=secret-pw": "/no/such/ca",
		"host=localhost sslmode=full password=secret-pw":                 "sslmode is invalid",
		"service=none password=secret-pw":                                "failed to read service",
	} {
		_, _, err := parseConfig(Config{ConnStr: connStr})
		wantError(t, err, "PostgreSQL store", want)
	}
	for _, schema := range []string{"pg_vnf", "information_schema", strings.Repeat("x", 64), "a\x00b"} {
		_, _, err := parseConfig(Config{Schema: schema})
		wantError(t, err, "the schema cannot be named", "choose a name")
	}
}

func TestPlace(t *testing.T) {
	withoutLibpq(t)
	for connStr, want := range map[string]string{
		"postgres://u:secret-pw@db.example.com/infra":                     "PostgreSQL store db.example.com:5432/infra, schema vnf",
		"host=a,b port=1,2 user=u":                                        "PostgreSQL store a:1,b:2/u, schema vnf",
		"host=localhost user=u dbname=d":                                  "PostgreSQL store localhost:5432/d, schema vnf",
		"host=/run/pg port=5433 user=u dbname=d":                          "PostgreSQL store /run/pg/.s.PGSQL.5433/d, schema vnf",
		"host=localhost user=u dbname=secret-pw-in-it password=secret-pw": "PostgreSQL store localhost:5432/",
	} {
		_, at, err := parseConfig(Config{ConnStr: connStr})
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(at.name(), want), "name of %s", connStr)
	}
}

// TestErrors looks at what is said of each error of a server.
func TestErrors(t *testing.T) {
	at := place{hosts: "db.example.com:5432", database: "infra", user: "runner", schema: "vnf", mask: vnfm.NewMask("secret-pw")}
	server := func(code, message string) error {
		return fmt.Errorf("while: %w", &pgconn.PgError{Severity: "ERROR", Code: code, Message: message})
	}
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"wrong password":  {server("28P01", `password authentication failed for user "runner"`), []string{"password authentication failed", "PGPASSWORD"}},
		"not admitted":    {server("28000", "no pg_hba.conf entry for host"), []string{"no pg_hba.conf entry", "admit user runner", "TLS"}},
		"no database":     {server("3D000", `database "infra" does not exist`), []string{"does not exist", "CREATE DATABASE infra"}},
		"no right":        {server("42501", "permission denied for database infra"), []string{"permission denied", "CREATE SCHEMA vnf AUTHORIZATION runner", "GRANT USAGE ON SCHEMA vnf"}},
		"hot standby":     {server("25006", "cannot execute INSERT in a read-only transaction"), []string{"read-only transaction", "primary", "target_session_attrs=read-write"}},
		"disk full":       {server("53100", "could not extend file"), []string{"could not extend file", "disk of the server is full"}},
		"connections":     {server("53300", "sorry, too many clients already"), []string{"too many clients", "max_connections", "PgBouncer"}},
		"locked":          {server("55P03", "canceling statement due to lock timeout"), []string{"lock timeout", "pg_stat_activity"}},
		"dropped tables":  {server("42P01", `relation "vnf.records" does not exist`), []string{"does not exist", "restore a backup"}},
		"newer format":    {checkFormat(7, "v9.0.0"), []string{"format 7", "newer release", "v9.0.0", "use that release"}},
		"foreign tables":  {errForeign, []string{"another application", "name another schema"}},
		"no TLS":          {errors.New("tls error: server refused TLS connection"), []string{"refused TLS", "ssl = on"}},
		"other authority": {fmt.Errorf("tls: %w", x509.UnknownAuthorityError{}), []string{"unknown authority", "sslrootcert="}},
		"other host":      {fmt.Errorf("tls: %w", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "db"}), []string{"sslrootcert="}},
		"refused":         {&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, []string{"refused", "check host and port"}},
		"cut":             {io.ErrUnexpectedEOF, []string{"EOF", "check host and port"}},
		"quotes":          {errors.New("no such option secret-pw"), []string{"no such option"}},
		"several lines":   {errors.New("failed:\n\tone\n\ttwo\nthree"), []string{"failed: one two; three"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := at.explain("doing something", test.err)
			wantError(t, err, append(test.want, "PostgreSQL store db.example.com:5432/infra, schema vnf: doing something: ")...)
			require.ErrorIs(t, err, test.err, "the cause is lost")
		})
	}
}

// TestPassing lists what is tried again.
func TestPassing(t *testing.T) {
	for code, want := range map[string]bool{
		"40001": true, "40P01": true, "55P03": true, "25P03": true, "57P01": true, "57P03": true, "53300": true, "08006": true,
		"57014": false, "23505": false, "28P01": false, "42501": false, "53100": false, "25006": false,
	} {
		require.Equal(t, want, isPassing(&pgconn.PgError{Code: code}), "%s passes", code)
	}
	for code, want := range map[string]bool{"40003": true, "57P01": true, "08006": true, "40001": false, "23505": false} {
		require.Equal(t, want, isUnsure(&pgconn.PgError{Code: code}), "a commit that fails with %s is unsure", code)
	}
	if !isUnsure(io.ErrUnexpectedEOF) || !isPassing(io.EOF) || isPassing(errors.New("something else")) {
		t.Error("errors of connections are taken for others")
	}
}

// TestPoolers looks at what a pooler in transaction mode does not bear: prepared statements,
// and parameters of a session that it does not know.
func TestPoolers(t *testing.T) {
	withoutLibpq(t)
	config, _, err := parseConfig(Config{ConnStr: "host=localhost user=u", Release: "v1.2.3"})
	require.NoError(t, err)
	require.Equal(t, "cache describe", config.ConnConfig.DefaultQueryExecMode.String(), "statements are executed in the mode")
	require.Equal(t, "map[application_name:terraform-provider-vnf/v1.2.3]", fmt.Sprint(config.ConnConfig.RuntimeParams), "parameters of the session")
	require.False(t, noPing(t.Context(), pgxpool.ShouldPingParams{}), "each request costs two")
}
