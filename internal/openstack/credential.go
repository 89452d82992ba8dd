package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ApplicationCredential is one of Keystone's. Its secret is there only in the answer to
// its creation.
type ApplicationCredential struct {
	ID     string
	Name   string
	UserID string
	Secret vnfm.Secret
}

type wireCredential struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

func credentialsPath(userID string) string {
	return "/users/" + url.PathEscape(userID) + "/application_credentials"
}

// Owner is as whom and where the client works.
func (c *Client) Owner(ctx context.Context) (userID, projectID string, err error) {
	id, err := c.authenticated(ctx)
	if err != nil {
		return "", "", err
	}
	return id.user.ID, id.project.ID, nil
}

// NewApplicationCredential describes one that is to be made.
type NewApplicationCredential struct {
	Name        string
	Description string
	// Roles are the names of its roles; empty means all that its user has.
	Roles []string
	// ExpiresAt is when it expires; zero for never.
	ExpiresAt time.Time
}

// CreateApplicationCredential makes an application credential of the client's own user,
// in its project. It may not make or remove others.
func (c *Client) CreateApplicationCredential(ctx context.Context, n NewApplicationCredential) (*ApplicationCredential, error) {
	id, err := c.authenticated(ctx)
	if err != nil {
		return nil, err
	}
	wanted := map[string]any{"name": n.Name, "description": n.Description, "unrestricted": false}
	if !n.ExpiresAt.IsZero() {
		wanted["expires_at"] = n.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	if len(n.Roles) > 0 {
		named := make([]map[string]string, 0, len(n.Roles))
		for _, role := range n.Roles {
			named = append(named, map[string]string{"name": role})
		}
		wanted["roles"] = named
	}
	var answer struct {
		Credential wireCredential `json:"application_credential"`
	}
	err = c.do(ctx, call{
		doing: fmt.Sprintf("making application credential %q of user %s", n.Name, id.user.Name), service: ServiceIdentity,
		method: http.MethodPost, path: credentialsPath(id.user.ID), ok: []int{http.StatusCreated},
		body: map[string]any{"application_credential": wanted}, out: &answer,
	})
	if IsForbidden(err) && c.access.secret != "" {
		return nil, fmt.Errorf("%w; %s itself authenticates with an application credential, and a restricted one cannot create others: give the VIM one that was created with --unrestricted, or a password", err, c.peer.Name)
	}
	if err != nil {
		return nil, err
	}
	made := answer.Credential
	vnfm.Conceal(ctx, made.Secret)
	return &ApplicationCredential{ID: made.ID, Name: made.Name, UserID: id.user.ID, Secret: vnfm.Secret(made.Secret)}, nil
}

// ApplicationCredentials lists those of the client's own user.
func (c *Client) ApplicationCredentials(ctx context.Context) ([]ApplicationCredential, error) {
	id, err := c.authenticated(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list[wireCredential](ctx, c, call{
		doing: "listing the application credentials of user " + id.user.Name, service: ServiceIdentity, path: credentialsPath(id.user.ID),
	}, "application_credentials")
	if err != nil {
		return nil, err
	}
	out := make([]ApplicationCredential, 0, len(all))
	for _, each := range all {
		out = append(out, ApplicationCredential{ID: each.ID, Name: each.Name, UserID: id.user.ID})
	}
	return out, nil
}

// DeleteApplicationCredential removes an application credential of a user. One that is
// not there is success.
func (c *Client) DeleteApplicationCredential(ctx context.Context, userID, id string) error {
	err := c.do(ctx, call{
		doing: fmt.Sprintf("removing application credential %s of user %s", id, userID), service: ServiceIdentity,
		method: http.MethodDelete, path: credentialsPath(userID) + "/" + url.PathEscape(id), ok: []int{http.StatusNoContent},
	})
	if IsNotFound(err) {
		return nil
	}
	return err
}

// Try authenticates with an application credential at the Keystone of a connection.
func (p *Pool) Try(ctx context.Context, vim string, at vnfm.OpenStackConnection, id string, secret vnfm.Secret) error {
	client, err := p.Fresh(vim, vnfm.OpenStackConnection{
		AuthURL: at.AuthURL, Region: at.Region, Interface: at.Interface, CACertificate: at.CACertificate, InsecureSkipTLSVerify: at.InsecureSkipTLSVerify,
		ApplicationCredentialID: id,
	}, vnfm.Credentials{vnfm.CredentialApplicationSecret: secret})
	if err != nil {
		return err
	}
	_, err = client.authenticated(ctx)
	return err
}
