package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// verifyFull is what a connection to another host has to say, and says by default.
const verifyFull = "sslmode=verify-full"

// place names a store in texts, without any secret.
type place struct {
	// hosts are addresses with ports, separated by commas.
	hosts, database, user, schema string
	// mask hides the password in texts of others.
	mask *vnfm.Mask
	// given is the advice that the user has been given.
	given *store.Given
}

func (p *place) name() string {
	return fmt.Sprintf("PostgreSQL store %s/%s, schema %s", p.hosts, p.database, p.schema)
}

// endpoint is one of the servers that are tried.
type endpoint struct {
	host string
	port uint16
	tls  *tls.Config
}

func endpoints(c *pgx.ConnConfig) []endpoint {
	all := []endpoint{{host: c.Host, port: c.Port, tls: c.TLSConfig}}
	for _, f := range c.Fallbacks {
		all = append(all, endpoint{host: f.Host, port: f.Port, tls: f.TLSConfig})
	}
	return all
}

// isLocal tells a socket of this machine and its loopback addresses.
func (e endpoint) isLocal() bool {
	if network, _ := pgconn.NetworkAddress(e.host, e.port); network == "unix" || e.host == "localhost" {
		return true
	}
	return net.ParseIP(e.host).IsLoopback()
}

// isVerified reports whether the certificate of the server is checked: the host name, or at
// least that one of the user's own authorities has signed it.
func (e endpoint) isVerified() bool {
	if e.tls == nil {
		return false
	}
	return !e.tls.InsecureSkipVerify || e.tls.VerifyPeerCertificate != nil && e.tls.RootCAs != nil
}

// parseConfig reads a configuration. Connections to other hosts are verified.
func parseConfig(c Config) (*pgxpool.Config, place, error) {
	schema := c.Schema
	if schema == "" {
		schema = DefaultSchema
	}
	if err := checkSchema(schema); err != nil {
		return nil, place{}, err
	}
	parsed, err := parse(c.ConnStr)
	if err != nil {
		return nil, place{}, err
	}
	stated := statedMode(c.ConnStr)
	if remote(parsed.ConnConfig) && stated == "" {
		if parsed, err = parse(withMode(c.ConnStr)); err != nil {
			return nil, place{}, err
		}
	}
	for _, e := range endpoints(parsed.ConnConfig) {
		if e.isLocal() || e.isVerified() && stated != "require" {
			continue
		}
		return nil, place{}, fmt.Errorf("PostgreSQL store: the connection to %s is not verified (%s): credentials and records could be read or changed on the way: write %s, or leave sslmode out; "+
			"when the server's certificate is not signed by a public authority, name a file with its CA: sslrootcert=/path/to/ca.pem", e.host, modeText(stated), verifyFull)
	}

	// A login takes several round trips: those of all connections go at once, and none is waited for later.
	parsed.MaxConns, parsed.MinConns, parsed.MinIdleConns = maxConns, maxConns, 0
	// Parameters and results have their types, whatever the server's settings of text formats
	// are. Nothing is prepared: descriptions of statements are kept here.
	parsed.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	// Who uses a connection that was cut tries again.
	parsed.ShouldPing = noPing
	if parsed.ConnConfig.ConnectTimeout == 0 {
		parsed.ConnConfig.ConnectTimeout = connectTimeout
	}
	if parsed.ConnConfig.RuntimeParams["application_name"] == "" {
		parsed.ConnConfig.RuntimeParams["application_name"] = strings.TrimSuffix("terraform-provider-vnf/"+c.Release, "/")
	}
	return parsed, placeOf(parsed.ConnConfig, schema), nil
}

