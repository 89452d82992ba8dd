package capi

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fullTopology is a topology with all that one can say.
func fullTopology(version string) *vnfm.ClusterSpec {
	spec := topologySpec(version)
	spec.Labels, spec.Annotations = map[string]string{"site": "a"}, map[string]string{"owner": "core"}
	spec.Network = &vnfm.ClusterNetwork{PodCIDRs: []string{"10.0.0.0/16", "fd00::/48"}, ServiceCIDRs: []string{"10.96.0.0/12"}, ServiceDomain: "cluster.test", APIServerPort: 6444}
	cp := &spec.ControlPlane
	cp.Labels, cp.Annotations = map[string]string{"zone": "cp"}, map[string]string{"note": "cp"}
	cp.Variables = map[string]any{"size": 5, "list": []any{"a", true, 1.5}}
	cp.Deletion = &vnfm.MachineDeletion{NodeDrainTimeout: number(90), NodeVolumeDetachTimeout: number(0), NodeDeletionTimeout: number(10)}
	cp.HealthCheck = &vnfm.HealthCheck{Enabled: true, NodeStartupTimeout: 600, UnhealthyTimeout: 120, MaxUnhealthy: "40%"}
	group := vnfm.NodeGroup{
		Class: "w", Replicas: number(0), Labels: map[string]string{"node-role.kubernetes.io/core": ""}, FailureDomain: "b", Variables: map[string]any{"flavour": "big"},
		HealthCheck: &vnfm.HealthCheck{UnhealthyTimeout: 60}, Deletion: &vnfm.MachineDeletion{NodeDrainTimeout: number(30)}, Rollout: &vnfm.NodeRollout{Type: "OnDelete"},
	}
	if version != "v1beta1" {
		group.Taints = []vnfm.NodeTaint{{Key: "dedicated", Value: "core", Effect: "NoSchedule"}, {Key: "boot", Effect: "NoExecute", Propagation: "OnInitialization"}}
	}
	spec.NodeGroups["full"], spec.NodeGroups["bare"] = group, vnfm.NodeGroup{Class: "w"}
	return spec
}

func paused(spec *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	spec.Paused = true
	return spec
}

// TestSentBytes: the objects of clusters stay the same to the byte. The digests are those of
// the manifests that are applied; those of topologies are in testdata as well.
func TestSentBytes(t *testing.T) {
	t.Parallel()
	least := &vnfm.ClusterSpec{Name: "edge", Namespace: "core", APIVersion: "v1beta2", KubernetesVersion: "v1.34.0", Topology: &vnfm.ClusterTopology{Class: "small"}}
	leastOlder := *least
	leastOlder.APIVersion = "v1beta1"
	for name, c := range map[string]struct {
		spec *vnfm.ClusterSpec
		want string
	}{
		"topology-least-v1beta2": {least, "389fc8d9a4653157"},
		"topology-least-v1beta1": {&leastOlder, "56cf6f35c0bf4070"},
		"topology-v1beta2":       {fullTopology("v1beta2"), "0e039f138471a527"},
		"topology-v1beta1":       {fullTopology("v1beta1"), "738416691c90ba53"},
		"topology-paused":        {paused(topologySpec("v1beta2")), "ea1ff5e37f097a57"},
		"chart":                  {chartSpec(), "719c590e2e5b1f07"},
		"chart-paused":           {paused(chartSpec()), "d5aa43482a80cfb6"},
		"openstack":              {openstackSpec(nil), "37aeeed68c43dba8"},
		"openstack-full":         {placed(openstackSpec(everything())), "bfb86a15f2c55cca"},
		"template":               {templateSpec(), "0dda1f175436516e"},
		"template-machines":      {machinesSpec(map[string]string{"FLAVOUR": "big"}), "d35de23578249d16"},
	} {
		t.Run(name, func(t *testing.T) {
			p, problems := New(nil, nil).Package(c.spec)
			require.Empty(t, problems)
			sent, err := fs.ReadFile(p.Content, p.KubernetesFiles[0])
			require.NoError(t, err)
			sum := sha256.Sum256(sent)
			if c.spec.Topology != nil {
				want, err := os.ReadFile(filepath.Join("testdata", "sent", name+".yaml"))
				require.NoError(t, err)
				assert.Equal(t, string(want), string(sent))
			}
			assert.Equal(t, c.want, hex.EncodeToString(sum[:8]))
		})
	}
}
