package kubernetes

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// namespaceUserKinds are looked at before a namespace is deleted with all that is in it.
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

// removable returns the objects of the batch that can be deleted. What others may live
// by, a namespace or the definition of a kind, loses the instance's mark instead when
// it is to be kept, and when something stays in it or is somebody else's.
func (r *removal) removable(ctx context.Context, batch []*targetObject) ([]*targetObject, error) {
	s := r.session
	var out []*targetObject
	for _, p := range batch {
		keep, inUse, err := r.inUse(ctx, p)
		if err != nil {
			return nil, err
		}
		if !keep && inUse == "" {
			out = append(out, p)
			continue
		}
		if keep {
			s.progress(ctx, "%s stays as it is wanted", p)
		} else {
			s.progress(ctx, "%s stays: %s", p, inUse)
			if r.onKept != nil {
				r.onKept(p.String(), inUse)
			}
		}
		if err := s.retain(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inUse reports whether an object is to be kept, and by what it is in use, which
// is empty for an object that can go.
func (r *removal) inUse(ctx context.Context, p *targetObject) (keep bool, inUse string, err error) {
	var users []*targetObject
	switch {
	case p.live.DeletionTimestamp != nil:
		return false, "", nil
	case p.item.Group == "" && p.item.Kind == "Namespace":
		if r.keepNamespace && isDriverMade(p) {
			return true, "", nil
		}
		users, err = r.session.namespaceUsers(ctx, p)
		inUse = "it holds "
	case isDefinition(p):
		if r.keepDefinitions {
			return true, "", nil
		}
		users, err = r.session.livingForeignObjects(ctx, p)
		inUse = "there are objects of its kind that are not the instance's: "
	}
	if err != nil {
		refusal, text := kube.RefusalOf(err)
		if refusal != kube.NotAllowed && refusal != kube.RefusedForNow {
			return false, "", err
		}
		// What may not be seen, or not at the moment, may be there.
		return false, "somebody else's objects may be there that cannot be seen: " + text, nil
	}
	if len(users) == 0 {
		return false, "", nil
	}
	return false, inUse + firstNames(users), nil
}

// isDriverMade reports whether a namespace was made for the instance, and by no package.
func isDriverMade(p *targetObject) bool { return p.live.Annotations[annotationKey] == "" }

// namespaceUsers returns what would be lost with a namespace and is not the instance's
// to lose: volume claims, objects of other instances and, in a namespace that no
// package but the driver itself made, everything that others put there.
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
		// The package brought the namespace, and said so that it goes with it.
		return false
	case kind.Kind == "ConfigMap" && m.Name == "kube-root-ca.crt":
		return false
	default:
		return len(m.OwnerReferences) == 0
	}
}
