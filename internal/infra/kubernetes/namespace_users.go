package kubernetes

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// namespaceUserKinds are the kinds that are looked for before a namespace is deleted with
// all objects in it.
var namespaceUserKinds = []schema.GroupVersionKind{
	claimKind,
	{Version: "v1", Kind: "ConfigMap"},
	podKind,
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	statefulSetKind,
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// isDriverMade reports whether the driver made a namespace, and no package.
func isDriverMade(p *targetObject) bool { return p.live.Annotations[annotationKey] == "" }

// namespaceUsers returns the objects of others that would be lost with a namespace: volume
// claims, objects of other instances and, in a namespace that the driver made, everything
// that others put there.
func (s *session) namespaceUsers(ctx context.Context, namespace *targetObject) ([]*targetObject, error) {
	found := make([][]*targetObject, len(namespaceUserKinds))
	err := s.each(ctx, len(namespaceUserKinds), false, func(ctx context.Context, i int) error {
		r, err := s.client.Resource(ctx, namespaceUserKinds[i])
		if err != nil {
			return err
		}
		list, err := s.listMetadata(ctx, r, namespace.ref.Name, kube.ListOptions{})
		if err != nil {
			return err
		}
		for j := range list {
			if s.usesNamespace(namespace, namespaceUserKinds[i], &list[j].ObjectMeta) {
				found[i] = append(found[i], s.objectNamed(kube.Ref{Resource: r, Namespace: namespace.ref.Name}, list[j].Name, nil))
			}
		}
		return nil
	})
	return slices.Concat(found...), err
}

func (s *session) usesNamespace(namespace *targetObject, kind schema.GroupVersionKind, m *metav1.ObjectMeta) bool {
	switch id := m.Labels[labelInstance]; {
	case m.DeletionTimestamp != nil || id == s.target.Instance.ID:
		return false
	case id != "" || kind == claimKind:
		return true
	case !isDriverMade(namespace):
		// The namespace is an object of the package and goes with everything in it.
		return false
	case kind.Kind == "ConfigMap" && m.Name == "kube-root-ca.crt":
		return false
	default:
		return len(m.OwnerReferences) == 0
	}
}
