package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Client talks to one API server over one transport. It is safe for concurrent use.
type Client struct {
	vim string
	// namespace is the default one of the VIM, for its check.
	namespace string
	endpoint  *url.URL
	http      *http.Client
	config    *rest.Config
	retry     retryPolicy
	// answered is set once the server has answered anything: from then on an
	// interruption is taken for a restart and waited out.
	answered atomic.Bool
	// clockOffset is the server's clock minus ours, in nanoseconds.
	clockOffset atomic.Int64
	discovery   discoveryCache
}

// New makes a client without sending a request. Arguments that cannot be used are
// a *vnfm.InvalidError whose problems name the attribute.
func New(cfg Config) (*Client, error) {
	rc, endpoint, err := restConfig(cfg)
	if err != nil {
		return nil, err
	}
	hc, err := rest.HTTPClientFor(rc)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection to VIM %q at %s: %w", cfg.VIM, endpoint, err)
	}
	// A copy, because client-go shares its clients. A redirect is not followed:
	// the transport would send the credentials to wherever it points.
	own := *hc
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		vim:       cfg.VIM,
		namespace: cfg.Connection.DefaultNamespace,
		endpoint:  endpoint,
		http:      &own,
		config:    rc,
		retry:     defaultRetry(),
	}, nil
}

// Endpoint is the URL of the API server, also when a kubeconfig gave it.
func (c *Client) Endpoint() string { return c.endpoint.String() }

func (c *Client) unreachable(err error) error {
	return &vnfm.UnreachableError{VIM: c.vim, Err: err}
}
