package capi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/cloud"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The Secrets that Cluster API keeps for a cluster are named <cluster>-<purpose>
// (contract "Cluster kubeconfig management").
const (
	purposeKubeconfig = "kubeconfig"
	purposeCA         = "ca"
)

// namespaces needs no discovery, because every workload API serves it.
var namespaces = kube.Resource{
	GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"},
	GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
}

// Kubeconfig implements vnfm.ClusterDriver.
func (d *Driver) Kubeconfig(ctx context.Context, management *vnfm.VIM, credentials vnfm.Credentials, ref vnfm.ClusterRef, spec vnfm.KubeconfigSpec) (*vnfm.Kubeconfig, error) {
	c, err := d.referred(management, credentials, ref)
	if err != nil {
		return nil, err
	}
	ending := false
	if spec.Wait > 0 || spec.ClientCertificate != nil {
		ending = c.isEnding(ctx)
	}
	k, err := c.kubeconfig(ctx, spec, ending)
	if err == nil && spec.ClientCertificate != nil {
		k, err = c.issueClientCertificate(ctx, k, spec.ClientCertificate)
		if ending && apierrors.IsNotFound(err) {
			// The garbage collector deletes the Secrets of a deleted cluster in any order.
			err = c.noKubeconfig()
		}
	}
	return k, err
}

// kubeconfig reads the kubeconfig. It waits for the workload API, unless the cluster is ending.
func (c *cluster) kubeconfig(ctx context.Context, spec vnfm.KubeconfigSpec, ending bool) (*vnfm.Kubeconfig, error) {
	if spec.Wait == 0 || ending {
		k, err := c.readKubeconfig(ctx)
		if apierrors.IsNotFound(err) {
			err = c.noKubeconfig()
		}
		return k, err
	}
	ctx, cancel := context.WithTimeout(ctx, spec.Wait)
	defer cancel()
	waiting := spec.Waiting
	if waiting == nil {
		waiting = func(error) {}
	}
	k, err := c.awaitKubeconfig(ctx, waiting)
	var expired *vnfm.ExpiredError
	if spec.ClientCertificate != nil && errors.As(err, &expired) {
		// The issued certificate has an expiry of its own.
		err = nil
	}
	return k, err
}

func (c *cluster) noKubeconfig() error {
	return &vnfm.NotFoundError{Kind: "kubeconfig of workload cluster", ID: c.namespace + "/" + c.name}
}

// isEnding reports whether the Cluster is missing or being deleted. It is false if the account may not
// read the Cluster.
func (c *cluster) isEnding(ctx context.Context) bool {
	own, err := c.getCluster(ctx)
	return err == nil && (own == nil || own.GetDeletionTimestamp() != nil)
}

func (d *Driver) referred(management *vnfm.VIM, credentials vnfm.Credentials, ref vnfm.ClusterRef) (*cluster, error) {
	client, err := d.clients.Client(management.Name, management.Kubernetes, credentials)
	if err != nil {
		return nil, err
	}
	return &cluster{client: client, clients: d.clients, namespace: ref.Namespace, name: ref.Name, spec: &vnfm.ClusterSpec{Name: ref.Name, Namespace: ref.Namespace}}, nil
}

func (c *cluster) secretRef(ctx context.Context, purpose string) (kube.Ref, error) {
	r, err := c.client.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"})
	return kube.Ref{Resource: r, Namespace: c.namespace, Name: c.name + "-" + purpose}, err
}

func (c *cluster) secret(ctx context.Context, purpose string) (*unstructured.Unstructured, error) {
	ref, err := c.secretRef(ctx, purpose)
	if err != nil {
		return nil, err
	}
	return c.client.Get(ctx, ref)
}

// readKubeconfig reads the kubeconfig as it is now.
func (c *cluster) readKubeconfig(ctx context.Context) (*vnfm.Kubeconfig, error) {
	secret, err := c.secret(ctx, purposeKubeconfig)
	if err != nil {
		return nil, err
	}
	raw, err := cloud.SecretValue(secret, "value")
	if err != nil {
		return nil, err
	}
	k, err := kube.ReadKubeconfig(raw)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig in Secret %s/%s cannot be used: %w", secret.GetNamespace(), secret.GetName(), err)
	}
	k.ID = string(secret.GetUID())
	return k, nil
}

// awaitKubeconfig waits until there is a kubeconfig that the workload API accepts. The
// Secret is created as soon as endpoint and CA are known, well before the API answers. An
// expired kubeconfig is returned with an ExpiredError, because waiting does not renew it.
func (c *cluster) awaitKubeconfig(ctx context.Context, waiting func(error)) (*vnfm.Kubeconfig, error) {
	last := ""
	for {
		k, err := c.tryKubeconfig(ctx)
		var expired *vnfm.ExpiredError
		if err == nil || errors.As(err, &expired) {
			return k, err
		}
		if text := err.Error(); text != last && ctx.Err() == nil {
			last = text
			waiting(err)
		}
		if err := poll.Sleep(ctx, answerEvery); err != nil {
			return nil, fmt.Errorf("the workload API of %s does not answer: %w; the last try: %s", c, err, last)
		}
	}
}

// tryKubeconfig reads the kubeconfig and tests it on the workload API. A rejected kubeconfig is read again once, because it may have
// been replaced since. The client does not read it again by itself, and the caller needs the kubeconfig that works.
func (c *cluster) tryKubeconfig(ctx context.Context) (*vnfm.Kubeconfig, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	k, err := c.readKubeconfig(ctx)
	if apierrors.IsNotFound(err) {
		return nil, errors.New("there is no kubeconfig yet")
	}
	if err != nil {
		return nil, err
	}
	if err = c.answersWith(ctx, k); refusesCredentials(err) {
		if fresh, readErr := c.readKubeconfig(ctx); readErr == nil && fresh.Raw != k.Raw {
			k, err = fresh, c.answersWith(ctx, fresh)
		}
	}
	if err == nil {
		return k, nil
	}
	if expired := k.Expired(vnfm.ClusterRef{Namespace: c.namespace, Name: c.name}); expired != nil && refusesCredentials(err) {
		return k, expired
	}
	return nil, err
}

// clientOf returns a client of the workload API.
func (c *cluster) clientOf(k *vnfm.Kubeconfig) (*kube.Client, error) {
	return c.clients.Client(c.name, &vnfm.KubernetesConnection{}, vnfm.Credentials{vnfm.CredentialKubeconfig: k.Raw})
}

// answersWith returns nil when the workload API accepts a kubeconfig.
func (c *cluster) answersWith(ctx context.Context, k *vnfm.Kubeconfig) error {
	client, err := c.clientOf(k)
	if err != nil {
		return err
	}
	// "Not found" is an answer too: the namespace need not exist.
	if _, err = client.Get(ctx, kube.Ref{Resource: namespaces, Name: "kube-system"}); apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// refusesCredentials reports whether an API server has rejected the credentials, in HTTP or already in TLS.
func refusesCredentials(err error) bool {
	var alert tls.AlertError
	return apierrors.IsUnauthorized(err) || errors.As(err, &alert)
}
