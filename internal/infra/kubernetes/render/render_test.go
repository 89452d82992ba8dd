package render

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestRenderValues(t *testing.T) {
	o := renderOne(t, `
apiVersion: example.org/v1
kind: Thing
metadata: { name: a, creationTimestamp: null, uid: x, resourceVersion: "1", generation: 4, managedFields: [] }
status: { ready: true }
base: &base { one: 1, two: 2 }
spec:
  <<: *base
  two: 3
  integer: 8080
  float: 1.5
  whole: 1.0
  octal: 0644
  text: "8080"
  yes: on
  quoted: "on"
  nothing: null
  list: [1, null, two]
  date: 2020-01-01
  large: 18446744073709551615
  ref: *base
  8080: number key
`)
	want := map[string]any{
		"apiVersion": "example.org/v1",
		"kind":       "Thing",
		"metadata":   map[string]any{"name": "a"},
		"base":       map[string]any{"one": int64(1), "two": int64(2)},
		"spec": map[string]any{
			"one": int64(1), "two": int64(3), "integer": int64(8080), "float": 1.5, "whole": 1.0, "octal": int64(420),
			"text": "8080", "yes": true, "quoted": "on", "list": []any{int64(1), nil, "two"}, "date": "2020-01-01",
			"large": 18446744073709551615.0, "ref": map[string]any{"one": int64(1), "two": int64(2)}, "8080": "number key",
		},
	}
	assert.Equal(t, want, o.Content, "rendered content")
}

func TestRenderIdentities(t *testing.T) {
	target := targettest.Manifests(map[string]string{
		"1.yaml": "---\n# only a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: core5g}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: amf}\nspec: {replicas: 7}\n",
		"2.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: amf-config, namespace: core5g}\n- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Service, metadata: {name: amf}}\n",
		"3.yaml": "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: smf}\n",
		"3.json": `{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "n2", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}}}`,
	}, map[string]int{"amf": 3})
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.False(t, ps.HasErrors(), "%v", ps)
	want := []string{
		"apps/v1/Deployment amf",
		"apps/v1/Deployment smf",
		"k8s.cni.cncf.io/v1/NetworkAttachmentDefinition n2",
		"v1/ConfigMap core5g/amf-config",
		"v1/Namespace core5g",
		"v1/Service amf",
	}
	assert.Equal(t, want, slices.Sorted(maps.Keys(preview.Objects)), "identities")
	three := 3
	assert.Equal(t, map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Replicas: &three}}, preview.VDUs, "VDUs")
	require.Equal(t, "vnfd-1", preview.VNFDID)
	assert.Equal(t, "simple", preview.FlavourID, "preview of")
}

