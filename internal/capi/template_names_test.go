package capi

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// machinesTemplate has templates of machines in all places that refer to one.
var machinesTemplate = strings.Replace(clusterTemplate, `spec: {replicas: ${WORKER_MACHINE_COUNT}, clusterName: "${CLUSTER_NAME}"}`, `spec:
  replicas: ${WORKER_MACHINE_COUNT}
  clusterName: "${CLUSTER_NAME}"
  template:
    spec:
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: "${CLUSTER_NAME}-md-0"}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackMachineTemplate, name: "${CLUSTER_NAME}-md-0"}
`, 1) + `---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: "${CLUSTER_NAME}-old"}
spec: {machineTemplate: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: shared}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: "${CLUSTER_NAME}-new"}
spec: {machineTemplate: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackMachineTemplate, name: shared}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: "${CLUSTER_NAME}-pool"}
spec: {template: {spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachinePool, name: pool}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachinePool
metadata: {name: pool}
spec: {size: "${FLAVOUR:=small}"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: "${CLUSTER_NAME}-md-0", labels: {owner: "${OWNER:=core}"}}
spec: {template: {spec: {flavor: "${FLAVOUR:=small}"}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: shared}
spec: {template: {spec: {flavor: "${CONTROL_FLAVOUR:=small}"}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: "${CLUSTER_NAME}-md-0"}
spec: {template: {spec: {preKubeadmCommands: ["${COMMAND:=true}"]}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: unused}
spec: {template: {spec: {flavor: "${FLAVOUR:=small}"}}}
`

func machinesSpec(variables map[string]string) *vnfm.ClusterSpec {
	spec := templateSpec()
	spec.Template = &vnfm.ClusterTemplate{Content: machinesTemplate, Variables: variables}
	return spec
}

// next returns a specification that follows another one, or nil.
func next(present *vnfm.ClusterSpec, variables map[string]string) *vnfm.ClusterSpec {
	wanted := machinesSpec(variables)
	New(nil, nil).CarryOver(wanted, present)
	return wanted
}

// templatesOf returns the names of the templates of machines, by the objects that refer to them.
func templatesOf(t *testing.T, spec *vnfm.ClusterSpec) map[string]string {
	t.Helper()
	objects := render(t, spec)
	out := map[string]string{}
	refer := func(role, key string, ref any) {
		name, _ := ref.(map[string]any)["name"].(string)
		require.Contains(t, objects, key+" "+name, "%s refers to what there is not", role)
		out[role] = name
	}
	group := at(t, objects["MachineDeployment edge-md-0"], "spec", "template", "spec")
	refer("machine", "OpenStackMachineTemplate", at(t, group, "infrastructureRef"))
	refer("bootstrap", "KubeadmConfigTemplate", at(t, group, "bootstrap", "configRef"))
	refer("old", "OpenStackMachineTemplate", at(t, objects["KubeadmControlPlane edge-old"], "spec", "machineTemplate", "infrastructureRef"))
	refer("new", "OpenStackMachineTemplate", at(t, objects["KubeadmControlPlane edge-new"], "spec", "machineTemplate", "spec", "infrastructureRef"))
	refer("pool", "DevMachinePool", at(t, objects["MachinePool edge-pool"], "spec", "template", "spec", "infrastructureRef"))
	require.Contains(t, objects, "OpenStackMachineTemplate unused")
	return out
}

// A template of machines has the written name until its content changes, and then a name with
// a digest of its content. All other templates keep their names.
func TestTemplatesAreNamedByContent(t *testing.T) {
	written := map[string]string{"machine": "edge-md-0", "bootstrap": "edge-md-0", "old": "shared", "new": "shared", "pool": "pool"}
	first := next(nil, nil)
	require.Equal(t, written, templatesOf(t, first))
	assert.Equal(t, written, templatesOf(t, next(first, map[string]string{"OWNER": "edge"})), "a label is none of the content")

	large := next(first, map[string]string{"FLAVOUR": "large"})
	names := templatesOf(t, large)
	assert.Regexp(t, `^edge-md-0-[0-9a-f]{8}$`, names["machine"])
	assert.Equal(t, written["bootstrap"]+" shared shared pool", strings.Join([]string{names["bootstrap"], names["old"], names["new"], names["pool"]}, " "))

	again := next(large, map[string]string{"FLAVOUR": "large"})
	assert.Equal(t, names, templatesOf(t, again), "the same is the same")
	both := templatesOf(t, next(again, map[string]string{"FLAVOUR": "huge", "CONTROL_FLAVOUR": "large", "COMMAND": "false"}))
	assert.NotEqual(t, names["machine"], both["machine"])
	assert.Regexp(t, `^edge-md-0-[0-9a-f]{8}$`, both["bootstrap"])
	assert.Regexp(t, `^shared-[0-9a-f]{8}$`, both["old"])
	assert.Equal(t, both["old"], both["new"])
	assert.Equal(t, written, templatesOf(t, next(again, nil)), "back to the first content")
}

// Templates keep their written names if no first content is recorded, also after a change of
// the form.
func TestTemplatesKeepTheirNames(t *testing.T) {
	older := machinesSpec(map[string]string{"FLAVOUR": "large"})
	before := templatesOf(t, older)
	assert.Equal(t, "edge-md-0", before["machine"])
	assert.Equal(t, before, templatesOf(t, next(older, map[string]string{"FLAVOUR": "large"})))
	assert.NotEqual(t, before, templatesOf(t, next(older, nil)))

	other := topologySpec("v1beta2")
	assert.Equal(t, before, templatesOf(t, next(other, map[string]string{"FLAVOUR": "large"})), "another form had other templates")
}

// The templates of a cluster without a record keep the names of the existing objects.
func TestTemplatesWithoutRecord(t *testing.T) {
	large := next(next(nil, nil), map[string]string{"FLAVOUR": "large"})
	lost := machinesSpec(map[string]string{"FLAVOUR": "large"})
	for key := range maps.Keys(render(t, large)) {
		lost.Template.Known = append(lost.Template.Known, "infrastructure.cluster.x-k8s.io/v1beta1/"+key, "bootstrap.cluster.x-k8s.io/v1beta2/"+key)
	}
	slices.Sort(lost.Template.Known)
	New(nil, nil).CarryOver(lost, nil)
	assert.Equal(t, templatesOf(t, large), templatesOf(t, lost))
	assert.Equal(t, templatesOf(t, large), templatesOf(t, next(lost, map[string]string{"FLAVOUR": "large"})))
	assert.NotEqual(t, templatesOf(t, large), templatesOf(t, next(lost, map[string]string{"FLAVOUR": "huge"})))
}
