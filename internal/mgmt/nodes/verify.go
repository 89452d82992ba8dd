package nodes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/distribution"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// systemAuthorities are those that a Debian or Ubuntu knows.
const systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

// Verify asks each registry, from the node, whether it answers, has a certificate that the
// node trusts, and takes the user.
func Verify(ctx context.Context, client *remote.Client, connections []Connection) error {
	var errs []error
	for _, c := range connections {
		if err := verify(ctx, client, c); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func verify(ctx context.Context, client *remote.Client, c Connection) error {
	endpoint := distribution.Endpoint{Server: c.Server, Username: c.Username, Password: c.Password, Dial: client.DialContext}
	if c.Type == HTTPS {
		roots, err := authorities(ctx, client, c)
		if err != nil {
			return err
		}
		endpoint.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	answer, err := endpoint.Ping(ctx)
	if err != nil {
		return fmt.Errorf("registry %s is unreachable from node %s: %w", c.Server, client.Name(), err)
	}
	// One that hands out tokens wants a user of everybody who asks here.
	if c.Username != "" && answer.Status == http.StatusUnauthorized && !answer.Tokens {
		return fmt.Errorf("registry %s refuses user %q: check username and password", c.Server, c.Username)
	}
	return nil
}

// authorities are those that the node trusts for a registry; nil leaves them to this
// machine.
func authorities(ctx context.Context, client *remote.Client, c Connection) (*x509.CertPool, error) {
	pem, err := client.ReadFile(ctx, systemAuthorities, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading whom node %s trusts: %w", client.Name(), err)
	}
	roots := x509.NewCertPool()
	if known := roots.AppendCertsFromPEM(append(pem, c.Certificate...)); !known {
		return nil, nil
	}
	return roots, nil
}
