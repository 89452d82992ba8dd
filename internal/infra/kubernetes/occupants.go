package kubernetes

import (
	"context"
	"slices"

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

// release returns the objects of the batch that can be deleted. What others may live
// by, a namespace or the definition of a kind, loses the instance's mark instead when
// it is to be kept, and when something stays in it or is somebody else's.
func (r *removal) release(ctx context.Context, batch []*placement) ([]*placement, error) {
	s := r.session
	var out []*placement
	for _, p := range batch {
		keep, inUse, err := r.shared(ctx, p)
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
			if r.leftBehind != nil {
				r.leftBehind(p.String(), inUse)
			}
		}
		if err := s.leaveBehind(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shared reports whether an object is to be kept, and by what it is in use, which
// is empty for an object that can go.
func (r *removal) shared(ctx context.Context, p *placement) (keep bool, inUse string, err error) {
	var others []*placement
	switch {
	case p.live.DeletionTimestamp != nil:
		return false, "", nil
	case p.item.Group == "" && p.item.Kind == "Namespace":
		if r.keepHome && isOwnHome(p) {
			return true, "", nil
		}
		others, err = r.session.occupants(ctx, p)
		inUse = "it holds "
	case isDefinition(p):
		if r.keepDefinitions {
			return true, "", nil
		}
		others, err = r.session.strangers(ctx, p)
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
	if len(others) == 0 {
		return false, "", nil
	}
	return false, inUse + listed(others), nil
}

// isOwnHome reports whether a namespace was made for the instance, and by no package.
func isOwnHome(p *placement) bool { return p.live.Annotations[annotationKey] == "" }

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
	case !isOwnHome(home):
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
