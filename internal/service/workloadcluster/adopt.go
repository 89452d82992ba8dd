package workloadcluster

import (
	"context"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var _ base.Adopter = (*model)(nil)

// Adopt implements base.Adopter. Which form and which arguments make the cluster what
// it is cannot be told from what stands: the configuration says it, and the next apply
// compares. The id is the one that the Cluster is labelled with, so that a cluster whose
// store was lost is the same again.
func (m *model) Adopt(ctx context.Context, manager vnfm.Manager, vimID, namespace, name string) error {
	ref := vnfm.ClusterRef{VIMID: vimID, Namespace: namespace, Name: name}
	s, _, err := manager.WorkloadCluster(ctx, ref)
	if err != nil {
		return err
	}
	id := s.InstanceID
	if id == "" {
		id = uuid.NewString()
	}
	m.ManagementVIMID = types.StringValue(vimID)
	m.SetBase(&vnfm.Instance{ID: id, Namespace: namespace, Name: name, Status: vnfm.StatusUnknown})
	if m.observed = newObserved(s); s.Paused {
		m.Paused = types.BoolValue(true)
	}
	m.KubernetesVersion = attrs.NewVersion(s.Version)
	if s.CACertificate != "" {
		m.KubeconfigRef = attrs.ClusterRefValue(&ref)
	}
	return nil
}
