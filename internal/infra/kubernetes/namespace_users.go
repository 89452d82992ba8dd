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

// removable returns the objects of the batch that can be deleted. A namespace or definition
// that is to be kept, or that others use, loses the label of the instance instead.
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
			s.progress(ctx, "%s is kept as specified", p)
		} else {
			s.progress(ctx, "%s is kept: %s", p, inUse)
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

// inUse reports whether an object is to be kept and which objects use it. The description
// is empty for an object that can be deleted.
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
		// Objects that cannot be listed may exist.
		return false, "foreign objects that cannot be listed may exist: " + text, nil
	}
	if len(users) == 0 {
		return false, "", nil
	}
	return false, inUse + firstNames(users), nil
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
