package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// defaultConcurrency bounds the requests in flight when the target does not.
const defaultConcurrency = 16

// Driver is the infra driver for Kubernetes VIMs. It keeps one client per VIM and
// credentials, and with it one connection and one look at what the server offers,
// as long as the process runs. It is safe for concurrent use.
type Driver struct {
	userAgent string

	mu      sync.Mutex
	clients map[[sha256.Size]byte]*kube.Client
}

var _ vnfm.InfraDriver = (*Driver)(nil)

// New returns the driver. The user agent is sent with every request,
// "terraform-provider-vnf/<version>".
func New(userAgent string) *Driver {
	return &Driver{userAgent: userAgent, clients: map[[sha256.Size]byte]*kube.Client{}}
}

// CheckVIM reaches the API server, authenticates and looks what it offers.
func (d *Driver) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	client, err := d.client(spec.Name, spec.Kubernetes, spec.Credentials)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	check, err := client.Check(ctx)
	if check.ClusterUID = spec.ClusterUID; err == nil && check.ClusterUID == "" {
		check.ClusterUID, err = client.ClusterUID(ctx)
	}
	return check, err
}

// client returns the client of a VIM. It sends no request.
func (d *Driver) client(vim string, connection *vnfm.KubernetesConnection, credentials vnfm.Credentials) (*kube.Client, error) {
	if connection == nil {
		return nil, fmt.Errorf("VIM %q has no connection to a Kubernetes API server", vim)
	}
	key, err := clientKey(vim, connection, credentials)
	if err != nil {
		return nil, fmt.Errorf("VIM %q: %w", vim, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, ok := d.clients[key]; ok {
		return c, nil
	}
	c, err := kube.New(kube.Config{Connection: *connection, Credentials: credentials, UserAgent: d.userAgent, VIM: vim})
	if err != nil {
		return nil, err
	}
	if d.clients == nil {
		d.clients = map[[sha256.Size]byte]*kube.Client{}
	}
	d.clients[key] = c
	return c, nil
}

// clientKey sums up all that makes a client. Secrets enter in clear into the sum
// only: a rotated one makes another client.
func clientKey(vim string, connection *vnfm.KubernetesConnection, credentials vnfm.Credentials) ([sha256.Size]byte, error) {
	secrets := make(map[string]string, len(credentials))
	for name, secret := range credentials {
		secrets[name] = secret.Reveal()
	}
	text, err := json.Marshal([]any{vim, connection, secrets})
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(text), nil
}
