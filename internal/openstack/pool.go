package openstack

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Pool keeps one client per VIM and credentials, and with it one token, as long as the
// process runs. It is safe for concurrent use.
type Pool struct {
	userAgent string

	mu      sync.Mutex
	clients map[[sha256.Size]byte]*Client
}

// NewPool returns an empty pool. The user agent is sent with every request,
// "terraform-provider-vnf/<version>".
func NewPool(userAgent string) *Pool {
	return &Pool{userAgent: userAgent, clients: map[[sha256.Size]byte]*Client{}}
}

// Client returns the client of a VIM. It sends no request.
func (p *Pool) Client(vim string, connection *vnfm.OpenStackConnection, credentials vnfm.Credentials) (*Client, error) {
	if connection == nil {
		return nil, fmt.Errorf("VIM %q is no OpenStack", vim)
	}
	secrets := make(map[string]string, len(credentials))
	for name, secret := range credentials {
		secrets[name] = secret.Reveal()
	}
	text, err := json.Marshal([]any{vim, connection, secrets})
	if err != nil {
		return nil, fmt.Errorf("VIM %q: %w", vim, err)
	}
	key := sha256.Sum256(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.clients[key]; ok {
		return c, nil
	}
	c, err := New(Config{Connection: *connection, Credentials: credentials, UserAgent: p.userAgent, VIM: vim})
	if err != nil {
		return nil, err
	}
	p.clients[key] = c
	return c, nil
}

// Fresh returns a client that nobody has used: it authenticates anew, which is how a
// credential is tried.
func (p *Pool) Fresh(vim string, connection vnfm.OpenStackConnection, credentials vnfm.Credentials) (*Client, error) {
	return New(Config{Connection: connection, Credentials: credentials, UserAgent: p.userAgent, VIM: vim})
}
