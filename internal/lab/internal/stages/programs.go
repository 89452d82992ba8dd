package stages

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Some pods are not played: the lab has the program of their image, and runs it. They are the managers of Cluster API,
// whose pods carry ProgramLabel as all components of its providers do.
const (
	// ProgramLabel tells pods that may be real ones from all others.
	ProgramLabel = "cluster.x-k8s.io/provider"
	// AnswersAnnotation is "true" on a pod whose program answers its readiness probe. Such a pod becomes Ready then, and
	// not before.
	AnswersAnnotation = "lab.vnf/answers"
)

// programs are those of the lab by the last part of the name of their image, whatever its registry and version: the lab
// has one version of each.
var programs = map[string]string{
	"cluster-api-controller":           "core",
	"kubeadm-bootstrap-controller":     "bootstrap",
	"kubeadm-control-plane-controller": "control-plane",
	"capd-manager":                     ProgramInMemory,
	"capi-openstack-controller":        ProgramOpenStack,
}

const (
	// ProgramInMemory is the provider of machines that exist in its memory alone.
	ProgramInMemory = "in-memory"
	// ProgramOpenStack is the provider of machines that are servers of an OpenStack.
	ProgramOpenStack = "openstack"
)

// Programs names the programs.
func Programs() []string { return slices.Sorted(maps.Values(programs)) }

// programImages finds an image of a program. It is a regular expression of Go and of jq.
func programImages() string {
	return "(^|/)(" + strings.Join(slices.Sorted(maps.Keys(programs)), "|") + ")(:|@|$)"
}

var programImage = regexp.MustCompile(programImages())

// ProgramOf returns the program that a pod is to run, and the container that it is; nil for a pod that is played.
func ProgramOf(pod *corev1.Pod) (program string, container *corev1.Container) {
	if pod.Labels[ProgramLabel] == "" {
		return "", nil
	}
	for i := range pod.Spec.Containers {
		if found := programImage.FindStringSubmatch(pod.Spec.Containers[i].Image); found != nil {
			return programs[found[2]], &pod.Spec.Containers[i]
		}
	}
	return "", nil
}
