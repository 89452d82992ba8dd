package kube

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// liveKubeconfig reads the credentials of a kubeconfig that another system maintains, as Cluster
// API does for workload clusters. The kubeconfig is read again when the credentials are rejected.
type liveKubeconfig struct {
	name    string
	context string
	read    func(ctx context.Context) (vnfm.Secret, error)
	// server is the address in the kubeconfig, to which the credentials belong.
	server string

	mu   sync.Mutex
	last *identity
}

// renewableAccess returns the access of a kubeconfig that the connection can read again.
func renewableAccess(a access, conn vnfm.KubernetesConnection) (access, error) {
	who, err := a.identity()
	if err != nil {
		return access{}, err
	}
	name := "the kubeconfig"
	if ref := conn.KubeconfigRef; ref != nil {
		name = fmt.Sprintf("the kubeconfig of workload cluster %s/%s on its management cluster", ref.Namespace, ref.Name)
	}
	source := &liveKubeconfig{name: name, context: conn.KubeconfigContext, read: conn.Renew, server: a.endpoint, last: who}
	return access{endpoint: a.endpoint, ca: a.ca, insecure: a.insecure, tlsServerName: a.tlsServerName, proxyURL: a.proxyURL, source: source}, nil
}

// identity returns the identity of an access without a source.
func (a access) identity() (*identity, error) {
	who := &identity{username: a.username, password: a.password}
	if a.token != "" {
		token, err := cleanToken(a.token)
		if err != nil {
			return nil, fmt.Errorf("its token %w", err)
		}
		who.token = token
	}
	if len(a.certificate) == 0 {
		return who, nil
	}
	pair, err := tls.X509KeyPair(a.certificate, a.key)
	if err != nil {
		return nil, fmt.Errorf("the client certificate and its key cannot be used: %w", err)
	}
	who.certificate, who.key = &pair, string(a.key)
	return who, nil
}

// String implements identitySource.
func (k *liveKubeconfig) String() string { return k.name }

func (k *liveKubeconfig) current(context.Context) (*identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last, nil
}

func (k *liveKubeconfig) renewed(ctx context.Context, refused *identity) (*identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.last.same(refused) {
		// Another request has already read the new credentials.
		return k.last, nil
	}
	text, err := k.read(ctx)
	if err != nil {
		return nil, err
	}
	a, err := parseKubeconfig(text.Reveal(), k.context)
	if err != nil {
		return nil, err
	}
	if a.endpoint != k.server {
		return nil, errors.New("it names another server now: apply again")
	}
	who, err := a.identity()
	if err != nil || who.same(refused) {
		return nil, err
	}
	k.last = who
	return who, nil
}
