package kube

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Pool keeps one client per VIM and credentials, so that its connection and its discovery are
// shared. It is safe for concurrent use.
type Pool struct {
	userAgent string
	clients   vnfm.Clients[*Client]
}

// NewPool returns an empty pool. The user agent is sent with every request,
// "terraform-provider-vnf/<version>".
func NewPool(userAgent string) *Pool { return &Pool{userAgent: userAgent} }

// Client returns the client of a VIM. It sends no request.
func (p *Pool) Client(vim string, connection *vnfm.KubernetesConnection, credentials vnfm.Credentials) (*Client, error) {
	if connection == nil {
		return nil, fmt.Errorf("VIM %q has no connection to a Kubernetes API server", vim)
	}
	return p.clients.Get(vim, connection, credentials, func() (*Client, error) {
		return New(Config{Connection: *connection, Credentials: credentials, UserAgent: p.userAgent, VIM: vim})
	})
}
