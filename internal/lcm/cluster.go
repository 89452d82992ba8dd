package lcm

import (
	"context"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func (e *Engine) clusters() (vnfm.ClusterDriver, error) {
	if e.cfg.Clusters == nil {
		return nil, errors.New("there is no driver for workload clusters")
	}
	return e.cfg.Clusters, nil
}

// WorkloadCluster implements vnfm.Manager.
func (e *Engine) WorkloadCluster(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.ClusterState, []vnfm.VNFC, error) {
	d, err := e.clusters()
	if err != nil {
		return nil, nil, err
	}
	vim, creds, err := e.vims.Open(ctx, ref.VIMID)
	if err != nil {
		return nil, nil, err
	}
	return d.Look(ctx, vim, creds, ref)
}

// WorkloadClusters implements vnfm.Manager.
func (e *Engine) WorkloadClusters(ctx context.Context, vimID, namespace string) ([]vnfm.ClusterRef, error) {
	d, err := e.clusters()
	if err != nil {
		return nil, err
	}
	vim, creds, err := e.vims.Open(ctx, vimID)
	if err != nil {
		return nil, err
	}
	return d.List(ctx, vim, creds, namespace)
}

// WorkloadKubeconfig implements vnfm.Manager.
func (e *Engine) WorkloadKubeconfig(ctx context.Context, ref vnfm.ClusterRef, spec vnfm.KubeconfigSpec) (*vnfm.Kubeconfig, error) {
	d, err := e.clusters()
	if err != nil {
		return nil, err
	}
	vim, creds, err := e.vims.Open(ctx, ref.VIMID)
	if err != nil {
		return nil, err
	}
	return d.Kubeconfig(ctx, vim, creds, ref, spec)
}
