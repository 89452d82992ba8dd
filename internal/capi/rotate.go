package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RegenerateKubeconfig implements vnfm.ClusterDriver.
func (d *Driver) RegenerateKubeconfig(ctx context.Context, management *vnfm.VIM, credentials vnfm.Credentials, ref vnfm.ClusterRef, before string, r vnfm.Recorder) error {
	c, err := d.referred(management, credentials, ref)
	if err != nil {
		return err
	}
	at, err := c.secretRef(ctx, purposeKubeconfig)
	if err != nil {
		return err
	}
	if before != "" {
		if err := c.client.Delete(ctx, at, kube.DeleteOptions{UID: types.UID(before)}); err != nil {
			return err
		}
	}
	if err := c.triggerReconcile(ctx, before); err != nil {
		return err
	}
	r.Progress(ctx, fmt.Sprintf("waiting for Cluster API to recreate Secret %s/%s", at.Namespace, at.Name))
	err = c.client.Until(ctx, []kube.Selection{selectOne(at)}, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		obj := objects[0][at.Name]
		return obj != nil && string(obj.GetUID()) != before, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for Cluster API to recreate Secret %s/%s: %w; only the control plane provider that created it recreates it", at.Namespace, at.Name, err)
	}
	return c.awaitWorkloadAPI(ctx, r)
}

// annotationRegenerated is the annotation with the id of the kubeconfig that was deleted last.
const annotationRegenerated = vnfm.LabelPrefix + "regenerated-kubeconfig"

// triggerReconcile makes the control plane provider reconcile at once. The provider does not watch
// its Secrets, and would notice the deletion minutes later.
func (c *cluster) triggerReconcile(ctx context.Context, before string) error {
	own, err := c.getCluster(ctx)
	if err != nil {
		return err
	}
	if own == nil {
		return fmt.Errorf("there is no Cluster %s/%s", c.namespace, c.name)
	}
	ref, found, err := c.ref(ctx, own, "spec", "controlPlaneRef")
	if err != nil || !found {
		return err
	}
	return c.client.PatchMetadata(ctx, ref, nil, map[string]*string{annotationRegenerated: &before})
}
