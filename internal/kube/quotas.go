package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Quotas returns the limits and the usage of the ResourceQuotas of a namespace.
func (c *Client) Quotas(ctx context.Context, namespace string) ([]vnfm.VIMQuota, error) {
	r, err := c.Resource(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ResourceQuota"})
	if err != nil {
		return nil, err
	}
	list, err := c.List(ctx, r, namespace, ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the quotas of namespace %s: %w", namespace, err)
	}
	var out []vnfm.VIMQuota
	for i := range list {
		var quota corev1.ResourceQuota
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &quota); err != nil {
			return nil, fmt.Errorf("reading the quotas of namespace %s: %w", namespace, err)
		}
		for _, name := range slices.Sorted(maps.Keys(quota.Spec.Hard)) {
			limit := quota.Spec.Hard[name]
			q := vnfm.VIMQuota{Service: "ResourceQuota " + quota.Name, Name: string(name), Limit: limit.String()}
			if used, ok := quota.Status.Used[name]; ok {
				q.Used = used.String()
			}
			out = append(out, q)
		}
	}
	return out, nil
}
