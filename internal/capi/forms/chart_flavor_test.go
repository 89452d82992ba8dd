package forms

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestFlavorByID: a chart that writes each flavor as a name gets machines that find theirs by its id.
func TestFlavorByID(t *testing.T) {
	t.Parallel()
	const id, other = "6f4a2a4e-3b7a-4f0e-9c59-5c1a2f8c7d10", "00000000-0000-0000-0000-000000000000"
	type fields = map[string]any
	for name, c := range map[string]struct {
		embedded      bool
		version, kind string
		machine, want fields
	}{
		"id":             {machine: fields{"flavor": id}, want: fields{"flavorID": id}},
		"name":           {machine: fields{"flavor": "m1.large"}, want: fields{"flavor": "m1.large"}},
		"both":           {machine: fields{"flavor": id, "flavorID": other}, want: fields{"flavor": id, "flavorID": other}},
		"none":           {machine: fields{}, want: fields{}},
		"parameter":      {version: "v1beta2", machine: fields{"flavor": fields{"id": id}}, want: fields{"flavor": fields{"id": id}}},
		"older version":  {version: "v1alpha7", machine: fields{"flavor": id}, want: fields{"flavor": id}},
		"other kind":     {kind: "OpenStackClusterTemplate", machine: fields{"flavor": id}, want: fields{"flavor": id}},
		"embedded chart": {embedded: true, machine: fields{"flavor": id}, want: fields{"flavor": id}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := vnfm.ChartSource{Path: "chart"}
			if c.embedded {
				source = vnfm.ChartSource{Name: "openstack"}
			}
			if c.version == "" {
				c.version = "v1beta1"
			}
			if c.kind == "" {
				c.kind = "OpenStackMachineTemplate"
			}
			objects := []map[string]any{{"apiVersion": "infrastructure.cluster.x-k8s.io/" + c.version, "kind": c.kind, "spec": fields{"template": fields{"spec": c.machine}}}}
			chart{ClusterChart: &vnfm.ClusterChart{ChartSource: source}}.findFlavors(objects)
			assert.Equal(t, c.want, Child(Child(Child(objects[0], "spec"), "template"), "spec"))
		})
	}
	// It is part of the rendering.
	path := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: own\nversion: 1.0.0\n", "values.yaml": "controlPlane: {machineFlavor: }\n",
		"templates/machine.yaml": "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate\nmetadata: {name: a}\nspec: {template: {spec: {flavor: {{ .Values.controlPlane.machineFlavor }}}}}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(path, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(text), 0o600))
	}
	var ps vnfm.Problems
	objects, _ := Render(&vnfm.ClusterSpec{
		Name: "edge", Namespace: "core", APIVersion: "v1beta2", Chart: &vnfm.ClusterChart{ChartSource: vnfm.ChartSource{Path: path}}, ControlPlane: vnfm.ClusterControlPlane{Flavor: id},
	}, &ps)
	require.Empty(t, ps)
	require.Len(t, objects, 1)
	assert.Equal(t, fields{"flavorID": id}, Child(Child(Child(objects[0], "spec"), "template"), "spec"))
}
