package connect

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Type is the protocol of a registry.
type Type string

// The types of connections.
const (
	HTTP  Type = "http"
	HTTPS Type = "https"
)

// Connection is the access of nodes to one private registry.
type Connection struct {
	Type Type
	// Server is host[:port], as in the names of images.
	Server string
	// Username and Password are both set or both empty.
	Username string
	Password vnfm.Secret
	// Certificate is the PEM bundle of CAs for the registry; empty means the CAs that the node trusts.
	Certificate string
	// HostsString is a line for /etc/hosts, "<address> <name>…"; empty if unset.
	HostsString string
}

func (c Connection) url() string { return string(c.Type) + "://" + c.Server }

// basic is user and password in the encoding of HTTP and Docker; empty without a user.
func (c Connection) basic() string {
	if c.Username == "" {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password.Reveal()))
}

var (
	hostForm     = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	hostnameForm = lazyregexp.New(`^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$`)
)

// checkServer returns an error for an invalid name of a registry.
func checkServer(server string) error {
	if scheme, rest, ok := strings.Cut(server, "://"); ok {
		return fmt.Errorf("it is a URL: remove %s:// and write %s; connection_type selects the protocol", scheme, strings.TrimRight(rest, "/"))
	}
	if strings.Contains(server, "/") {
		return errors.New("it has a path: a registry is host or host:port")
	}
	host, port := server, ""
	if at := strings.LastIndex(server, ":"); at >= 0 && !strings.HasSuffix(server, "]") {
		host, port = server[:at], server[at+1:]
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("%q is not a port: a port is 1 to 65535", port)
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if address, err := netip.ParseAddr(strings.TrimSuffix(inner, "]")); err != nil || !address.Is6() || address.Zone() != "" {
			return fmt.Errorf("%q is not an IPv6 address", host)
		}
		return nil
	}
	if !hostForm.MatchString(host) {
		return fmt.Errorf("%q is neither a host name in lower case nor an IP address", host)
	}
	return nil
}

// hostsLine parses a line for /etc/hosts.
func hostsLine(text string) (address netip.Addr, names []string, err error) {
	fields := strings.Fields(text)
	if strings.ContainsAny(text, "\r\n#") || len(fields) < 2 {
		return address, nil, errors.New(`the form is "<IP address> <name>…" on one line, for example "192.168.0.20 registry.example.com"`)
	}
	if address, err = netip.ParseAddr(fields[0]); err != nil {
		return address, nil, fmt.Errorf("%q is not an IP address; the form is \"<IP address> <name>…\"", fields[0])
	}
	for _, name := range fields[1:] {
		if !hostnameForm.MatchString(name) {
			return address, nil, fmt.Errorf("%q is not a host name", name)
		}
	}
	return address, fields[1:], nil
}

// checkAuthorities returns an error for an invalid PEM bundle of CAs.
func checkAuthorities(bundle string, now time.Time) error {
	found := 0
	for rest := []byte(bundle); ; {
		block, more := pem.Decode(rest)
		if block == nil {
			break
		}
		rest = more
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return errors.New("it holds a private key, which the nodes must not have: give the certificate of the authority alone")
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("its certificate %d cannot be read: %w", found+1, err)
		}
		if now.After(certificate.NotAfter) {
			return fmt.Errorf("its certificate %d, of %s, expired at %s", found+1, certificate.Subject, certificate.NotAfter.UTC().Format(time.RFC3339))
		}
		found++
	}
	if found == 0 {
		return errors.New("it holds no certificate: a PEM block CERTIFICATE is expected")
	}
	return nil
}
