package readiness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const (
		ready  = "ready"
		failed = "failed"
		not    = "not ready"
	)
	for _, tc := range []struct {
		name, object, want string
		// reason is a part of the reason or the message.
		reason string
	}{
		{"deployment before its controller", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 0}}`, not, "LatestGenerationNotObserved"},
		{"deployment of an older generation", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}`, not, "LatestGenerationNotObserved"},
		{"deployment with 0 replicas", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, ready, ""},
		{"deployment on its way to 0", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 2}}`, not, "2 replicas"},
		{"deployment that was not updated", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 1}}`, not, "Updated: 1/2"},
		{"deployment without a default", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {}, status: {observedGeneration: 1}}`, not, "Replicas: 0/1"},
		{"deployment rolled out", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1, progressDeadlineSeconds: 600}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}`, ready, ""},
		{"deployment past its deadline", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: timed out}]}}`, failed, "ProgressDeadlineExceeded"},
		{"deployment past the deadline of the generation before", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}}`, not, "LatestGenerationNotObserved"},
		{"deployment paused", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 1}, spec: {replicas: 1, paused: true}, status: {observedGeneration: 1, conditions: [{type: Progressing, status: Unknown, reason: DeploymentPaused}]}}`, not, "spec.paused"},
		{"stateful set before its controller", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 0}, status: {}}`, not, "LatestGenerationNotObserved"},
		{"stateful set with 0 replicas", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`, ready, ""},
		{"stateful set OnDelete not ready", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, replicas: 2, readyReplicas: 1}}`, not, "Ready: 1/2"},
		{"stateful set OnDelete", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 2, updateStrategy: {type: OnDelete}}, status: {observedGeneration: 1, replicas: 2, readyReplicas: 2, updateRevision: b, currentRevision: a}}`, ready, ""},
		{"stateful set of an old revision", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentReplicas: 1, updateRevision: b, currentRevision: a}}`, not, "revision"},
		{"daemon set without matching node", `{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0}}`, ready, ""},
		{"daemon set OnDelete", `{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 2}, spec: {updateStrategy: {type: OnDelete}}, status: {observedGeneration: 2, desiredNumberScheduled: 2, currentNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 0}}`, ready, ""},
		{"daemon set", `{apiVersion: apps/v1, kind: DaemonSet, metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1, numberReady: 1}}`, not, "Available: 1/2"},
		{"replication controller", `{apiVersion: v1, kind: ReplicationController, metadata: {generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1, replicas: 2, readyReplicas: 1}}`, not, "Ready: 1/2"},
		{"replica set with 0 replicas", `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1, replicas: 0}}`, ready, ""},
		{"job at work", `{apiVersion: batch/v1, kind: Job, spec: {completions: 3}, status: {startTime: "2026-01-01T00:00:00Z", active: 1, succeeded: 1}}`, not, "succeeded: 1/3"},
		{"job complete", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`, ready, ""},
		{"job failed", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]}}`, failed, "BackoffLimitExceeded"},
		{"job complete and cleaned up", `{apiVersion: batch/v1, kind: Job, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {ttlSecondsAfterFinished: 0}, status: {conditions: [{type: Complete, status: "True"}]}}`, ready, ""},
		{"job complete and deleted", `{apiVersion: batch/v1, kind: Job, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, status: {conditions: [{type: Complete, status: "True"}]}}`, not, "Terminating"},
		{"job suspended", `{apiVersion: batch/v1, kind: Job, spec: {suspend: true}}`, ready, ""},
		{"pod running but not ready", `{apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]}}`, not, "ContainersNotReady"},
		{"pod ready", `{apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`, ready, ""},
		{"pod crashing", `{apiVersion: v1, kind: Pod, status: {phase: Running, containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff}}}]}}`, not, ""},
		{"pod without a node", `{apiVersion: v1, kind: Pod, metadata: {creationTimestamp: "2020-01-01T00:00:00Z"}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, not, "Unschedulable"},
		{"pod failed", `{apiVersion: v1, kind: Pod, status: {phase: Failed, reason: Evicted}}`, failed, "Evicted"},
		{"claim pending", `{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}}`, not, "NotBound"},
		{"claim bound", `{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound}}`, ready, ""},
		{"claim lost", `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: pv1}, status: {phase: Lost}}`, failed, "pv1"},
		{"volume available", `{apiVersion: v1, kind: PersistentVolume, status: {phase: Available}}`, ready, ""},
		{"volume released", `{apiVersion: v1, kind: PersistentVolume, status: {phase: Released}}`, not, "claimRef"},
		{"external name", `{apiVersion: v1, kind: Service, spec: {type: ExternalName, externalName: example.org}}`, ready, ""},
		{"topology without its class", `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {generation: 2}, spec: {topology: {}}, status: {conditions: [{type: TopologyReconciled, status: "False", reason: ReconcileFailed, message: class x not found, observedGeneration: 2}]}}`, not, "class x not found"},
		{"topology that failed before", `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {generation: 2}, spec: {topology: {}}, status: {conditions: [{type: TopologyReconciled, status: "False", reason: ReconcileFailed, message: class x not found, observedGeneration: 1}]}}`, not, "has not seen generation 2"},
		{"headless service", `{apiVersion: v1, kind: Service, spec: {type: ClusterIP, clusterIP: None}}`, ready, ""},
		{"service with IPv6", `{apiVersion: v1, kind: Service, spec: {type: ClusterIP, clusterIP: "fd00::1"}}`, ready, ""},
		{"namespace", `{apiVersion: v1, kind: Namespace, status: {phase: Active}}`, ready, ""},
		{"namespace before its time", `{apiVersion: v1, kind: Namespace}`, not, ""},
		{"extension API", `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, status: {conditions: [{type: Available, status: "False", reason: MissingEndpoints}]}}`, not, "MissingEndpoints"},
		{"definition", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "True"}]}}`, ready, ""},
		{"definition at work", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: Established, status: "False", reason: Installing}]}}`, not, ""},
		{"autoscaler without metrics", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: ScalingActive, status: "False"}]}}`, ready, ""},
		{"disruption budget", `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {generation: 2}, status: {observedGeneration: 1}}`, ready, ""},
		{"ingress without address", `{apiVersion: networking.k8s.io/v1, kind: Ingress, status: {loadBalancer: {}}}`, ready, ""},
		{"custom resource", `{apiVersion: example.org/v1, kind: Slice, status: {conditions: [{type: Ready, status: "False", reason: Waiting}]}}`, not, "Waiting"},
		{"custom resource stalled", `{apiVersion: example.org/v1, kind: Slice, status: {conditions: [{type: Stalled, status: "True", reason: Broken}]}}`, failed, "Broken"},
		{"being deleted", `{apiVersion: v1, kind: ConfigMap, metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}`, not, "Terminating"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			// This decodes numbers as the client does.
			obj := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(tc.object), &obj.Object))
			v := Of(obj, nil)
			got := not
			switch {
			case v.Ready:
				got = ready
			case v.Failed:
				got = failed
			}
			require.Equal(t, tc.want, got)
			assert.Contains(t, v.Reason+" "+v.Message, tc.reason, "%s (%s: %s)", got, v.Reason, v.Message)
		})
	}
}
