package kubernetes

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// namespaceUserKinds are the kinds whose foreign objects prevent the deletion of a namespace.
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

// isDriverMade reports whether a namespace was created by the driver itself and is not an object of a package.
func isDriverMade(p *targetObject) bool { return p.live.Annotations[annotationKey] == "" }

// spreadConfigMaps are ConfigMaps that Kubernetes, OpenShift and Istio create in each namespace.
var spreadConfigMaps = []string{"kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert"}

// namespaceUsers returns the volume claims and foreign objects that the deletion of a namespace would delete.
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
			if s.usesNamespace(namespaceUserKinds[i], &list[j].ObjectMeta) {
				found[i] = append(found[i], s.objectNamed(kube.Ref{Resource: r, Namespace: namespace.ref.Name}, list[j].Name, nil))
			}
		}
		return nil
	})
	return slices.Concat(found...), err
}

func (s *session) usesNamespace(kind schema.GroupVersionKind, m *metav1.ObjectMeta) bool {
	switch id := m.Labels[labelInstance]; {
	case m.DeletionTimestamp != nil, id == s.target.Instance.ID, m.Labels[labelKeyOf] == s.target.Instance.ID:
		return false
	case id != "" || kind == claimKind:
		return true
	case kind.Kind == "ConfigMap" && slices.Contains(spreadConfigMaps, m.Name), s.isIssued(m):
		return false
	default:
		return len(m.OwnerReferences) == 0
	}
}

// isIssued reports whether cert-manager created a Secret for a Certificate of the instance. Such a Secret has no owner reference.
func (s *session) isIssued(m *metav1.ObjectMeta) bool {
	name := m.Annotations["cert-manager.io/certificate-name"]
	return name != "" && slices.ContainsFunc(s.saved, func(i vnfm.InventoryItem) bool {
		return i.Group == "cert-manager.io" && i.Kind == "Certificate" && i.Namespace == m.Namespace && i.Name == name
	})
}
