package kube

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Client talks to one API server over one transport. It is safe for concurrent use.
type Client struct {
	vim  string
	peer vnfm.Peer
	// namespace is the default namespace of the VIM, for Check.
	namespace string
	endpoint  *url.URL
	http      *http.Client
	config    *rest.Config
	// source, if set, provides the credentials of each request. present is the identity that new
	// connections authenticate with, connections are all open ones.
	source      identitySource
	present     atomic.Pointer[identity]
	connections *connrotation.ConnectionTracker
	retry       retryPolicy
	// answered is set once the server has answered: from then on an interruption counts as a
	// restart and is retried for longer.
	answered atomic.Bool
	// clockOffset is the server's clock minus ours, in nanoseconds.
	clockOffset atomic.Int64
	discovery   discoveryCache
	ahead       rulesAhead
}

// New returns a client and sends no request. Unusable arguments are a *vnfm.InvalidError whose
// problems name the attribute.
func New(cfg Config) (*Client, error) {
	r, err := resolve(cfg)
	if err != nil {
		return nil, err
	}
	c := &Client{
		vim:         cfg.VIM,
		peer:        cfg.peer(),
		namespace:   cfg.Connection.DefaultNamespace,
		endpoint:    r.server,
		config:      r.rest,
		source:      r.source,
		connections: connrotation.NewConnectionTracker(),
		retry:       defaultRetry(),
	}
	if c.http, err = c.newHTTP(); err != nil {
		return nil, fmt.Errorf("preparing the connection to %s at %s: %w", c.peer.Name, r.server, err)
	}
	return c, nil
}

func (c *Client) newHTTP() (*http.Client, error) {
	cfg, err := c.config.TransportConfig()
	if err != nil {
		return nil, err
	}
	if c.source != nil {
		cfg.TLS.GetCertHolder = &transport.GetCertHolder{GetCert: c.presentCertificate}
		cfg.DialHolder = &transport.DialHolder{Dial: connrotation.NewDialerWithTracker(c.config.Dial, c.connections).DialContext}
	}
	rt, err := transport.New(cfg)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: tracing.Transport(rt, tracing.Kubernetes),
		// Redirects are not followed: the transport would send the credentials to the new address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Endpoint is the URL of the API server, also when a kubeconfig gave it.
func (c *Client) Endpoint() string { return c.endpoint.String() }

func (c *Client) unreachable(err error) error {
	if c.vim == "" {
		return &vnfm.UnreachableError{Peer: c.peer.Name, Err: err}
	}
	return &vnfm.UnreachableError{VIM: c.vim, Err: err}
}
