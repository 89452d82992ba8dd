package capi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// awaitFormer waits until a deleted Cluster is removed completely before it is created again. The garbage
// collector deletes the templates that the Cluster owned some time after the Cluster: an apply would find
// them unchanged, and they would be missing afterwards.
func (c *cluster) awaitFormer(ctx context.Context, inventory []vnfm.InventoryItem, r vnfm.Recorder) error {
	own, err := c.getCluster(ctx)
	if err != nil || own != nil && own.GetDeletionTimestamp() == nil {
		return err
	}
	var former []kube.Selection
	var kinds []string
	for i := range inventory {
		item := &inventory[i]
		ofClusterAPI := item.Group == group || strings.HasSuffix(item.Group, "."+group)
		if item.UID == "" || !ofClusterAPI || slices.Contains(kinds, item.Group+"/"+item.Kind) {
			continue
		}
		kinds = append(kinds, item.Group+"/"+item.Kind)
		resource, err := c.kind(ctx, item.Group, item.Kind)
		if err != nil {
			// A kind that is not served has no objects left.
			continue
		}
		former = append(former, kube.Selection{Resource: resource, Namespace: c.namespace, Options: kube.ListOptions{LabelSelector: vnfm.InstanceLabel + "=" + c.instance}})
	}
	if len(former) == 0 {
		return nil
	}
	r.Progress(ctx, fmt.Sprintf("waiting until the former %s is deleted", c))
	left := ""
	err = c.client.Until(ctx, former, func(objects []map[string]*unstructured.Unstructured) (bool, error) {
		left = c.firstFormer(objects)
		return left == "", nil
	})
	if err != nil {
		return fmt.Errorf("waiting until the former %s is deleted, of which %s is left: %w", c, left, err)
	}
	return nil
}

// firstFormer names an object that is being deleted, or that the garbage collector deletes because the
// Cluster owns it; empty if there is none.
func (c *cluster) firstFormer(objects []map[string]*unstructured.Unstructured) string {
	ownedByCluster := func(o metav1.OwnerReference) bool {
		return o.Kind == "Cluster" && o.Name == c.name && strings.HasPrefix(o.APIVersion, group+"/")
	}
	for _, each := range objects {
		for _, obj := range each {
			if at := obj.GetDeletionTimestamp(); at != nil {
				return fmt.Sprintf("%s with the finalizers %s", objectName(obj), strings.Join(obj.GetFinalizers(), ", "))
			}
			if slices.ContainsFunc(obj.GetOwnerReferences(), ownedByCluster) {
				return objectName(obj)
			}
		}
	}
	return ""
}
