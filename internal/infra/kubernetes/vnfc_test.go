package kubernetes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestVNFCOf(t *testing.T) {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "amf-x", Namespace: "core5g", CreationTimestamp: metav1.NewTime(made)},
			Spec:       corev1.PodSpec{NodeName: "node-1"},
			Status: corev1.PodStatus{
				Phase:      corev1.PodRunning,
				PodIPs:     []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}},
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			},
		}
		change(p)
		return p
	}
	running := vnfm.VNFC{
		ID: "amf-amf-x", VDUID: "amf", Resource: "amf-x", Namespace: "core5g", Node: "node-1",
		Addresses: []string{"10.0.0.1", "fd00::1"}, State: "Running", Ready: true, CreatedAt: made,
	}
	with := func(change func(*vnfm.VNFC)) vnfm.VNFC {
		c := running
		change(&c)
		return c
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want vnfm.VNFC
	}{
		"running": {pod(func(*corev1.Pod) {}), running},
		"crashing": {
			pod(func(p *corev1.Pod) {
				p.Status.Conditions[0].Status = corev1.ConditionFalse
				p.Status.ContainerStatuses = []corev1.ContainerStatus{
					{RestartCount: 2},
					{RestartCount: 5, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s"}}},
				}
			}),
			with(func(c *vnfm.VNFC) {
				c.Ready, c.State, c.Message, c.Restarts = false, "CrashLoopBackOff", "back-off 40s", 7
			}),
		},
		"unschedulable": {
			pod(func(p *corev1.Pod) {
				p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
					{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"},
				}}
			}),
			with(func(c *vnfm.VNFC) {
				c.Ready, c.State, c.Message, c.Node, c.Addresses = false, "Unschedulable", "0/3 nodes are available", "", nil
			}),
		},
		"evicted": {
			pod(func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message, p.Status.Conditions = corev1.PodFailed, "Evicted", "the node was low on memory", nil
			}),
			with(func(c *vnfm.VNFC) { c.Ready, c.State, c.Message = false, "Evicted", "the node was low on memory" }),
		},
		"ending": {
			pod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: made} }),
			with(func(c *vnfm.VNFC) { c.Ready, c.State = false, "Terminating" }),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, cmp.Diff(tt.want, vnfcOf("amf", tt.pod)), "VNFC")
		})
	}
}
