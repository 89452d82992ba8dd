package translate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vnfdTarget is a target of the only flavour of a VNFD that comes without manifests,
// at its default level.
func vnfdTarget(t *testing.T, text string) (*vnfm.Target, vnfm.Problems) {
	t.Helper()
	content := fstest.MapFS{"v.yaml": {Data: []byte(text)}}
	d, ps := vnfd.Read(budget.New(t.Context(), budget.Limits{}), content, "v.yaml")
	if ps.HasErrors() {
		return nil, ps
	}
	counts, more := vnfd.Counts(&d.Flavours[0], "", nil)
	require.False(t, more.HasErrors(), more)
	return &vnfm.Target{
		Instance:  &vnfm.Instance{ID: "i-1", Name: "one", OperationalState: vnfm.Started},
		Package:   &vnfm.Package{ID: "p@sha256:1", Name: "p", Descriptor: d, Content: content},
		Flavour:   &d.Flavours[0],
		Counts:    counts,
		DigestKey: []byte("key"),
	}, nil
}

// sol001 is a VNFD of SOL001 with these node templates and further sections, all
// indented like node templates.
func sol001(nodes string) string {
	return `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    VNF:
      type: tosca.nodes.nfv.VNF
      properties: { descriptor_id: d, descriptor_version: "1", provider: p, product_name: n, software_version: "1", flavour_id: simple }
` + nodes
}

const (
	webVDU = `    web:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 } }
      requirements: [ container: nginx ]
`
	nginxImage = `      artifacts: { image: { type: tosca.artifacts.nfv.SwImage, file: registry.example.com/nginx:1.0 } }
`
	nginx = `    nginx:
      type: tosca.nodes.nfv.Vdu.OsContainer
` + nginxImage
)

// renderedText renders a target and returns its objects as YAML, by identity.
func renderedText(t *testing.T, target *vnfm.Target) map[string]string {
	t.Helper()
	r, ps := render.Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	out := map[string]string{}
	for _, o := range r.Objects {
		text, err := yaml.Marshal(o.Content)
		require.NoError(t, err)
		out[o.Key] = string(text)
	}
	return out
}

func TestTranslate(t *testing.T) {
	for _, tt := range translations {
		t.Run(tt.name, func(t *testing.T) {
			target, ps := vnfdTarget(t, tt.vnfd)
			require.False(t, ps.HasErrors(), ps)
			got := renderedText(t, target)
			want := map[string]any{}
			for key, text := range tt.want {
				var v any
				require.NoError(t, yaml.Unmarshal([]byte(text), &v), "%s", key)
				want[key] = v
			}
			have := map[string]any{}
			for key, text := range got {
				var v any
				require.NoError(t, yaml.Unmarshal([]byte(text), &v))
				if _, asked := want[key]; asked || !tt.some {
					have[key] = v
				}
			}
			assert.Equal(t, want, have, "objects")
			assert.Equal(t, got, renderedText(t, target), "a second rendering differs")
		})
	}
}

func TestTranslateProblems(t *testing.T) {
	for _, tt := range badTranslations {
		t.Run(tt.name, func(t *testing.T) {
			target, ps := vnfdTarget(t, tt.vnfd)
			if target != nil {
				if tt.params != nil {
					target.Instance.AdditionalParams = tt.params
				}
				_, ps = render.Render(budget.New(t.Context(), budget.Limits{}), target)
			}
			var lines []string
			for _, p := range ps {
				if p.Severity == vnfm.SeverityError {
					lines = append(lines, p.String())
				}
			}
			assert.Equal(t, tt.want, strings.Join(lines, "\n"), "problems")
		})
	}
}

// TestTranslateWarns of a connection point without the name of its device.
func TestTranslateWarns(t *testing.T) {
	target, ps := vnfdTarget(t, sol001(webVDU+nginx+`    n3:
      type: tosca.nodes.nfv.VduCp
      properties: { layer_protocols: [ ipv4 ], vnic_type: direct-physical }
      requirements: [ virtual_binding: web ]
`))
	require.False(t, ps.HasErrors(), ps)
	_, ps = render.Render(budget.New(t.Context(), budget.Limits{}), target)
	want := `v.yaml:16:59: the connection point n3 needs a device (vnic_type direct-physical) and does not name it: name it by k8s.v1.cni.cncf.io/resourceName in its network_interface_requirements`
	if len(ps) != 1 || ps[0].Severity != vnfm.SeverityWarning || ps[0].String() != want {
		t.Errorf("problems %v, want %s", ps, want)
	}
}

// TestTranslateTwice instantiates one VNFD twice in a namespace.
func TestTranslateTwice(t *testing.T) {
	target, ps := vnfdTarget(t, sol001(strings.Replace(webVDU, "[ container: nginx ]", "[ container: nginx, virtual_storage: files ]", 1)+
		strings.Replace(nginx, nginxImage, "      properties: { env: { A: b } }\n"+nginxImage, 1)+`    files:
      type: tosca.nodes.nfv.Vdu.VirtualFileStorage
      properties: { per_vnfc_instance: false, virtual_file_storage_data: { size_of_storage: 1 GB } }
    front:
      type: tosca.nodes.nfv.VirtualCp
      properties: { additionalServiceData: [ { portData: [ { name: http, protocol: TCP, port: 80 } ] } ] }
      requirements: [ target: web ]
`))
	require.False(t, ps.HasErrors(), ps)
	first := renderedText(t, target)
	target.Instance.AdditionalParams = map[string]any{
		"vdu_mapping": map[string]any{"web": map[string]any{"kind": "StatefulSet", "name": "web-two"}},
	}
	second := renderedText(t, target)
	want := []string{
		"apps/v1/StatefulSet web-two", "v1/ConfigMap web-two-nginx", "v1/PersistentVolumeClaim web-two-files",
		"v1/Service web-two-front", "v1/Service web-two-headless",
	}
	assert.Equal(t, want, slices.Sorted(maps.Keys(second)), "objects")
	for key := range first {
		_, both := second[key]
		assert.False(t, both, "both instances have %s", key)
	}
	if text := second["apps/v1/StatefulSet web-two"]; !strings.Contains(text, "claimName: web-two-files") || !strings.Contains(text, "name: web-two-nginx") {
		t.Errorf("the second instance uses what belongs to the first:\n%s", text)
	}
}

// TestManifestsBeforeContainers: manifests in a package take precedence over containers in its VNFD.
func TestManifestsBeforeContainers(t *testing.T) {
	target, ps := vnfdTarget(t, osContainer("ports: [ none ]"))
	require.False(t, ps.HasErrors(), ps)
	target.Package.KubernetesFiles = []string{"web.yaml"}
	target.Package.Content = fstest.MapFS{"web.yaml": {Data: []byte("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: { name: web }\nspec: {}\n")}}
	assert.Equal(t, []string{"apps/v1/ReplicaSet web"}, slices.Sorted(maps.Keys(renderedText(t, target))), "objects")
}
