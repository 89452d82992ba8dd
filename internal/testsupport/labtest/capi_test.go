package labtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// realCluster is a workload cluster whose API server is a lab, without nodes.
const realCluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: edge}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabCluster, name: edge}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: LabControlPlane, name: edge}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: LabCluster
metadata: {name: edge}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: LabControlPlane
metadata: {name: edge}
spec: {version: v1.36.3}
`

func TestClusterAPI(t *testing.T) {
	lab := labtest.ClusterAPI(t)
	require.NotEmpty(t, lab.Management.Version)
	require.NotEmpty(t, lab.Management.OlderEndpoint, "the lab says of Cluster API: %+v", lab.Management)
	namespace := lab.ClusterNamespace(t)
	lab.ClusterClass(t, namespace)
	assert.NotContains(t, lab.Kubectl(t, "get", "devmachinetemplates", "--namespace", namespace, "--output", "yaml"), "10s", "machines take their time")

	file := filepath.Join(t.TempDir(), "cluster.yaml")
	require.NoError(t, os.WriteFile(file, []byte(realCluster), 0o600))
	lab.Kubectl(t, "apply", "--server-side", "--namespace", namespace, "--filename", file)
	lab.Kubectl(t, "wait", "--namespace", namespace, "cluster/edge", "--for=condition=Available", "--timeout=4m")
	if out := lab.WorkloadKubectl(t, namespace, "edge", "get", "namespaces", "--output", "name"); !strings.Contains(out, "namespace/kube-system") {
		t.Errorf("namespaces of the workload cluster: %s", out)
	}

	lab.Pause(t, namespace, "edge", true)
	lab.Kubectl(t, "wait", "--namespace", namespace, "cluster/edge", "--for=condition=Paused", "--timeout=1m")
	lab.Pause(t, namespace, "edge", false)
	lab.Kubectl(t, "wait", "--namespace", namespace, "cluster/edge", "--for=condition=Paused=false", "--timeout=1m")
}

// memoryCluster is a workload cluster in memory.
const memoryCluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: memory}
spec:
  topology:
    classRef: {name: in-memory}
    version: v1.34.0
    controlPlane: {replicas: 1}
`

// TestOwnClusterAPI ends a manager, which no other test must notice: two labs with Cluster API
// run beside each other.
func TestOwnClusterAPI(t *testing.T) {
	shared := labtest.ClusterAPI(t)
	own := labtest.OwnClusterAPI(t)
	require.NotEqual(t, shared.Endpoint, own.Endpoint)
	require.NotEqual(t, shared.Management.OlderEndpoint, own.Management.OlderEndpoint, "both labs are at")
	own.Scale(t, "capi-system", "capi-controller-manager", 0)
	// The rest of the lab goes on, but without core nothing judges a Cluster.
	namespace := own.Namespace(t)
	class := []string{"apply", "--server-side", "--namespace", namespace, "--filename", own.Management.ClusterClass}
	out, err := own.TryKubectl(t.Context(), class...)
	require.ErrorContains(t, err, "failed calling webhook", "without core a ClusterClass is made: %s", out)
	own.Scale(t, "capi-system", "capi-controller-manager", 1)
	own.Kubectl(t, class...)
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	require.NoError(t, os.WriteFile(file, []byte(memoryCluster), 0o600))
	own.Kubectl(t, "apply", "--server-side", "--namespace", namespace, "--filename", file)
	own.Kubectl(t, "wait", "--namespace", namespace, "cluster/memory", "--for=jsonpath={.status.phase}=Provisioned", "--timeout=4m")
}
