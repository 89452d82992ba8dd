package kubernetes

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// occupantKinds are looked at before a namespace is deleted with all that is in it.
var occupantKinds = []schema.GroupVersionKind{
	claimKind,
	{Version: "v1", Kind: "ConfigMap"},
	podKind,
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	setKind,
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// releaseNamespaces returns the objects of the batch that can be deleted. A
// namespace in which something stays, or something is somebody else's, loses the
// instance's mark instead.
func (s *session) releaseNamespaces(ctx context.Context, batch []*placement) ([]*placement, error) {
	var out []*placement
	for _, p := range batch {
		if p.item.Group != "" || p.item.Kind != "Namespace" || p.live.DeletionTimestamp != nil {
			out = append(out, p)
			continue
		}
		occupants, err := s.occupants(ctx, p)
		switch {
		case apierrors.IsForbidden(err):
			// What may not be seen may be there.
			s.progress(ctx, "namespace %s stays: it may hold what the credentials may not see: %s", p.ref.Name, err)
		case err != nil:
			return nil, err
		case len(occupants) == 0:
			out = append(out, p)
			continue
		default:
			s.progress(ctx, "namespace %s stays: it holds %s", p.ref.Name, listed(occupants))
		}
		if err := s.leaveBehind(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// occupants returns what would be lost with a namespace and is not the instance's
// to lose: volume claims, objects of other instances and, in a namespace that no
// package but the driver itself made, everything that others put there.
func (s *session) occupants(ctx context.Context, home *placement) ([]*placement, error) {
	found := make([][]*placement, len(occupantKinds))
	err := s.each(ctx, len(occupantKinds), false, func(ctx context.Context, i int) error {
		r, err := s.client.Resource(ctx, occupantKinds[i])
		if err != nil {
			return err
		}
		list, err := s.listMetadata(ctx, r, home.ref.Name, kube.ListOptions{})
		if err != nil {
			return err
		}
		for j := range list {
			if s.occupies(home, occupantKinds[i], &list[j].ObjectMeta) {
				found[i] = append(found[i], s.foundPlace(kube.Ref{Resource: r, Namespace: home.ref.Name}, list[j].Name, nil))
			}
		}
		return nil
	})
	return slices.Concat(found...), err
}

func (s *session) occupies(home *placement, kind schema.GroupVersionKind, m *metav1.ObjectMeta) bool {
	switch id := m.Labels[labelInstance]; {
	case m.DeletionTimestamp != nil || id == s.target.Instance.ID:
		return false
	case id != "" || kind == claimKind:
		return true
	case home.live.Annotations[annotationKey] != "":
		// The package brought the namespace, and said so that it goes with it.
		return false
	case kind.Kind == "ConfigMap" && m.Name == "kube-root-ca.crt":
		return false
	default:
		return len(m.OwnerReferences) == 0
	}
}

// ownersByNamespace returns the UIDs of workloads by namespace.
func ownersByNamespace(batch []*placement) map[string]map[types.UID]string {
	out := map[string]map[types.UID]string{}
	for _, p := range batch {
		if !isController(p) {
			continue
		}
		if out[p.ref.Namespace] == nil {
			out[p.ref.Namespace] = map[types.UID]string{}
		}
		out[p.ref.Namespace][p.live.UID] = p.item.Name
	}
	return out
}
