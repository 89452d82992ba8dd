package forms

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FuzzTemplate reads foreign templates of clusterctl: they give objects, or a problem with its argument.
func FuzzTemplate(f *testing.F) {
	const good = `apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: "${CLUSTER_NAME}", namespace: "${NAMESPACE:=default}" }
spec: { topology: { version: "${KUBERNETES_VERSION}" } }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: { name: "${CLUSTER_NAME}-md-0" }
spec: { replicas: ${WORKER_MACHINE_COUNT:-1} }
`
	for _, text := range []string{good, "${a:-${b:-${c}}}", "${", "${a:1:2}${a/x/y}${#a}", "a: &a [1]\nb: [*a, *a]", "- 1\n", "metadata: 1", "kind: Cluster\nspec: []\n---\nkind: MachineDeployment\nspec: { replicas: [] }"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		replicas := int64(1)
		spec := &vnfm.ClusterSpec{
			Name: "edge", Namespace: "default", KubernetesVersion: "1.34.0",
			ControlPlane: vnfm.ClusterControlPlane{Replicas: &replicas}, NodeGroups: map[string]vnfm.NodeGroup{"md-0": {Replicas: &replicas}},
		}
		var ps vnfm.Problems
		template{&vnfm.ClusterTemplate{Content: text}}.objects(spec, &ps)
		for _, p := range ps {
			require.NotEmpty(t, p.Attribute)
			assert.NotEmpty(t, p.Summary, "a problem without its argument: %+v", p)
		}
	})
}
