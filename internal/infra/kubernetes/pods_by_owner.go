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

// Workloads are deleted before the configuration, accounts and addresses that their pods use. Foreground deletion keeps a workload
// until its pods are deleted: the garbage collector walks down to the pods and up again, object by object. Background deletion and a
// wait for the pods are several times as fast. The owners of the pods have to be read before the workloads are deleted.

// podOwners maps a namespace to the UIDs of workloads and of the intermediate owners of their pods.
type podOwners map[string]map[types.UID]bool

// findPodOwners finds the owners of the pods of the workloads in a batch. Without the right to list pods, seen is false.
func (s *session) findPodOwners(ctx context.Context, batch []*targetObject) (f podOwners, seen bool, err error) {
	var workloads []*vduPods
	for _, p := range batch {
		if isWorkload(p) {
			workloads = append(workloads, &vduPods{id: string(p.live.UID), workload: p})
		}
	}
	err = s.readPods(ctx, nil, workloads)
	if apierrors.IsForbidden(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	f = podOwners{}
	for _, w := range workloads {
		namespace := w.workload.ref.Namespace
		if f[namespace] == nil {
			f[namespace] = map[types.UID]bool{}
		}
		f[namespace][w.workload.live.UID] = true
		for i := range w.pods {
			for _, owner := range w.pods[i].OwnerReferences {
				f[namespace][owner.UID] = true
			}
		}
	}
	return f, true, nil
}

// awaitPods waits until the pods of deleted workloads are deleted. It lists the pods again, because the events of a watch may be late.
// It passes the grace period with the deletion of the pods, since a workload has none.
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
