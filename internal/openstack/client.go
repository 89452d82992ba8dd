package openstack

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	gopherstack "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/urlpath"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// dialTimeout bounds the wait for an address that swallows packets, requestTimeout
	// one request whatever happens to it.
	dialTimeout    = 10 * time.Second
	requestTimeout = 2 * time.Minute
)

// Client talks to the services of one OpenStack as one user, in one project. It is safe
// for concurrent use, and authenticates at the first request.
type Client struct {
	peer    vnfm.Peer
	access  *access
	retry   retryPolicy
	session *gophercloud.ProviderClient

	mu       sync.Mutex
	identity *identity
}

// identity is what a token says.
type identity struct {
	user    tokens.User
	project tokens.Project
	catalog []tokens.CatalogEntry
	roles   []string
}

// New makes a client without sending a request. Arguments that cannot be used are a
// *vnfm.InvalidError whose problems name the attribute.
func New(cfg Config) (*Client, error) {
	a, err := resolve(cfg)
	if err != nil {
		return nil, err
	}
	session, err := gopherstack.NewClient(a.AuthURL)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection to %s: %w", cfg.peer().Name, endpoint.WithoutURL(err))
	}
	c := &Client{peer: cfg.peer(), access: a, retry: defaultRetry(), session: session}
	session.HTTPClient = http.Client{
		Transport: tracing.Transport(transport(a), tracing.OpenStack), Timeout: requestTimeout,
		// A redirect is not followed: the token would go to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if cfg.UserAgent != "" {
		session.UserAgent.Prepend(cfg.UserAgent)
	}
	session.RetryFunc = c.again
	session.RetryBackoffFunc = c.backOff
	return c, nil
}

func transport(a *access) http.RoundTripper {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: requestTimeout,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   16,
		ForceAttemptHTTP2:     true,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.InsecureSkipTLSVerify}, //nolint:gosec // The user asks for it.
	}
	if a.CACertificate != "" {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(a.CACertificate))
	}
	return t
}

// Connection is how Keystone is reached, also when a clouds.yaml said it.
func (c *Client) Connection() vnfm.OpenStackConnection { return c.access.OpenStackConnection }

// authenticated returns what the token of the client says, and gets one when there is
// none yet.
func (c *Client) authenticated(ctx context.Context) (*identity, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.identity != nil {
		return c.identity, nil
	}
	const doing = "authenticating"
	if err := gopherstack.AuthenticateV3(ctx, c.session, c.access.options(), gophercloud.EndpointOpts{}); err != nil {
		return nil, c.failure(doing, err)
	}
	id, err := readIdentity(c.session.GetAuthResult())
	if err != nil {
		return nil, fmt.Errorf("%s with %s at %s: %w", doing, c.peer.Name, c.access.AuthURL, err)
	}
	if err := c.checkEndpoints(id); err != nil {
		return nil, err
	}
	c.identity = id
	return id, nil
}

// checkEndpoints refuses a catalogue that would have the token sent without TLS, before any service gets it.
func (c *Client) checkEndpoints(id *identity) error {
	if c.access.AllowHTTPEndpoints || !strings.HasPrefix(c.access.AuthURL, "https://") {
		return nil
	}
	var plain []string
	for _, service := range services {
		at := c.endpoint(id, service)
		if u, err := url.Parse(at); err == nil && endpoint.IsPlain(u) {
			plain = append(plain, service+" at "+at)
		}
	}
	if len(plain) == 0 {
		return nil
	}
	var problems vnfm.Problems
	problems.Invalid("allow_http_endpoints", fmt.Sprintf("the catalogue of %s has services without TLS, which would get the token unencrypted: %s", c.access.AuthURL, strings.Join(plain, ", ")),
		"have the catalogue corrected, or choose another interface; set allow_http_endpoints = true where the network is trusted")
	return problems.Err()
}

func readIdentity(result gophercloud.AuthResult) (*identity, error) {
	var token struct {
		User    tokens.User           `json:"user"`
		Project tokens.Project        `json:"project"`
		Catalog []tokens.CatalogEntry `json:"catalog"`
		Roles   []tokens.Role         `json:"roles"`
	}
	extracts, ok := result.(interface{ ExtractInto(v any) error })
	if !ok || extracts.ExtractInto(&token) != nil || token.User.ID == "" {
		return nil, errors.New("the answer does not describe a token; is the auth_url that of Keystone?")
	}
	if token.Project.ID == "" {
		return nil, errors.New("the token is not scoped to a project; give the project in the connection")
	}
	id := &identity{user: token.User, project: token.Project, catalog: token.Catalog}
	for _, role := range token.Roles {
		id.roles = append(id.roles, role.Name)
	}
	slices.Sort(id.roles)
	return id, nil
}

// Token is the one that the client works with; empty before the first request. A service that
// goes on with something later may use the one that it was asked with.
func (c *Client) Token() string { return c.session.Token() }

