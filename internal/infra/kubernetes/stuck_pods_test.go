package kubernetes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStuckPods chooses the pods that block a roll-out.
func TestStuckPods(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	const patience = 30 * time.Second
	pod := func(name, revision string, age time.Duration, edit ...func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{}
		p.Name, p.Labels, p.CreationTimestamp = name, map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}, metav1.NewTime(now.Add(-age))
		for _, e := range edit {
			e(&p)
		}
		return p
	}
	condition := func(c corev1.PodCondition) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Conditions = append(p.Status.Conditions, c) }
	}
	ready := condition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	waiting := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
	}
	going := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }
	partition := func(set *appsv1.StatefulSet) {
		two := int32(2)
		set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &two}
	}
	tests := map[string]struct {
		edit func(*appsv1.StatefulSet)
		pods []corev1.Pod
		want []string
		wait time.Duration
	}{
		"ready ones, and those that are going":             {pods: []corev1.Pod{pod("a-0", "old", time.Hour, ready), pod("a-1", "bad", time.Hour, ready), pod("a-2", "bad", time.Hour, going)}},
		"the wanted revision":                              {pods: []corev1.Pod{pod("a-0", "new", time.Hour, waiting)}},
		"neither the wanted one nor the one before":        {pods: []corev1.Pod{pod("a-0", "old", time.Hour, ready), pod("a-1", "bad", 0)}, want: []string{"a-1"}},
		"the one before, that may still become ready":      {pods: []corev1.Pod{pod("a-0", "old", 10*time.Second), pod("a-1", "old", 25*time.Second)}, wait: 5 * time.Second},
		"the one before, that had its time":                {pods: []corev1.Pod{pod("a-0", "old", 31*time.Second)}, want: []string{"a-0"}},
		"the one before, that does not start":              {pods: []corev1.Pod{pod("a-0", "old", 0, waiting)}, want: []string{"a-0"}},
		"the one before, that finds no node":               {pods: []corev1.Pod{pod("a-0", "old", 0, condition(corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}))}, want: []string{"a-0"}},
		"the one before, not ready for a short time":       {pods: []corev1.Pod{pod("a-0", "old", time.Hour, condition(corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-20 * time.Second))}))}, wait: 10 * time.Second},
		"the one before, which a partition keeps as it is": {edit: partition, pods: []corev1.Pod{pod("a-1", "old", time.Hour, waiting), pod("a-2", "old", time.Hour, waiting)}, want: []string{"a-2"}},
		"another one below a partition":                    {edit: partition, pods: []corev1.Pod{pod("a-1", "bad", 0)}, want: []string{"a-1"}},
	}
	for name, tt := range tests {
		set := &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{CurrentRevision: "old", UpdateRevision: "new"}}
		if tt.edit != nil {
			tt.edit(set)
		}
		stuck, wait := stuckPods(set, tt.pods, now, patience)
		var got []string
		for i := range stuck {
			got = append(got, stuck[i].Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || wait != tt.wait {
			t.Errorf("%s: waits %s, want %s (-want +got):\n%s", name, wait, tt.wait, diff)
		}
	}
}
