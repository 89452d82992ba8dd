package repo

import (
	"fmt"
	"net/http"
	"net/url"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// logIn gives a repository of a registry the client that every download has, with the access.
//
// A registry may name another host that hands out its tokens (the realm of its challenge). Name and password go there, as with docker,
// containerd and Helm, but only over https; headers go to the host and port of the registry alone.
func logIn(repo *remote.Repository, access *vnfm.ChartAccess) error {
	client, err := fetch.Client(access)
	if err != nil {
		return err
	}
	login := &auth.Client{Client: client.StandardClient(), Cache: auth.NewCache()}
	repo.Client = login
	if access == nil {
		return nil
	}
	repo.PlainHTTP = access.PlainHTTP
	if access.Password != "" || access.Token != "" {
		login.Credential = auth.StaticCredential(repo.Reference.Registry, auth.Credential{
			Username: access.Username, Password: access.Password.Reveal(), AccessToken: access.Token.Reveal(),
		})
	}
	origin := &url.URL{Scheme: "https", Host: repo.Reference.Host()}
	if access.PlainHTTP {
		origin.Scheme = "http"
	}
	login.Client.Transport = &registryTransport{origin: origin, access: access, next: login.Client.Transport}
	return nil
}

// registryTransport sends the headers of an access to its registry alone, and credentials to other hosts over https alone.
type registryTransport struct {
	origin *url.URL
	access *vnfm.ChartAccess
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *registryTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !fetch.SameOrigin(t.origin, req.URL) {
		if t.access.Password != "" && req.URL.Scheme != "https" {
			return nil, fmt.Errorf("the registry wants tokens of %s, without TLS: name and password are not sent there", fetch.Redact(req.URL.String()))
		}
		return t.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	for name, value := range t.access.Headers {
		req.Header.Set(name, value.Reveal())
	}
	return t.next.RoundTrip(req)
}
