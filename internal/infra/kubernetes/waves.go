package kubernetes

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The waves in which objects are made; objects of one wave are made in parallel,
// and what the next one stands on is ready first.
const (
	// waveFoundation: what other objects live in or are kinds of.
	waveFoundation = iota
	// waveConfiguration: configuration, rights, storage, addresses.
	waveConfiguration
	// waveWorkload: what runs, and what looks after what runs.
	waveWorkload
	// waveCustom: custom resources, whose operators are workloads.
	waveCustom
	// waveExtension: what makes the API server call a workload; a webhook whose
	// pods do not run yet refuses every object.
	waveExtension
	waves
)

// waveOfKind holds the built-in kinds by group and kind. What is absent is a
// custom resource.
var waveOfKind = map[string]map[string]int{
	"": {
		"Namespace":             waveFoundation,
		"ConfigMap":             waveConfiguration,
		"Endpoints":             waveConfiguration,
		"LimitRange":            waveConfiguration,
		"Node":                  waveConfiguration,
		"PersistentVolume":      waveConfiguration,
		"PersistentVolumeClaim": waveConfiguration,
		"PodTemplate":           waveConfiguration,
		"ResourceQuota":         waveConfiguration,
		"Secret":                waveConfiguration,
		"Service":               waveConfiguration,
		"ServiceAccount":        waveConfiguration,
		"Pod":                   waveWorkload,
		"ReplicationController": waveWorkload,
	},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy":          waveExtension,
		"MutatingAdmissionPolicyBinding":   waveExtension,
		"MutatingWebhookConfiguration":     waveExtension,
		"ValidatingAdmissionPolicy":        waveExtension,
		"ValidatingAdmissionPolicyBinding": waveExtension,
		"ValidatingWebhookConfiguration":   waveExtension,
	},
	"apiextensions.k8s.io":   {"CustomResourceDefinition": waveFoundation},
	"apiregistration.k8s.io": {"APIService": waveExtension},
	"apps": {
		"ControllerRevision": waveConfiguration,
		"DaemonSet":          waveWorkload,
		"Deployment":         waveWorkload,
		"ReplicaSet":         waveWorkload,
		"StatefulSet":        waveWorkload,
	},
	"autoscaling":         {"HorizontalPodAutoscaler": waveWorkload},
	"batch":               {"CronJob": waveWorkload, "Job": waveWorkload},
	"coordination.k8s.io": {"Lease": waveConfiguration},
	"discovery.k8s.io":    {"EndpointSlice": waveConfiguration},
	"extensions":          {"Ingress": waveWorkload},
	"flowcontrol.apiserver.k8s.io": {
		"FlowSchema":                 waveConfiguration,
		"PriorityLevelConfiguration": waveConfiguration,
	},
	"networking.k8s.io": {
		"IngressClass":  waveFoundation,
		"NetworkPolicy": waveConfiguration,
		"Ingress":       waveWorkload,
		"IPAddress":     waveConfiguration,
		"ServiceCIDR":   waveConfiguration,
	},
	"node.k8s.io": {"RuntimeClass": waveFoundation},
	"policy":      {"PodDisruptionBudget": waveWorkload},
	"rbac.authorization.k8s.io": {
		"ClusterRole":        waveConfiguration,
		"ClusterRoleBinding": waveConfiguration,
		"Role":               waveConfiguration,
		"RoleBinding":        waveConfiguration,
	},
	"scheduling.k8s.io": {"PriorityClass": waveFoundation},
	"storage.k8s.io": {
		"CSIDriver":             waveFoundation,
		"StorageClass":          waveFoundation,
		"VolumeAttributesClass": waveFoundation,
		"VolumeAttachment":      waveConfiguration,
	},
	// What pods refer to before they can start.
	"gateway.networking.k8s.io": {"GatewayClass": waveFoundation},
	"k8s.cni.cncf.io":           {"NetworkAttachmentDefinition": waveConfiguration},
	"snapshot.storage.k8s.io":   {"VolumeSnapshotClass": waveFoundation},
}

// waveOf returns the wave of a kind.
func waveOf(group, kind string) int {
	if w, ok := waveOfKind[group][kind]; ok {
		return w
	}
	return waveCustom
}

// builtIn reports whether the kind is one of Kubernetes itself: it cannot come
// from a CustomResourceDefinition.
func builtIn(group, kind string) bool {
	_, ok := waveOfKind[group][kind]
	return ok && group != "gateway.networking.k8s.io" && group != "k8s.cni.cncf.io" && group != "snapshot.storage.k8s.io"
}

// KnownKinds returns all kinds that have a wave of their own, sorted by group and kind.
func KnownKinds() []schema.GroupKind {
	var out []schema.GroupKind
	for _, group := range slices.Sorted(maps.Keys(waveOfKind)) {
		for _, kind := range slices.Sorted(maps.Keys(waveOfKind[group])) {
			out = append(out, schema.GroupKind{Group: group, Kind: kind})
		}
	}
	return out
}
