package vnfm

import "strings"

// compoundKinds are the kinds of Kubernetes whose names have several words, by their names in lower case.
var compoundKinds = func() map[string]string {
	out := map[string]string{}
	for kind := range strings.FieldsSeq("ConfigMap CronJob CustomResourceDefinition DaemonSet EndpointSlice HorizontalPodAutoscaler LimitRange " +
		"NetworkPolicy PersistentVolume PersistentVolumeClaim PodDisruptionBudget PriorityClass ReplicaSet ReplicationController ResourceQuota RoleBinding " +
		"ClusterRole ClusterRoleBinding ServiceAccount StatefulSet StorageClass VolumeAttachment") {
		out[strings.ToLower(kind)] = kind
	}
	return out
}()

// ManifestKind is a kind of Kubernetes in lower case, with its group or without, as manifests write it: "apps/StatefulSet".
func ManifestKind(kind string) string {
	group, name := "", kind
	if i := strings.LastIndexByte(kind, '/'); i >= 0 {
		group, name = kind[:i+1], kind[i+1:]
	}
	if right := compoundKinds[strings.ToLower(name)]; right != "" {
		return group + right
	}
	if name == "" {
		return kind
	}
	return group + strings.ToUpper(name[:1]) + name[1:]
}
