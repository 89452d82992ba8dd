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

// The controller of StatefulSets rolls out pod by pod and waits for each to become ready,
// also for a pod of a revision that is not wanted any more: after a bad update neither the
// former nor a corrected template comes back by itself. Kubernetes calls the way out a
// forced rollback: the pod that blocks is deleted, and the controller creates it again from
// the wanted revision. Only pods are deleted, never claims.

const (
	// longestPatience bounds how long a pod of the revision before has to become ready. It may
	// have just been started, or follow its peers, as members of a database do.
	longestPatience = 5 * time.Minute
	// lookAgainAfter is the pause between two looks at pods that still have time, and
	// observeAfter that between two looks at a set that its controller has not seen yet.
	lookAgainAfter, observeAfter = 2 * time.Second, 200 * time.Millisecond
)

// unblock deletes the pods that block the roll-outs of StatefulSets. A set that was not
// changed since it was created, or is ready, has none.
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

// patienceWithin is a third of the time that an operation has left, or the longest patience.
func patienceWithin(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return min(time.Until(end)/3, longestPatience)
	}
	return longestPatience
}

func isStatefulSet(p *targetObject) bool {
	return gvkOf(&p.item).GroupKind() == statefulSetKind.GroupKind()
}

// unblockSet deletes the pods that block the roll-out of one StatefulSet. Those of the
// revision before are deleted only when they have been unready for as long as patience.
func (s *session) unblockSet(ctx context.Context, p *targetObject, patience time.Duration) error {
	p.listed = "" // The wait is to see its new pods.
	err := s.deleteStuck(ctx, p, patience)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The wait for readiness says what is not ready.
	}
	return err
}

// deleteStuck is unblockSet, whose end of ctx is an error.
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

// observedSet reads a StatefulSet once its controller has seen its specification; nil when
// it is gone.
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

// stuckPods returns the pods that block the roll-out of a set: they are not ready, and of
// neither the wanted revision nor the one before. After a first creation that failed, the
// revision before is the one that never was ready: its pods block as well when they cannot
// become ready by themselves, or have had the time of patience for it. wait is how long the
// next of them still has, 0 for none.
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
				// It would come back as it is.
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

// belowPartition reports whether a pod keeps the revision before by the partition of its set.
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

// notReadySince is since when a pod is not ready.
func notReadySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.LastTransitionTime.After(pod.CreationTimestamp.Time) {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// hopelessReasons are why a container waits that does not start as it is written.
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
