package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// The StatefulSet controller rolls out pod by pod and waits until each pod is ready, even a pod of an obsolete revision. After a bad
// update it therefore rolls out neither the former nor a corrected template. The remedy is a forced rollback, in the words of
// Kubernetes: the driver deletes the blocking pod, and the controller recreates it from the update revision. The driver deletes only
// pods, never claims.

const (
	// longestPatience bounds the time that a pod of the current revision has to become ready. The pod may have just been started, or
	// may wait for its peers, like a member of a database.
	longestPatience = 5 * time.Minute
	// lookAgainAfter is the interval between checks of pods whose time has not ended. observeAfter is the interval between checks
	// whether the controller has observed a set.
	lookAgainAfter, observeAfter = 2 * time.Second, 200 * time.Millisecond
)

// unblock deletes the pods that block the roll-outs of StatefulSets. A set that is ready or was never changed has no such pods.
func (s *session) unblock(ctx context.Context, target []*targetObject) error {
	var sets []*targetObject
	for _, p := range target {
		changed := p.object != nil && p.live != nil && !p.shared && !p.ready && p.live.Generation > 1
		if changed && isStatefulSet(p) && restartable(p) {
			sets = append(sets, p)
		}
	}
	return s.each(ctx, len(sets), false, func(ctx context.Context, i int) error { return s.unblockSet(ctx, sets[i], patienceWithin(ctx)) })
}

// patienceWithin returns a third of the remaining time of an operation, at most longestPatience.
func patienceWithin(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(time.Until(end)/3, longestPatience)
	}
	return longestPatience
}

func isStatefulSet(p *targetObject) bool {
	return gvkOf(&p.item).GroupKind() == statefulSetKind.GroupKind()
}

// unblockSet deletes the pods that block the roll-out of one StatefulSet. It deletes pods of the current revision only if they cannot
// become ready or have been unready for the time of patience.
func (s *session) unblockSet(ctx context.Context, p *targetObject, patience time.Duration) error {
	p.listed = "" // The wait has to list the set again after the deletion.
	err := s.deleteStuck(ctx, p, patience)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The wait for readiness says what is not ready.
	}
	return err
}

// deleteStuck does the work of unblockSet. It returns an error if ctx ends.
func (s *session) deleteStuck(ctx context.Context, p *targetObject, patience time.Duration) error {
	resource, err := s.client.Resource(ctx, podKind)
	if err != nil {
		return err
	}
	for {
		set, err := s.observedSet(ctx, p)
		if err != nil || set == nil {
			return err
		}
		byOwner, err := s.client.PodsOf(ctx, p.ref.Namespace, map[types.UID]string{set.UID: p.item.Key})
		if apierrors.IsForbidden(err) {
			s.progress(ctx, "%s: not looked for pods that block its roll-out: %v", p, err)
			return nil //nolint:nilerr // Without that right the controller decides alone.
		}
		if err != nil {
			return fmt.Errorf("looking for pods that block the roll-out of %s: %w", p, err)
		}
		stuck, wait := stuckPods(set, byOwner[p.item.Key], time.Now(), patience)
		for i := range stuck {
			pod := &stuck[i]
			s.progress(ctx, "deleting pod %s/%s of %s, which is not ready and blocks the roll-out", pod.Namespace, pod.Name, p)
			ref := kube.Ref{Resource: resource, Namespace: pod.Namespace, Name: pod.Name}
			if err := s.client.Delete(ctx, ref, kube.DeleteOptions{UID: pod.UID}); err != nil {
				return fmt.Errorf("deleting a pod that is not ready and blocks the roll-out of %s: %w", p, err)
			}
		}
		if wait <= 0 {
			return nil
		}
		if err := poll.Sleep(ctx, min(wait, lookAgainAfter)); err != nil {
			return err
		}
	}
}

// observedSet waits until the controller has observed the specification of a StatefulSet, and returns the set. It returns nil if the
// set does not exist.
func (s *session) observedSet(ctx context.Context, p *targetObject) (*appsv1.StatefulSet, error) {
	for {
		obj, err := s.client.Get(ctx, p.ref)
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilerr // It is gone.
		}
		if err != nil {
			return nil, fmt.Errorf("looking for pods that block the roll-out of %s: %w", p, err)
		}
		set, err := statefulSetOf(obj)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		if set.Status.ObservedGeneration >= set.Generation {
			return set, nil
		}
		if err := poll.Sleep(ctx, observeAfter); err != nil {
			return nil, err
		}
	}
}

func statefulSetOf(obj *unstructured.Unstructured) (*appsv1.StatefulSet, error) {
	set := &appsv1.StatefulSet{}
	return set, runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, set)
}

// stuckPods returns the unready pods that block the roll-out of a set. Pods of the update revision never block. Pods of the current
// revision block if they cannot become ready without a change, or have been unready for the time of patience: after a failed creation
// the current revision never was ready. A partition protects them. Pods of other revisions always block. wait is the shortest
// remaining time of a pod, 0 if there is none.
func stuckPods(set *appsv1.StatefulSet, pods []corev1.Pod, now time.Time, patience time.Duration) (stuck []corev1.Pod, wait time.Duration) {
	for i := range pods {
		pod := &pods[i]
		revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		if pod.DeletionTimestamp != nil || podIsReady(pod) || revision == set.Status.UpdateRevision {
			continue
		}
		left := time.Duration(0)
		if revision == set.Status.CurrentRevision {
			if belowPartition(set, pod) {
				// The controller would recreate the same pod.
				continue
			}
			if !hopeless(pod) {
				left = patience - now.Sub(notReadySince(pod))
			}
		}
		switch {
		case left <= 0:
			stuck = append(stuck, *pod)
		case wait == 0 || left < wait:
			wait = left
		}
	}
	return stuck, wait
}

// belowPartition reports whether a pod keeps the current revision because of the partition of its set.
func belowPartition(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || rolling.Partition == nil {
		return false
	}
	start := 0
	if set.Spec.Ordinals != nil {
		start = int(set.Spec.Ordinals.Start)
	}
	ordinal, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:])
	return err == nil && ordinal < start+int(*rolling.Partition)
}

// notReadySince returns the time since which a pod is not ready.
func notReadySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.LastTransitionTime.After(pod.CreationTimestamp.Time) {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// hopelessReasons are the waiting reasons of a container that cannot start without a change.
var hopelessReasons = []string{
	"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull", "ImageInspectError", "ImagePullBackOff",
	"InvalidImageName", "RunContainerError",
}

// hopeless reports whether a pod has a container that does not start, or finds no node.
func hopeless(pod *corev1.Pod) bool {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if c.State.Waiting != nil && slices.Contains(hopelessReasons, c.State.Waiting.Reason) {
			return true
		}
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}
