package controllers

import (
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// TestFind leads the address of a Service to the program of a pod that is Ready.
func TestFind(t *testing.T) {
	labels := map[string]string{stages.ProgramLabel: "cluster-api"}
	pod := func(name string, ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u1", Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "manager", Ports: []corev1.ContainerPort{{Name: portWebhooks, ContainerPort: 9443}},
			}}},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		}
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "webhooks"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Selector: labels, Ports: []corev1.ServicePort{
			{Port: 443, TargetPort: intstr.FromString(portWebhooks)},
			{Port: 9443, TargetPort: intstr.FromInt32(9443)},
			{Port: 80, TargetPort: intstr.FromString("other")},
		}},
	}
	client := fake.NewClientset(service, pod("new", corev1.ConditionFalse), pod("old", corev1.ConditionTrue), pod("played", corev1.ConditionTrue))
	p, err := NewPrograms(ProgramsConfig{Client: client, Dir: layout.Dir(t.TempDir()), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	synced(t, p.factory)
	p.remember(namespace+"/new", &Program{UID: "u1", Ports: map[string]int{portWebhooks: 1001}})
	p.remember(namespace+"/old", &Program{UID: "u1", Ports: map[string]int{portWebhooks: 1000}})

	for address, want := range map[string]string{
		"127.0.0.1:10250": "127.0.0.1:10250",
		"10.96.0.7:443":   "127.0.0.1:1000",
		"10.96.0.7:9443":  "127.0.0.1:1000",
		"10.96.0.7:80":    "no pod of service core/webhooks is ready",
		"10.96.0.7:81":    "service core/webhooks has no port 81",
		"10.96.0.7":       "is not an address",
	} {
		got, err := p.Find(t.Context(), address)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s is reached at %q, want %q", address, got, want)
		}
	}
}