// IsValid asks Keystone whether a token is one still: it may have been revoked, or its time
// may be over.
func (c *Client) IsValid(ctx context.Context, token string) (bool, error) {
	err := c.do(ctx, call{doing: "asking whether a token is valid", service: ServiceIdentity, path: "/auth/tokens", query: url.Values{"nocatalog": {""}}, subject: token})
	if IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// typesOf are the names that a type of service has in catalogues, the present one first.
func typesOf(service string) []string {
	if service == ServiceVolume {
		return []string{"block-storage", "volumev3", "volume"}
	}
	return []string{service}
}

// Types of services, as a catalogue has them.
const (
	ServiceIdentity     = "identity"
	ServiceImage        = "image"
	ServiceCompute      = "compute"
	ServiceNetwork      = "network"
	ServiceVolume       = "block-storage"
	ServiceLoadBalancer = "load-balancer"
	ServiceKeyManager   = "key-manager"

	ServiceOrchestration = "orchestration"
)

// services are all types that are spoken with. Keystone itself is asked where the connection says.
var services = []string{
	ServiceImage, ServiceCompute, ServiceNetwork, ServiceVolume, ServiceLoadBalancer, ServiceKeyManager, ServiceOrchestration,
}

// endpoint finds a service in the catalogue; empty when it is not there.
func (c *Client) endpoint(id *identity, service string) string {
	for _, kind := range typesOf(service) {
		for _, entry := range id.catalog {
			if entry.Type != kind {
				continue
			}
			for _, e := range entry.Endpoints {
				if e.Interface == c.access.Interface && (c.access.Region == "" || e.Region == c.access.Region || e.RegionID == c.access.Region) {
					return strings.TrimRight(e.URL, "/")
				}
			}
		}
	}
	return ""
}

// versioned are the services whose endpoints stand in catalogues with and without their
// version, and the version that is spoken with them here.
var versioned = map[string]string{ServiceIdentity: "/v3", ServiceImage: "/v2", ServiceNetwork: "/v2.0", ServiceLoadBalancer: "/v2", ServiceKeyManager: "/v1"}

// maxText bounds an answer that is not JSON.
const maxText = 1 << 20

// call is one request to a service.
type call struct {
	// doing says in an error what was tried: `looking for image "node"`.
	doing   string
	service string
	method  string
	path    string
	query   url.Values
	// subject is the token that is asked about.
	subject string
	// microversion is that of the API which the request needs; empty for the oldest.
	microversion string
	body         any
	// content is sent as it is instead of body.
	content io.Reader
	// out takes the answer, text one that is not JSON; ok are the codes that are success.
	out  any
	text *string
	ok   []int
}

// MissingServiceError says that the catalogue does not have a service.
type MissingServiceError struct {
	Peer, Service, Region, Interface string
}

func (e *MissingServiceError) Error() string {
	where := "its catalogue"
	if e.Region != "" {
		where = fmt.Sprintf("its catalogue for region %q", e.Region)
	}
	return fmt.Sprintf("%s has no service of type %q with the interface %q in %s", e.Peer, e.Service, e.Interface, where)
}

// do sends a request to a service of the catalogue. Keystone itself is asked where the
// connection says: it need not be in the catalogue.
func (c *Client) do(ctx context.Context, r call) error {
	if err := urlpath.Check(r.path); err != nil {
		return fmt.Errorf("%s: %w", r.doing, err)
	}
	id, err := c.authenticated(ctx)
	if err != nil {
		return err
	}
	base := c.endpoint(id, r.service)
	if r.service == ServiceIdentity {
		base = c.access.AuthURL
	}
	if base == "" {
		return fmt.Errorf("%s: %w", r.doing, &MissingServiceError{Peer: c.peer.Name, Service: r.service, Region: c.access.Region, Interface: c.access.Interface})
	}
	if version := versioned[r.service]; version != "" {
		if base, err = utils.BaseEndpoint(base); err != nil {
			return fmt.Errorf("%s: the endpoint of %s is not a URL", r.doing, r.service)
		}
		base = strings.TrimRight(base, "/") + version
	}
	target := base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	// The method defaults to GET, its success to 200.
	method := cmp.Or(r.method, http.MethodGet)
	opts := &gophercloud.RequestOpts{JSONBody: r.body, JSONResponse: r.out, OkCodes: r.ok}
	switch {
	case r.subject != "":
		opts.MoreHeaders = map[string]string{"X-Subject-Token": r.subject}
	case r.microversion != "":
		opts.MoreHeaders = map[string]string{"OpenStack-API-Version": r.service + " " + r.microversion}
	case r.content != nil:
		opts.RawBody, opts.MoreHeaders = r.content, map[string]string{"Content-Type": "application/octet-stream"}
	case r.text != nil:
		opts.KeepResponseBody, opts.MoreHeaders = true, map[string]string{"Accept": "text/plain"}
	}
	resp, err := c.session.Request(ctx, method, target, opts)
	if err != nil {
		return c.failure(r.doing, err)
	}
	defer resp.Body.Close() //nolint:errcheck // An answer that was only read.
	if r.text == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxText))
	if err != nil {
		return c.failure(r.doing, err)
	}
	*r.text = string(text)
	return nil
}

// list reads a collection page by page. The answers have the objects under a key, and the
// next page under key_links or next.
func list[T any](ctx context.Context, c *Client, r call, key string) ([]T, error) {
	var all []T
	for {
		page := map[string]json.RawMessage{}
		r.out = &page
		if err := c.do(ctx, r); err != nil {
			return nil, err
		}
		var some []T
		if err := json.Unmarshal(page[key], &some); err != nil {
			return nil, fmt.Errorf("%s: the answer of %s cannot be read", r.doing, r.service)
		}
		all = append(all, some...)
		next := nextQuery(page, key)
		if next == nil || len(some) == 0 {
			return all, nil
		}
		r.query = next
	}
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

// nextQuery is the query of the next page; nil on the last one.
func nextQuery(page map[string]json.RawMessage, key string) url.Values {
	var next string
	if json.Unmarshal(page["next"], &next) != nil || next == "" {
		var links []link
		if json.Unmarshal(page[key+"_links"], &links) != nil {
			return nil
		}
		if i := slices.IndexFunc(links, func(l link) bool { return l.Rel == "next" }); i >= 0 {
			next = links[i].Href
		}
	}
	u, err := url.Parse(next)
	if err != nil || u.RawQuery == "" {
		return nil
	}
	return u.Query()
}
