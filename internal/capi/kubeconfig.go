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

// namespaces is a kind that every workload API serves, so that it need not be looked up.
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
	var k *vnfm.Kubeconfig
	if spec.Wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, spec.Wait)
		defer cancel()
		waiting := spec.Waiting
		if waiting == nil {
			waiting = func(error) {}
		}
		k, err = c.awaitKubeconfig(ctx, waiting)
		var expired *vnfm.ExpiredError
		if spec.ClientCertificate != nil && errors.As(err, &expired) {
			// A certificate that is issued expires by itself.
			err = nil
		}
	} else if k, err = c.readKubeconfig(ctx); apierrors.IsNotFound(err) {
		err = &vnfm.NotFoundError{Kind: "kubeconfig of workload cluster", ID: ref.Namespace + "/" + ref.Name}
	}
	if err != nil || spec.ClientCertificate == nil {
		return k, err
	}
	return c.issueClientCertificate(ctx, k, spec.ClientCertificate)
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

// awaitKubeconfig waits until there is a kubeconfig and the workload API answers with
// it. The Secret comes well before the API: it is made as soon as the endpoint and
// the CA are known. One that the API refuses since it has expired is returned with an
// ExpiredError: nothing makes it valid again.
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
	client, err := c.clients.Client(c.name, &vnfm.KubernetesConnection{}, vnfm.Credentials{vnfm.CredentialKubeconfig: k.Raw})
	if err != nil {
		return nil, err
	}
	// Any answer about an object is one: there need not be such a namespace.
	_, err = client.Get(ctx, kube.Ref{Resource: namespaces, Name: "kube-system"})
	if err == nil || apierrors.IsNotFound(err) {
		return k, nil
	}
	if expired := k.Expired(vnfm.ClusterRef{Namespace: c.namespace, Name: c.name}); expired != nil && refusesCertificate(err) {
		return k, expired
	}
	return nil, err
}

// refusesCertificate reports whether an API server has answered that it does not take the
// client certificate, in HTTP or before that in TLS.
func refusesCertificate(err error) bool {
	var alert tls.AlertError
	return apierrors.IsUnauthorized(err) || errors.As(err, &alert)
}
