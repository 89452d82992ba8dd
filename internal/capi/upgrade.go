package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Nodes must not have a later version than their control plane. Cluster API ensures this for
// a topology. In the other forms control plane and node groups are objects of the same wave,
// so that an upgrade defers the node groups until the control plane has the new version.

// upgradesNodes reports whether the apply changes the version of a node group in another form
// than a topology.
func (c *cluster) upgradesNodes(ctx context.Context) (bool, error) {
	want := forms.WithV(c.spec.KubernetesVersion)
	if want == "" || c.spec.Topology != nil || c.spec.IsPaused() {
		return false, nil
	}
	groups, err := c.listOf(ctx, "MachineDeployment")
	if err != nil {
		return false, err
	}
	for i := range groups {
		if text(&groups[i], "spec", "template", "spec", "version") != want {
			return true, nil
		}
	}
	return false, nil
}

func isNodeGroup(item *vnfm.InventoryItem) bool {
	return item.Group == group && item.Kind == "MachineDeployment"
}

// awaitControlPlane waits until the control plane is ready with the wanted version and number of machines.
func (c *cluster) awaitControlPlane(ctx context.Context, r vnfm.Recorder) error {
	own, err := c.awaitReferences(ctx)
	if err != nil || own.controlPlane == nil {
		return err
	}
	last := ""
	err = c.client.Until(ctx, []kube.Selection{selectOne(*own.controlPlane)}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		waiting := c.controlPlaneUnready(objects[0])
		if waiting != "" && waiting != last {
			last = waiting
			r.Progress(ctx, "the node groups are upgraded after the control plane; waiting for "+waiting)
		}
		return waiting == "", nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the control plane of %s, after which the node groups are upgraded: %w", c, err)
	}
	return nil
}
