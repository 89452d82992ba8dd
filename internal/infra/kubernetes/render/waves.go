package render

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The waves in which objects are applied. Objects of one wave are applied concurrently, and each wave after all writes of the
// previous one. Between waves, readiness is awaited only after WaveFoundation and before WaveExtension.
const (
	// WaveFoundation: namespaces, definitions and classes that other objects refer to.
	WaveFoundation = iota
	// WaveConfiguration: configuration, RBAC, storage, Services and network policies.
	WaveConfiguration
	// WaveWorkload: workloads, autoscalers, disruption budgets, Ingresses.
	WaveWorkload
	// WaveCustom: custom resources, whose operators are workloads.
	WaveCustom
	// WaveExtension: webhooks, API services and admission policies. A webhook whose pods do not run yet rejects every object.
	WaveExtension
	Waves
)

// waveOfKind has the built-in kinds and some well-known ones. All others are custom resources.
var waveOfKind = map[string]map[string]int{
	"": {
		"Namespace":             WaveFoundation,
		"ConfigMap":             WaveConfiguration,
		"Endpoints":             WaveConfiguration,
		"LimitRange":            WaveConfiguration,
		"Node":                  WaveConfiguration,
		"PersistentVolume":      WaveConfiguration,
		"PersistentVolumeClaim": WaveConfiguration,
		"PodTemplate":           WaveConfiguration,
		"ResourceQuota":         WaveConfiguration,
		"Secret":                WaveConfiguration,
		"Service":               WaveConfiguration,
		"ServiceAccount":        WaveConfiguration,
		"Pod":                   WaveWorkload,
		"ReplicationController": WaveWorkload,
	},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy":          WaveExtension,
		"MutatingAdmissionPolicyBinding":   WaveExtension,
		"MutatingWebhookConfiguration":     WaveExtension,
		"ValidatingAdmissionPolicy":        WaveExtension,
		"ValidatingAdmissionPolicyBinding": WaveExtension,
		"ValidatingWebhookConfiguration":   WaveExtension,
	},
	"apiextensions.k8s.io":   {"CustomResourceDefinition": WaveFoundation},
	"apiregistration.k8s.io": {"APIService": WaveExtension},
	"apps": {
		"ControllerRevision": WaveConfiguration,
		"DaemonSet":          WaveWorkload,
		"Deployment":         WaveWorkload,
		"ReplicaSet":         WaveWorkload,
		"StatefulSet":        WaveWorkload,
	},
	"autoscaling":         {"HorizontalPodAutoscaler": WaveWorkload},
	"batch":               {"CronJob": WaveWorkload, "Job": WaveWorkload},
	"coordination.k8s.io": {"Lease": WaveConfiguration},
	"discovery.k8s.io":    {"EndpointSlice": WaveConfiguration},
	"extensions":          {"Ingress": WaveWorkload},
	"flowcontrol.apiserver.k8s.io": {
		"FlowSchema":                 WaveConfiguration,
		"PriorityLevelConfiguration": WaveConfiguration,
	},
	"networking.k8s.io": {
		"IngressClass":  WaveFoundation,
		"NetworkPolicy": WaveConfiguration,
		"Ingress":       WaveWorkload,
		"IPAddress":     WaveConfiguration,
		"ServiceCIDR":   WaveConfiguration,
	},
	"node.k8s.io": {"RuntimeClass": WaveFoundation},
	"policy":      {"PodDisruptionBudget": WaveWorkload},
	"rbac.authorization.k8s.io": {
		"ClusterRole":        WaveConfiguration,
		"ClusterRoleBinding": WaveConfiguration,
		"Role":               WaveConfiguration,
		"RoleBinding":        WaveConfiguration,
	},
	"scheduling.k8s.io": {"PriorityClass": WaveFoundation},
	"storage.k8s.io": {
		"CSIDriver":             WaveFoundation,
		"StorageClass":          WaveFoundation,
		"VolumeAttributesClass": WaveFoundation,
		"VolumeAttachment":      WaveConfiguration,
	},
	// Prerequisites of pods.
	"gateway.networking.k8s.io": {"GatewayClass": WaveFoundation},
	"k8s.cni.cncf.io":           {"NetworkAttachmentDefinition": WaveConfiguration},
	"snapshot.storage.k8s.io":   {"VolumeSnapshotClass": WaveFoundation},
}

// WaveOf returns the wave of a kind.
func WaveOf(group, kind string) int {
	if w, ok := waveOfKind[group][kind]; ok {
		return w
	}
	return WaveCustom
}

// BuiltIn reports whether the kind is built into Kubernetes, not defined by a CustomResourceDefinition.
func BuiltIn(group, kind string) bool {
	_, ok := waveOfKind[group][kind]
	return ok && group != "gateway.networking.k8s.io" && group != "k8s.cni.cncf.io" && group != "snapshot.storage.k8s.io"
}

// KnownKinds returns all kinds in waveOfKind, sorted by group and kind.
func KnownKinds() []schema.GroupKind {
	var out []schema.GroupKind
	for _, group := range slices.Sorted(maps.Keys(waveOfKind)) {
		for _, kind := range slices.Sorted(maps.Keys(waveOfKind[group])) {
			out = append(out, schema.GroupKind{Group: group, Kind: kind})
		}
	}
	return out
}
