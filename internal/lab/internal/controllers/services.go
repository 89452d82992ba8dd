package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Find says where an address of the cluster is reached on this machine: that of a Service leads to a program of one of
// its pods that are Ready, as the rules of kube-proxy would. An address of this machine is what it is.
func (p *Programs) Find(ctx context.Context, address string) (string, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%s is not an address: %w", address, err)
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() {
		return address, nil
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", fmt.Errorf("%s is not an address: %w", address, err)
	}
	list, err := p.Client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.clusterIP=" + host})
	if err != nil {
		return "", fmt.Errorf("looking for the service of %s: %w", host, err)
	}
	if len(list.Items) == 0 {
		return "", fmt.Errorf("nothing in the cluster has the address %s", host)
	}
	service := &list.Items[0]
	i := slices.IndexFunc(service.Spec.Ports, func(each corev1.ServicePort) bool { return int(each.Port) == port })
	if i < 0 {
		return "", fmt.Errorf("service %s/%s has no port %d", service.Namespace, service.Name, port)
	}
	pods, err := p.pods.Lister().Pods(service.Namespace).List(labels.SelectorFromSet(service.Spec.Selector))
	if err != nil {
		return "", fmt.Errorf("looking for the pods of service %s/%s: %w", service.Namespace, service.Name, err)
	}
	for _, pod := range pods {
		program := p.programOf(pod.Namespace + "/" + pod.Name)
		if program == nil || program.UID != pod.UID || !isReady(pod) {
			continue
		}
		if local, ok := program.Ports[portName(pod, &service.Spec.Ports[i])]; ok {
			return layout.Address(local), nil
		}
	}
	return "", fmt.Errorf("no pod of service %s/%s is ready", service.Namespace, service.Name)
}

// portName is the name of the container's port that a port of a Service leads to.
func portName(pod *corev1.Pod, port *corev1.ServicePort) string {
	if port.TargetPort.StrVal != "" {
		return port.TargetPort.StrVal
	}
	for i := range pod.Spec.Containers {
		for _, each := range pod.Spec.Containers[i].Ports {
			if each.ContainerPort == port.TargetPort.IntVal {
				return each.Name
			}
		}
	}
	return ""
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
