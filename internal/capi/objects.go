package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// group is the API group of Cluster API's own kinds.
const group = forms.Group

// Labels that Cluster API sets on the objects of a cluster, its control plane and its node groups.
const (
	labelCluster   = clusterv1.ClusterNameLabel
	labelNodeGroup = clusterv1.ClusterTopologyMachineDeploymentNameLabel
	labelControl   = clusterv1.MachineControlPlaneLabel
	labelOfGroup   = clusterv1.MachineDeploymentNameLabel
)

// kind looks up a kind in the preferred version of the management cluster.
func (c *cluster) kind(ctx context.Context, apiGroup, kind string) (kube.Resource, error) {
	r, err := c.client.Kind(ctx, schema.GroupKind{Group: apiGroup, Kind: kind})
	if err != nil {
		return r, fmt.Errorf("looking up the kind %s of %s: %w", kind, apiGroup, err)
	}
	return r, nil
}

// getCluster reads the Cluster; nil when there is none.
func (c *cluster) getCluster(ctx context.Context) (*unstructured.Unstructured, error) {
	r, err := c.kind(ctx, group, "Cluster")
	if err != nil {
		return nil, err
	}
	obj, err := c.client.Get(ctx, kube.Ref{Resource: r, Namespace: c.namespace, Name: c.name})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// ref returns the reference at a path of an object, in the form of v1beta1 (apiVersion) or v1beta2 (apiGroup).
func (c *cluster) ref(ctx context.Context, obj *unstructured.Unstructured, path ...string) (kube.Ref, bool, error) {
	fields, found, _ := unstructured.NestedStringMap(obj.Object, path...)
	if !found || fields["name"] == "" {
		return kube.Ref{}, false, nil
	}
	apiGroup := fields["apiGroup"]
	if gv, err := schema.ParseGroupVersion(fields["apiVersion"]); err == nil && apiGroup == "" {
		apiGroup = gv.Group
	}
	r, err := c.kind(ctx, apiGroup, fields["kind"])
	if err != nil {
		return kube.Ref{}, false, err
	}
	return kube.Ref{Resource: r, Namespace: c.namespace, Name: fields["name"]}, true, nil
}

// referred reads the object to which another one refers; nil when there is none.
func (c *cluster) referred(ctx context.Context, obj *unstructured.Unstructured, path ...string) (*unstructured.Unstructured, error) {
	ref, ok, err := c.ref(ctx, obj, path...)
	if err != nil || !ok {
		return nil, err
	}
	other, err := c.client.Get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return other, err
}

// ofCluster selects all objects of a kind in the cluster.
func (c *cluster) ofCluster(ctx context.Context, kind string) (kube.Selection, error) {
	r, err := c.kind(ctx, group, kind)
	if err != nil {
		return kube.Selection{}, err
	}
	return kube.Selection{Resource: r, Namespace: c.namespace, Options: kube.ListOptions{LabelSelector: labelCluster + "=" + c.name}}, nil
}

func (c *cluster) listOf(ctx context.Context, kind string) ([]unstructured.Unstructured, error) {
	s, err := c.ofCluster(ctx, kind)
	if err != nil {
		return nil, err
	}
	return c.client.List(ctx, s.Resource, s.Namespace, s.Options)
}

// nodeGroupOf returns the name of the node group of a MachineDeployment: its name in the
// topology, else its own name without the name of the cluster.
func (c *cluster) nodeGroupOf(obj *unstructured.Unstructured) string {
	if name := obj.GetLabels()[labelNodeGroup]; name != "" {
		return name
	}
	name := obj.GetName()
	if prefix := c.name + "-"; len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):]
	}
	return name
}

func text(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}
