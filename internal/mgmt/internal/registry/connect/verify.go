package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Verify checks from the node that each registry answers, has a certificate that the node trusts, and accepts the user.
func Verify(ctx context.Context, client *remote.Client, connections []Connection) error {
	var errs []error
	for _, c := range connections {
		if err := c.verify(ctx, client); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c Connection) verify(ctx context.Context, client *remote.Client) error {
	endpoint := Endpoint{
		Server: c.Server, Secure: c.Type == HTTPS, Authorities: c.Certificate, Username: c.Username, Password: c.Password,
	}
	answer, err := endpoint.Ping(ctx, client)
	if err != nil {
		return fmt.Errorf("registry %s is unreachable from node %s: %w", c.Server, client.Name(), err)
	}
	// A registry with token authentication answers 401 to every login here.
	if c.Username != "" && answer.Status == http.StatusUnauthorized && !answer.Tokens {
		return fmt.Errorf("registry %s rejects user %q: check username and password", c.Server, c.Username)
	}
	return nil
}