func TestRenderProblems(t *testing.T) {
	const ok = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	tests := map[string]struct {
		text string
		want string
	}{
		"syntax":                  {"apiVersion: v1\nkind: b: c\n", "a.yaml:2: the file is not valid YAML: mapping values are not allowed in this context"},
		"template":                {ok + "data: {{ .Values.x }}\n", "a.yaml:5:8: a key must be a string, not a mapping"},
		"not an object":           {"- a\n", "a.yaml:1:1: a Kubernetes object must be a mapping, not a list"},
		"no apiVersion":           {"kind: ConfigMap\nmetadata: {name: a}\n", "a.yaml:1:1: apiVersion is missing"},
		"apiVersion number":       {"apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}\n", "a.yaml:1:13: apiVersion must be a string, not a number"},
		"apiVersion form":         {"apiVersion: a/b/c\nkind: ConfigMap\nmetadata: {name: a}\n", `a.yaml:1:13: apiVersion "a/b/c" is not group/version`},
		"no kind":                 {"apiVersion: v1\nmetadata: {name: a}\n", "a.yaml:1:1: kind is missing"},
		"empty kind":              {"apiVersion: v1\nkind: ''\nmetadata: {name: a}\n", "a.yaml:2:7: kind is empty"},
		"no metadata":             {"apiVersion: v1\nkind: ConfigMap\n", "a.yaml:1:1: metadata.name is missing"},
		"metadata text":           {"apiVersion: v1\nkind: ConfigMap\nmetadata: a\n", "a.yaml:3:11: metadata must be a mapping, not a string"},
		"no name":                 {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n", "a.yaml:4:3: metadata.name is missing"},
		"name number":             {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 12\n", "a.yaml:4:9: metadata.name must be a string, not a number: write \"12\""},
		"name with slash":         {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a/b\n", `a.yaml:4:9: metadata.name "a/b" is not the name of an object`},
		"generateName":            {"apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n", "a.yaml:4:17: metadata.generateName is not supported: give metadata.name, so that the object is the same one at every apply"},
		"namespace":               {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: 7\n", "a.yaml:5:14: metadata.namespace must be a string, not a number: write \"7\""},
		"label number":            {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    version: 1.2\n", `a.yaml:6:14: metadata.labels.version must be a string, not a number: write "1.2"`},
		"annotation boolean":      {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    inject: yes\n", `a.yaml:6:13: metadata.annotations.inject must be a string, not a boolean: write "yes"`},
		"reserved label":          {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    vnf.nfv-iac.github.io/instance-id: x\n", "a.yaml:6:40: metadata.labels: the prefix vnf.nfv-iac.github.io/ is reserved for the VNF manager"},
		"reserved annotation":     {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    vnf.nfv-iac.github.io/digest: x\n", "a.yaml:6:35: metadata.annotations: the prefix vnf.nfv-iac.github.io/ is reserved for the VNF manager"},
		"ready label":             {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  labels:\n    vnf.nfv-iac.github.io/ready-condition: x\n", "a.yaml:6:44: metadata.labels: the prefix vnf.nfv-iac.github.io/ is reserved for the VNF manager"},
		"ready by both":           {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    vnf.nfv-iac.github.io/ready-condition: Ready\n    vnf.nfv-iac.github.io/ready-jsonpath: '{.a}=b'\n", "a.yaml:7:43: vnf.nfv-iac.github.io/ready-condition and vnf.nfv-iac.github.io/ready-jsonpath cannot both be given"},
		"ready without condition": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    vnf.nfv-iac.github.io/ready-condition: =True\n", "a.yaml:6:44: vnf.nfv-iac.github.io/ready-condition must be a condition, or condition=status"},
		"ready without value":     {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    vnf.nfv-iac.github.io/ready-jsonpath: '{.a}'\n", "a.yaml:6:43: vnf.nfv-iac.github.io/ready-jsonpath must be a JSONPath in braces, =, and the value, for example {.status.phase}=Running"},
		"ready by no path":        {"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    vnf.nfv-iac.github.io/ready-jsonpath: '{.a[}=b'\n", "a.yaml:6:43: vnf.nfv-iac.github.io/ready-jsonpath: the JSONPath \"{.a[}\" cannot be read: unterminated array"},
		"ready without readiness": {ok + "  annotations:\n    vnf.nfv-iac.github.io/ready-condition: Ready\n", "a.yaml:6:44: objects of kind ConfigMap are ready as soon as they exist"},
		"key twice":               {ok + "data:\n  x: '1'\n  x: '2'\n", `a.yaml:7:3: the key "x" is given twice, first in line 6`},
		"unknown tag":             {ok + "data:\n  x: !vault abc\n", "a.yaml:6:6: the tag !vault is not supported"},
		"unknown anchor":          {ok + "data: *none\n", "a.yaml: the file is not valid YAML: unknown anchor 'none' referenced"},
		"infinite":                {ok + "x: .inf\n", "a.yaml:5:4: is not a number that JSON can hold"},
		"merge of a list":         {ok + "data:\n  <<: [1]\n", "a.yaml:6:8: a merge key takes mappings only, not a number"},
		"contains itself":         {ok + "data: &a\n  x: *a\n", "a.yaml:6:6: the alias *a contains itself"},
		"list item":               {"apiVersion: v1\nkind: List\nitems:\n- a\n", "a.yaml:4:3: item 1 of the List is not an object"},
		"item without kind":       {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  metadata: {name: a}\n", "a.yaml:4:3: kind is missing"},
		"twice":                   {ok + "---\n" + ok + "data: {a: b}\n", "a.yaml:6:1: v1/ConfigMap a is defined twice: the first one is in a.yaml:1"},
		"twice by namespace":      {ok + "---\n" + ok + "  namespace: default\n", "a.yaml:6:1: v1/ConfigMap default/a is defined twice: the first one is in a.yaml:1"},
		"secret not base64":       {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata:\n  password: hunter2!\n", `a.yaml:5:13: data of the Secret is not base64 at key "password"; plain text belongs under stringData`},
		"secret number":           {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  pin: 4711\n", `a.yaml:5:8: stringData.pin must be a string, not a number: put it in quotes`},
		"secret data not mapping": {"apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: hunter2\n", "a.yaml:4:7: data must be a mapping, not a string"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, ps := new(Renderings).Preview(t.Context(), targettest.Manifests(map[string]string{"a.yaml": tt.text}, nil))
			var got []string
			for _, p := range ps {
				got = append(got, p.String())
			}
			assert.Equal(t, []string{tt.want}, got, "problems")
			for _, secret := range []string{"hunter2", "4711"} {
				assert.NotContains(t, strings.Join(got, "\n"), secret, "a problem shows a secret: %s", got)
			}
		})
	}
}

func TestAnchorBombIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 [1,1,1,1,1,1,1,1,1,1]\n")
	for i := 1; i < 9; i++ {
		prev := "*a" + string(rune('0'+i-1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(prev+", ", 9) + prev + "]\n")
	}
	_, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": b.String()}, nil))
	require.Len(t, ps, 1)
	assert.Contains(t, ps[0].Summary, "the file has more than 1,000,000 values", "problems")
}
