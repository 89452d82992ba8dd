// Package nodes makes the nodes of a lab, as far as KWOK does not fill them in.
package nodes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Max is how many nodes of a cluster have a range of pod addresses of their own.
const Max = 100

// Node says what is particular about a node.
type Node struct {
	Name string
	// Index chooses the range of pod addresses, and the zone.
	Index int
	// Version is that of its kubelet.
	Version string
	// ProviderID names the machine that the node stands for; empty for a node without one.
	ProviderID string
}

// PodRange is the range of pod addresses of the node with an index.
func PodRange(index int) string { return fmt.Sprintf("10.%d.0.0/16", 128+index) }

// Ensure makes a node of 64 CPUs, 256 GiB and 500 pods when it is not there.
func Ensure(ctx context.Context, client kubernetes.Interface, node Node) error {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("500"),
	}
	podRange := PodRange(node.Index)
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name,
			Labels: map[string]string{
				corev1.LabelHostname:   node.Name,
				corev1.LabelOSStable:   string(corev1.Linux),
				corev1.LabelArchStable: "amd64",
				// Two zones, for topology spread and anti-affinity.
				corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", node.Index%2),
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Spec: corev1.NodeSpec{PodCIDR: podRange, PodCIDRs: []string{podRange}, ProviderID: node.ProviderID},
		Status: corev1.NodeStatus{
			Capacity:    resources,
			Allocatable: resources,
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          node.Version,
				ContainerRuntimeVersion: "containerd://2.1.0",
				OperatingSystem:         string(corev1.Linux),
				Architecture:            "amd64",
				OSImage:                 "lab",
			},
		},
	}
	if _, err := client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making node %s: %w", node.Name, err)
	}
	return nil
}
