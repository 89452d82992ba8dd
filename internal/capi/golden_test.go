package capi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // It is deprecated, and management clusters serve it.
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
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
	cp.Deletion = &vnfm.MachineDeletion{NodeDrainTimeout: clustertest.Seconds(90), NodeVolumeDetachTimeout: clustertest.Seconds(0), NodeDeletionTimeout: clustertest.Seconds(10)}
	cp.HealthCheck = &vnfm.HealthCheck{Enabled: true, NodeStartupTimeout: 600 * time.Second, UnhealthyTimeout: 120 * time.Second, MaxUnhealthy: "40%"}
	group := vnfm.NodeGroup{
		Class: "w", Replicas: clustertest.Number(0), Labels: map[string]string{"node-role.kubernetes.io/core": ""}, FailureDomain: "b", Variables: map[string]any{"flavour": "big"},
		HealthCheck: &vnfm.HealthCheck{UnhealthyTimeout: 60 * time.Second}, Deletion: &vnfm.MachineDeletion{NodeDrainTimeout: clustertest.Seconds(30)}, Rollout: &vnfm.NodeRollout{Type: "OnDelete"},
	}
	if version != "v1beta1" {
		group.Taints = []vnfm.NodeTaint{{Key: "dedicated", Value: "core", Effect: "NoSchedule"}, {Key: "boot", Effect: "NoExecute", Propagation: "OnInitialization"}}
	}
	spec.NodeGroups["full"], spec.NodeGroups["bare"] = group, vnfm.NodeGroup{Class: "w"}
	return spec
}

func paused(spec *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	spec.Paused = new(true)
	return spec
}

func after(spec *vnfm.ClusterSpec, at string) *vnfm.ClusterSpec {
	spec.RolloutAfter = at
	return spec
}

// TestSentBytes: the objects of clusters stay the same to the byte. The digests are digests of
// the applied manifests, some of which are in testdata as well.
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
		"topology-offset":        {after(topologySpec("v1beta2"), "2026-01-02T05:04:05+02:00"), "fd3ee90bf057a084"},
		"topology-paused":        {paused(topologySpec("v1beta2")), "ea1ff5e37f097a57"},
		"chart":                  {chartSpec(), "719c590e2e5b1f07"},
		"chart-paused":           {paused(chartSpec()), "d5aa43482a80cfb6"},
		"openstack":              {clustertest.OpenStack(nil), "66266f08c9eefd3e"},
		"openstack-full":         {clustertest.Placed(clustertest.OpenStack(clustertest.Everything())), "bb4158edfd8bd2f9"},
		"template":               {templateSpec(), "0dda1f175436516e"},
		"template-machines":      {machinesSpec(map[string]string{"FLAVOUR": "big"}), "d35de23578249d16"},
	} {
		t.Run(name, func(t *testing.T) {
			p, problems := New(nil, nil).Package(c.spec)
			require.Empty(t, problems)
			sent, err := fs.ReadFile(p.Content, p.KubernetesFiles[0])
			require.NoError(t, err)
			checkTypes(t, string(sent))
			sum := sha256.Sum256(sent)
			if want, err := os.ReadFile(filepath.Join("testdata", "sent", name+".yaml")); err == nil {
				assert.Equal(t, string(want), string(sent))
			}
			assert.Equal(t, c.want, hex.EncodeToString(sum[:8]))
		})
	}
}

// coreTypes are the types of Cluster API's own kinds.
func coreTypes() map[string]any {
	return map[string]any{
		"cluster.x-k8s.io/v1beta1 Cluster":            &clusterv1beta1.Cluster{},
		"cluster.x-k8s.io/v1beta1 MachineDeployment":  &clusterv1beta1.MachineDeployment{},
		"cluster.x-k8s.io/v1beta1 MachineHealthCheck": &clusterv1beta1.MachineHealthCheck{},
		"cluster.x-k8s.io/v1beta2 Cluster":            &clusterv1.Cluster{},
		"cluster.x-k8s.io/v1beta2 MachineDeployment":  &clusterv1.MachineDeployment{},
		"cluster.x-k8s.io/v1beta2 MachineHealthCheck": &clusterv1.MachineHealthCheck{},
		"cluster.x-k8s.io/v1beta2 MachinePool":        &clusterv1.MachinePool{},
	}
}

// checkTypes requires that the type of each object has all fields, with the same values.
func checkTypes(t *testing.T, sent string) {
	t.Helper()
	objects, err := forms.Decode(sent)
	require.NoError(t, err)
	for _, o := range objects {
		typed := coreTypes()[forms.StringAt(o, "apiVersion")+" "+forms.StringAt(o, "kind")]
		if typed == nil {
			// Objects of infrastructure and bootstrap providers, and other objects of a chart.
			assert.NotEqual(t, forms.Group, forms.GroupOf(forms.StringAt(o, "apiVersion")), "the type of %v is unknown", o["kind"])
			continue
		}
		text, err := json.Marshal(o)
		require.NoError(t, err)
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(typed), "%v", o["kind"])
		text, err = json.Marshal(typed)
		require.NoError(t, err)
		var back map[string]any
		require.NoError(t, json.Unmarshal(text, &back))
		var want map[string]any
		text, err = json.Marshal(o)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &want))
		assert.Empty(t, lost("", want, back), "%v", o["kind"])
	}
}

// lost returns the paths of values that the type does not keep.
func lost(path string, sent, typed any) []string {
	var out []string
	switch sent := sent.(type) {
	case map[string]any:
		fields, _ := typed.(map[string]any)
		for name, v := range sent {
			out = append(out, lost(path+"."+name, v, fields[name])...)
		}
	case []any:
		elements, _ := typed.([]any)
		if len(elements) != len(sent) {
			return []string{path}
		}
		for i, v := range sent {
			out = append(out, lost(fmt.Sprintf("%s[%d]", path, i), v, elements[i])...)
		}
	default:
		if sent != typed && !sameTime(sent, typed) {
			out = append(out, fmt.Sprintf("%s: %v, %v", path, sent, typed))
		}
	}
	return out
}

// sameTime compares durations and times that the types write in another form: 90s as 1m30s,
// and a time with an offset in UTC.
func sameTime(a, b any) bool {
	x, errX := time.ParseDuration(fmt.Sprint(a))
	y, errY := time.ParseDuration(fmt.Sprint(b))
	if errX == nil && errY == nil {
		return x == y
	}
	at, errX := time.Parse(time.RFC3339, fmt.Sprint(a))
	bt, errY := time.Parse(time.RFC3339, fmt.Sprint(b))
	return errX == nil && errY == nil && at.Equal(bt)
}
