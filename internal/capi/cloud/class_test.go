package cloud

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// workerTemplate is a template of a class, with the patches of one definition for it.
func workerTemplate() *patchTarget {
	return &patchTarget{
		object: map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "OpenStackMachineTemplate",
			"spec": map[string]any{"flavor": "m1.tiny", "image": map[string]any{"filter": map[string]any{"name": "patched"}}, "ports": []any{"a", "b"}},
		},
		class:  "big-worker",
		values: map[string]any{"flavours": []any{map[string]any{"name": "m1.large"}}, "ssh": "ops", "builtin": map[string]any{"machineDeployment": map[string]any{"version": "v1.34.0"}}},
	}
}

// following returns the template after one patch.
func following(t *testing.T, patch string) map[string]any {
	t.Helper()
	objects, err := forms.Decode(patch)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	p := workerTemplate()
	p.apply(t.Context(), []any{objects[0]})
	return forms.Child(p.object, "spec")
}

// Patches of a class are applied as Cluster API does. Values that cannot be computed are
// unknown, and not looked up.
func TestPatchesAreFollowed(t *testing.T) {
	of := func(match, changes string) string {
		return "definitions: [{selector: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, matchResources: " + match + "}, jsonPatches: [" + changes + "]}]\n"
	}
	mine := `{machineDeploymentClass: {names: [other, "*-worker"]}}`
	for name, c := range map[string]struct {
		patch string
		want  func(spec map[string]any)
	}{
		"value":      {of(mine, `{op: replace, path: /spec/flavor, value: m1.medium}`), func(s map[string]any) { s["flavor"] = "m1.medium" }},
		"variable":   {of(mine, `{op: replace, path: /spec/flavor, valueFrom: {variable: "flavours[0].name"}}`), func(s map[string]any) { s["flavor"] = "m1.large" }},
		"new field":  {of(mine, `{op: add, path: /spec/sshKeyName, valueFrom: {variable: ssh}}`), func(s map[string]any) { s["sshKeyName"] = "ops" }},
		"template":   {of(mine, `{op: add, path: /spec/image/filter, valueFrom: {template: "name: node-{{ .builtin.machineDeployment.version | trimPrefix \"v\" }}"}}`), func(s map[string]any) { forms.Child(s, "image")["filter"] = map[string]any{"name": "node-1.34.0"} }},
		"removed":    {of(mine, `{op: remove, path: /spec/image/filter}`), func(s map[string]any) { s["image"] = map[string]any{} }},
		"list":       {of(mine, `{op: add, path: /spec/ports/-, value: c}, {op: remove, path: /spec/ports/0}, {op: add, path: /spec/ports/0, value: z}, {op: replace, path: /spec/ports/1, value: x}`), func(s map[string]any) { s["ports"] = []any{"z", "x", "c"} }},
		"no parent":  {of(mine, `{op: add, path: /spec/rootVolume/sizeGiB, value: 5}`), nil},
		"enabled":    {`enabledIf: "{{ if .ssh }}true{{ end }}"` + "\n" + of(mine, `{op: remove, path: /spec/flavor}`), func(s map[string]any) { delete(s, "flavor") }},
		"disabled":   {`enabledIf: "{{ if .none }}true{{ end }}"` + "\n" + of(mine, `{op: remove, path: /spec/flavor}`), nil},
		"perhaps":    {`enabledIf: "{{ shrug }}"` + "\n" + of(mine, `{op: remove, path: /spec/flavor}`), func(s map[string]any) { s["flavor"] = unknownValue{} }},
		"no value":   {of(mine, `{op: replace, path: /spec/image/filter/name, valueFrom: {variable: builtin.controlPlane.version}}`), func(s map[string]any) { forms.Child(forms.Child(s, "image"), "filter")["name"] = unknownValue{} }},
		"not mine":   {of(`{machineDeploymentClass: {names: [worker]}, controlPlane: true, infrastructureCluster: true}`, `{op: remove, path: /spec/flavor}`), nil},
		"other kind": {`definitions: [{selector: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackClusterTemplate, matchResources: {infrastructureCluster: true}}, jsonPatches: [{op: remove, path: /spec/flavor}]}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := forms.Child(workerTemplate().object, "spec")
			if c.want != nil {
				c.want(want)
			}
			assert.Equal(t, want, following(t, c.patch))
		})
	}
}

func TestVariablesAreCompleted(t *testing.T) {
	form := map[string]any{"type": "object", "properties": map[string]any{
		"name": map[string]any{"type": "string"}, "cloudName": map[string]any{"type": "string", "default": "openstack"},
	}}
	assert.Equal(t, map[string]any{"name": "x", "cloudName": "openstack"}, withDefaults(map[string]any{"name": "x"}, form))
	assert.Nil(t, withDefaults(nil, form))
	form["default"] = map[string]any{"name": "y", "cloudName": "mine"}
	assert.Equal(t, map[string]any{"name": "y", "cloudName": "mine"}, withDefaults(nil, form))
	assert.Equal(t, "given", withDefaults("given", map[string]any{"default": "else"}))
}

// References of an object to its credentials are compared with the Secret of the application
// credential, as far as it can be told.
func TestIdentities(t *testing.T) {
	cluster := func(spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "OpenStackCluster", "spec": spec}
	}
	machine := func(ref any) map[string]any {
		return map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "OpenStackMachineTemplate", "metadata": map[string]any{"name": "edge-upf"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"identityRef": ref}}},
		}
	}
	ref := func(name, cloud string) map[string]any {
		return map[string]any{"identityRef": map[string]any{"name": name, "cloudName": cloud}}
	}
	for name, c := range map[string]struct {
		object map[string]any
		want   string
	}{
		"right":           {cluster(ref("mine", "openstack")), ""},
		"another":         {cluster(ref("theirs", "openstack")), `its OpenStackCluster names "theirs"`},
		"another cloud":   {cluster(ref("mine", "lab")), `its OpenStackCluster takes the cloud "lab" of it`},
		"none":            {cluster(map[string]any{}), "its OpenStackCluster names no Secret"},
		"untold":          {cluster(map[string]any{"identityRef": unknownValue{}}), ""},
		"machine's own":   {machine(map[string]any{"name": "theirs"}), `the template of node group "upf" names "theirs"`},
		"machine without": {machine(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			group := map[string]any{"kind": "MachineDeployment", "metadata": map[string]any{"name": "edge-upf"}, "spec": map[string]any{"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"name": "edge-upf"}}}}}
			spec := clustertest.OpenStack(nil)
			spec.OpenStack = &vnfm.ClusterOpenStack{Credential: &vnfm.ClusterCredential{SecretName: "mine", CloudName: "openstack"}}
			q := &cloudCheck{spec: spec, objects: []map[string]any{c.object, group}}
			q.checkIdentities()
			if c.want == "" {
				assert.Empty(t, q.problems)
				return
			}
			require.Len(t, q.problems, 1)
			assert.Contains(t, q.problems[0].String(), c.want)
		})
	}
}
