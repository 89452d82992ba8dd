package kubernetes

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Workloads are deleted before what their pods use: configuration, accounts, addresses.
// Foreground deletion keeps a workload until its pods are gone: the garbage collector walks
// down to the pods and up again, object by object. Background deletion and a wait for the
// pods is several times as fast. The owners of the pods have to be known before the
// workloads are deleted.

// podOwners are, for each namespace, the UIDs of workloads and of the owners between them and their pods.
type podOwners map[string]map[types.UID]bool

// findPodOwners finds the owners of the pods of the workloads in a batch; nil for no
// workload. Without the right to list pods, seen is false.
func (s *session) findPodOwners(ctx context.Context, batch []*targetObject) (f podOwners, seen bool, err error) {
	namespaces := ownersByNamespace(batch)
	if len(namespaces) == 0 {
		return nil, true, nil
	}
	f = podOwners{}
	before := s.podsBefore
	s.podsBefore = nil
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		all, err := s.podsIn(ctx, namespace, before)
		if apierrors.IsForbidden(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		byOwner, err := all.Of(ctx, namespaces[namespace])
		if err != nil {
			return nil, false, err
		}
		owners := map[types.UID]bool{}
		for uid := range namespaces[namespace] {
			owners[uid] = true
		}
		for _, pods := range byOwner {
			for i := range pods {
				for _, owner := range pods[i].OwnerReferences {
					owners[owner.UID] = true
				}
			}
		}
		f[namespace] = owners
	}
	return f, true, nil
}

// readOwnedAhead begins to read the pods of the namespaces that workloads among the expected objects are in.
func (s *session) readOwnedAhead(ctx context.Context, expected []*targetObject) {
	var owners []*vduPods
	for _, p := range expected {
		if isWorkload(p) {
			owners = append(owners, &vduPods{workload: p})
		}
	}
	s.podsBefore = s.readPods(ctx, owners)
}

// podsIn returns the pods of a namespace, which may have been read before.
func (s *session) podsIn(ctx context.Context, namespace string, before *namespacePods) (*kube.Pods, error) {
	if before != nil {
		before.reading.Wait()
		if pods, err := before.pods[namespace], before.errs[namespace]; pods != nil && err == nil {
			return pods, nil
		}
	}
	return s.client.ReadPods(ctx, namespace, nil)
}

// awaitPods waits until the pods of deleted workloads are gone: those that are listed now, which no watch tells whose events may be late.
// A grace period is set on the pods: a workload has none.
func (s *session) awaitPods(ctx context.Context, f podOwners, grace *int64) error {
	r, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	var refs []kube.Ref
	var hurry []kube.DeleteOptions
	options := s.waitOptions(ctx, "")
	options.Known = map[int]kube.Known{}
	for _, namespace := range slices.Sorted(maps.Keys(f)) {
		list, version, err := s.client.ListMetadataVersion(ctx, r, namespace, kube.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list {
			if !slices.ContainsFunc(list[i].OwnerReferences, func(o metav1.OwnerReference) bool { return f[namespace][o.UID] }) {
				continue
			}
			pod := &unstructured.Unstructured{}
			list[i].ManagedFields = nil
			if pod.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&list[i]); err != nil {
				return err
			}
			options.Known[len(refs)] = kube.Known{Object: pod, Listed: version}
			refs = append(refs, kube.Ref{Resource: r, Namespace: namespace, Name: list[i].Name})
			hurry = append(hurry, kube.DeleteOptions{UID: list[i].UID, GracePeriod: grace})
		}
	}
	if grace != nil {
		err := s.each(ctx, len(refs), true, func(ctx context.Context, i int) error { return s.client.Delete(ctx, refs[i], hurry[i]) })
		if err != nil {
			return err
		}
	}
	return s.client.WaitGone(ctx, refs, options)
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
