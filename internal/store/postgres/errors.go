package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// SQLSTATE codes and the first characters of classes of them.
const (
	classConnection = "08"
	// classOperator is that of a server that is stopped or started.
	classOperator = "57P"

	codeQueryCancelled     = "57014"
	codeUniqueViolation    = "23505"
	codeReadOnly           = "25006"
	codeIdleTimeout        = "25P03"
	codePassword           = "28P01"
	codeAuthorization      = "28000"
	codeNoDatabase         = "3D000"
	codeNoSchema           = "3F000"
	codeSerialization      = "40001"
	codeUnknownCompletion  = "40003"
	codeDeadlock           = "40P01"
	codeNoRight            = "42501"
	codeUndefinedColumn    = "42703"
	codeUndefinedTable     = "42P01"
	codeDiskFull           = "53100"
	codeTooManyConnections = "53300"
	codeLockTimeout        = "55P03"
)

// code returns the SQLSTATE of an error of the server, empty for other errors.
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// isDuplicate reports whether a row with the same unique values exists.
func isDuplicate(err error) bool { return code(err) == codeUniqueViolation }

// explain says which store could not do what, and what can be done about it.
func (s *place) explain(doing string, err error) error {
	explained := s.failure(doing, said(err), err)
	if c := code(err); c == codeNoRight || c == codeReadOnly {
		// Who may not read meets it in the read that comes before each write.
		return store.RefusedWrite(explained)
	}
	return explained
}

// ended is the error of work that the end of ctx has stopped. last is what went wrong before, nil for nothing.
func (s *place) ended(ctx context.Context, doing string, last error) error {
	cause := context.Cause(ctx)
	_, connecting := errors.AsType[*pgconn.ConnectError](last)
	switch {
	case last == nil, errors.Is(last, cause) && !connecting:
		return fmt.Errorf("%s: %s: %w", s.name(), doing, cause)
	case errors.Is(last, cause):
		return s.failure(doing, said(last), last)
	default:
		failed := s.failure(doing, cause.Error()+"; the last error was: "+said(last), last)
		failed.Err = errors.Join(cause, last)
		return failed
	}
}

func (s *place) failure(doing, said string, err error) *store.Error {
	text, advice := fmt.Sprintf("%s: %s: %s", s.name(), doing, said), s.advice(err)
	if advice != "" {
		text += "; " + advice
	}
	return &store.Error{Store: s.name(), Text: s.mask.Hide(text), Advice: advice, Err: err, Given: s.given}
}

// said is the text of an error on one line: the driver lists what it has tried on several.
func said(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), "\n\t", " "), "\n", "; ")
}

func (s *place) advice(err error) string {
	switch code(err) {
	case codePassword:
		return "correct user and password in the connection string, in PGPASSWORD or in the password file"
	case codeAuthorization:
		return fmt.Sprintf("have the server admit user %s from this machine to database %s, over TLS (pg_hba.conf), or connect as another user", s.user, s.database)
	case codeNoDatabase:
		return fmt.Sprintf("have an administrator make it (CREATE DATABASE %s), or name another one in the connection string", s.database)
	case codeNoRight:
		return fmt.Sprintf("have an administrator give user %[1]s a schema of its own (CREATE SCHEMA %[2]s AUTHORIZATION %[1]s), or the rights on that of another one "+
			"(GRANT USAGE ON SCHEMA %[2]s; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[2]s)", s.user, s.schema)
	case codeReadOnly:
		return "only plans work there: name the primary server, or all servers with target_session_attrs=read-write, and look for default_transaction_read_only"
	case codeDiskFull:
		return "the disk of the server is full: make room there and try again"
	case codeTooManyConnections:
		return "raise max_connections of the server, or connect through a pooler such as PgBouncer"
	case codeUndefinedTable, codeNoSchema, codeUndefinedColumn:
		return "the tables were removed or changed by hand: restore a backup, or drop the schema and apply again, which repairs an empty store"
	case codeLockTimeout, codeDeadlock, codeSerialization:
		return "other transactions lock the tables: see pg_stat_activity and pg_locks for which, end what hangs, and try again"
	case "":
		return s.adviceOffline(err)
	default:
		return ""
	}
}

// adviceOffline is for errors that the server did not send.
func (s *place) adviceOffline(err error) string {
	switch {
	case errors.Is(err, errNewerFormat):
		return "use that release, or another schema"
	case errors.Is(err, errForeign):
		return "name another schema"
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return "switch TLS on there (ssl = on, with a certificate): without it, only a server of the same machine is used, with sslmode=disable"
	case isUntrusted(err):
		return "name a file with the CA that signed the server's certificate (sslrootcert=/path/to/ca.pem), and the host as its certificate does"
	case isConnect(err):
		return "check host and port of the connection string, that the server listens there, and that no firewall is in between"
	default:
		return ""
	}
}

func isConnect(err error) bool {
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return connecting || isCut(err)
}

// isUntrusted reports whether the certificate of the server was refused.
func isUntrusted(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, host := errors.AsType[x509.HostnameError](err)
	return authority || host
}
