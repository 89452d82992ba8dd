package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// overlay is the infra driver of a workload cluster: that of its management cluster,
// with what only Cluster API knows.
type overlay struct {
	vnfm.InfraDriver
	clients *kube.Pool
}

// Apply brings the management cluster to the target and waits until the workload
// cluster is as it shall be and its API answers.
func (o *overlay) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	c, err := o.cluster(t)
	if err != nil {
		return err
	}
	if err := c.condemn(ctx); err != nil {
		return err
	}
	target := *t
	upgrading, err := c.upgradesNodes(ctx)
	if err != nil {
		return err
	}
	if upgrading {
		target.Later = isNodeGroup
		target.Turn = func(ctx context.Context) error { return c.awaitControlPlane(ctx, r) }
	}
	target.Settled = func(ctx context.Context) error {
		if err := c.settled(ctx, r); err != nil {
			return err
		}
		return c.awaitCondemned(ctx, r)
	}
	if err := o.InfraDriver.Apply(ctx, &target, r); err != nil {
		return c.because(ctx, err)
	}
	return nil
}

// Observe adds what the management cluster says of the workload cluster.
func (o *overlay) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	seen, err := o.InfraDriver.Observe(ctx, t)
	if err != nil {
		return nil, err
	}
	c, err := o.cluster(t)
	if err != nil {
		return nil, err
	}
	if seen.Cluster, err = c.state(ctx); err != nil {
		return nil, err
	}
	return seen, nil
}

// VNFCs are the machines of the workload cluster.
func (o *overlay) VNFCs(ctx context.Context, t *vnfm.Target) ([]vnfm.VNFC, error) {
	c, err := o.cluster(t)
	if err != nil {
		return nil, err
	}
	return c.machines(ctx)
}

// Terminate removes the Cluster and waits until Cluster API has removed all that
// hangs on it, in its own order; what is left then is removed like any object.
// Children or credentials that go first would strand the Cluster.
func (o *overlay) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	c, err := o.cluster(t)
	if err != nil {
		return err
	}
	if err := c.remove(ctx, r); err != nil {
		return err
	}
	return o.InfraDriver.Terminate(ctx, t, spec, r)
}

// cluster is one workload cluster on its management cluster.
type cluster struct {
	client *kube.Client
	// clients has those of workload APIs.
	clients *kube.Pool
	spec    *vnfm.ClusterSpec
	// instance is the id that objects of the cluster are labelled with.
	instance  string
	namespace string
	name      string
}

func (o *overlay) cluster(t *vnfm.Target) (*cluster, error) {
	if t.VIM == nil || t.Instance.Cluster == nil {
		return nil, fmt.Errorf("workload cluster %q has no management cluster", t.Instance.Name)
	}
	client, err := o.clients.Client(t.VIM.Name, t.VIM.Kubernetes, t.Credentials)
	if err != nil {
		return nil, err
	}
	return &cluster{
		client: client, clients: o.clients, spec: t.Instance.Cluster, instance: t.Instance.ID,
		namespace: t.Instance.Namespace, name: t.Instance.Cluster.Name,
	}, nil
}

func (c *cluster) String() string { return fmt.Sprintf("workload cluster %s/%s", c.namespace, c.name) }

// isGone reports whether an error says that an object, or its kind, is not there.
func isGone(err error) bool { return apierrors.IsNotFound(err) }
