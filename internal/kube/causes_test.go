package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestCausesOfAPod attributes the events of a claim to the object whose pending pod waits for it.
func TestCausesOfAPod(t *testing.T) {
	class := "fast"
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db-0", UID: "pod"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"}}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
	}
	require.Equal(t, []string{"data-db-0", "db-0-tmp"}, claimsOf(&pod))
	unbound := map[string]corev1.PersistentVolumeClaim{
		"db-0-tmp": {ObjectMeta: metav1.ObjectMeta{Name: "db-0-tmp", UID: "tmp"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}},
		"other":    {ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "other"}},
	}
	why := causes{of: map[types.UID]types.UID{"db": "db"}, claims: map[types.UID][]corev1.PersistentVolumeClaim{}}
	why.addPods("db", []corev1.Pod{pod}, unbound)
	event := func(uid types.UID, kind corev1.ObjectReference) corev1.Event {
		kind.UID = uid
		return corev1.Event{InvolvedObject: kind, Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed"}
	}
	claim := corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
	got := why.attribute(t.Context(), []corev1.Event{event("tmp", claim), event("other", claim), event("elsewhere", corev1.ObjectReference{APIVersion: "v1", Kind: "Pod"})})
	require.Len(t, got, 1)
	require.Len(t, got["db"], 1)
	require.Equal(t, []string{"claim db-0-tmp: phase unknown, StorageClass fast"}, podState(&pod, why.claims["pod"]...).Claims)

	pod.Status.Phase = corev1.PodRunning
	require.Empty(t, claimsOf(&pod))
}

// TestLastEventsOfOneCause reports messages once that differ only in the name of the pod.
func TestLastEventsOfOneCause(t *testing.T) {
	event := func(second int, message string) corev1.Event {
		return corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "ReplicaSet", Name: "web-7d9f"}, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
			LastTimestamp: metav1.NewTime(time.Unix(int64(second), 0)), Message: message,
		}
	}
	got := lastEvents([]corev1.Event{
		event(1, `Error creating: pods "web-7d9f-abcde" is forbidden: exceeded quota: q`),
		event(2, `Error creating: pods "web-7d9f-fghij" is forbidden: exceeded quota: q`),
		event(3, `Error creating: admission webhook "gate.example.org" denied the request: no`),
	}, time.Unix(10, 0))
	require.Len(t, got, 2)
	require.Contains(t, got[0], "web-7d9f-fghij")
	require.Contains(t, got[1], `(ReplicaSet web-7d9f 7s ago): Error creating: admission webhook "gate.example.org" denied`)
}