func placeOf(c *pgx.ConnConfig, schema string) place {
	p := place{database: c.Database, user: c.User, schema: schema, mask: vnfm.NewMask(), given: &store.Given{}}
	if p.database == "" {
		// As the server has it.
		p.database = c.User
	}
	if c.Password != "" {
		p.mask = vnfm.NewMask(c.Password)
	}
	var hosts []string
	for _, e := range endpoints(c) {
		address := net.JoinHostPort(e.host, strconv.Itoa(int(e.port)))
		if network, path := pgconn.NetworkAddress(e.host, e.port); network == "unix" {
			address = path
		}
		// Hosts are listed once for each way to use TLS.
		if len(hosts) == 0 || hosts[len(hosts)-1] != address {
			hosts = append(hosts, address)
		}
	}
	p.hosts = strings.Join(hosts, ",")
	return p
}

// checkSchema refuses names that PostgreSQL cuts off or keeps for itself.
func checkSchema(name string) error {
	const maxName = 63
	if len(name) > maxName || strings.HasPrefix(name, "pg_") || name == "information_schema" || strings.ContainsRune(name, 0) {
		return fmt.Errorf("PostgreSQL store: the schema cannot be named %q: choose a name of at most %d bytes that does not begin with pg_", name, maxName)
	}
	return nil
}

func remote(c *pgx.ConnConfig) bool {
	return slices.ContainsFunc(endpoints(c), func(e endpoint) bool { return !e.isLocal() })
}

func isURL(connStr string) bool {
	return strings.HasPrefix(connStr, "postgres://") || strings.HasPrefix(connStr, "postgresql://")
}

var (
	urlMode   = lazyregexp.New(`[?&]sslmode=([a-z-]*)`)
	pairsMode = lazyregexp.New(`(?:^|\s)sslmode\s*=\s*'?([a-z-]*)`)
)

// statedMode returns the sslmode that the user has set, empty for none. A text that only
// looks like one counts as one: then the connection must turn out to be verified.
func statedMode(connStr string) string {
	pattern := pairsMode
	if isURL(connStr) {
		pattern = urlMode
	}
	if found := pattern.FindStringSubmatch(connStr); found != nil {
		return found[1]
	}
	return os.Getenv("PGSSLMODE")
}

// withMode adds verification to a connection string that says nothing of it.
func withMode(connStr string) string {
	switch {
	case !isURL(connStr):
		return strings.TrimSpace(connStr + " " + verifyFull)
	case strings.Contains(connStr, "?"):
		return connStr + "&" + verifyFull
	default:
		return connStr + "?" + verifyFull
	}
}

func modeText(stated string) string {
	if stated == "" {
		return "no sslmode is set where it takes effect"
	}
	return "sslmode=" + stated
}

// parse reads a connection string. The error quotes nothing of it: its parts cannot be told
// from the password when it is malformed.
func parse(connStr string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(connStr)
	if err == nil {
		return config, nil
	}
	// These are the driver's texts for a part that it has understood.
	for _, part := range []string{"failed to configure TLS", "failed to read service"} {
		if strings.Contains(err.Error(), "`: "+part) {
			return nil, fmt.Errorf("PostgreSQL store: the connection string cannot be used: %s: %s", part, reason(err))
		}
	}
	// A "/" in the password of a URL ends the host before it.
	hint := ""
	if isURL(connStr) {
		hint = "; " + escapeHint
	}
	for _, part := range []string{"invalid port", "invalid connect_timeout", "unknown target_session_attrs", "unknown channel_binding", "invalid require_auth"} {
		if strings.Contains(err.Error(), "`: "+part) {
			return nil, fmt.Errorf("PostgreSQL store: the connection string cannot be used: %s value%s", part, hint)
		}
	}
	return nil, errors.New("PostgreSQL store: the connection string cannot be read: write a URL (postgres://user@host:5432/database) or pairs (host=… port=5432 dbname=… user=…); " +
		escapeHint)
}

// escapeHint is for a password that ends the URL early.
const escapeHint = "in a URL, special characters of the password are written as %XX; or leave the password to PGPASSWORD or a password file"

// reason is the cause of an error about a connection string, without the string.
func reason(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return "a file that it names cannot be read"
}

func noPing(context.Context, pgxpool.ShouldPingParams) bool { return false }
