package kubernetes

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Workloads are deleted before what their pods use: configuration, accounts, addresses.
// Foreground deletion keeps a workload until its pods are gone: the garbage collector walks
// down to the pods and up again, object by object. Background deletion and a wait for the
// pods is several times as fast. The owners of the pods have to be known before the
// workloads are deleted.

// podsByOwner has, for each namespace, the UIDs of workloads and of the owners between them
// and their pods.
type podsByOwner map[string]map[types.UID]bool

// findPodOwners finds the owners of the pods of the workloads in a batch; nil for no
// workload. Without the right to list pods, seen is false.
func (s *session) findPodOwners(ctx context.Context, batch []*targetObject) (f podsByOwner, seen bool, err error) {
	namespaces := ownersByNamespace(batch)
	if len(namespaces) == 0 {
		return nil, true, nil
	}
	f = podsByOwner{}
	before := s.podsBefore
	s.podsBefore = nil
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		byOwner, err := s.podsOf(ctx, namespace, namespaces[namespace], before)
		if apierrors.IsForbidden(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		members := map[types.UID]bool{}
		for uid := range namespaces[namespace] {
			members[uid] = true
		}
		for _, pods := range byOwner {
			for i := range pods {
				for _, owner := range pods[i].OwnerReferences {
					members[owner.UID] = true
				}
			}
		}
		f[namespace] = members
	}
	return f, true, nil
}

// readOwnedAhead begins to read the pods of the namespaces that workloads among the expected objects are in, and which records of
// releases there are.
func (s *session) readOwnedAhead(ctx context.Context, expected []*targetObject) {
	var owners []*vduPods
	for _, p := range expected {
		if isWorkload(p) {
			owners = append(owners, &vduPods{workload: p})
		}
	}
	s.podsBefore = s.readPods(ctx, owners)
	if s.rendering == nil || s.rendering.Release == nil {
		s.recordsBefore = ahead(func() listedRecords { return s.listRecords(ctx) })
	}
}

// podsOf returns the pods of owners in a namespace, which may have been read before.
func (s *session) podsOf(ctx context.Context, namespace string, owners map[types.UID]string, before *namespacePods) (map[string][]corev1.Pod, error) {
	if before == nil {
		return s.client.PodsOf(ctx, namespace, owners)
	}
	before.reading.Wait()
	if pods, err := before.pods[namespace], before.errs[namespace]; pods != nil && err == nil {
		return pods.Of(ctx, owners)
	}
	return s.client.PodsOf(ctx, namespace, owners)
}

// awaitPods waits until the pods of deleted workloads are gone. A grace period is set on
// the pods: a workload has none.
func (s *session) awaitPods(ctx context.Context, f podsByOwner, grace *int64) error {
	r, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	var refs []kube.Ref
	var hurry []kube.DeleteOptions
	for _, namespace := range slices.Sorted(maps.Keys(f)) {
		list, err := s.listMetadata(ctx, r, namespace, kube.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list {
			for _, owner := range list[i].OwnerReferences {
				if f[namespace][owner.UID] {
					refs = append(refs, kube.Ref{Resource: r, Namespace: namespace, Name: list[i].Name})
					hurry = append(hurry, kube.DeleteOptions{UID: list[i].UID, GracePeriod: grace})
					break
				}
			}
		}
	}
	if grace != nil {
		err := s.each(ctx, len(refs), true, func(ctx context.Context, i int) error { return s.client.Delete(ctx, refs[i], hurry[i]) })
		if err != nil {
			return err
		}
	}
	return s.client.WaitGone(ctx, refs, s.waitOptions(ctx, ""))
}

// ownersByNamespace returns the UIDs of workloads by namespace.
func ownersByNamespace(batch []*targetObject) map[string]map[types.UID]string {
	out := map[string]map[types.UID]string{}
	for _, p := range batch {
		if !isWorkload(p) {
			continue
		}
		if out[p.ref.Namespace] == nil {
			out[p.ref.Namespace] = map[types.UID]string{}
		}
		out[p.ref.Namespace][p.live.UID] = p.item.Name
	}
	return out
}
