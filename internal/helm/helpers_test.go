package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// core is a chart with a sub-chart, a schema, hooks and a definition.
func core() fstest.MapFS {
	files := map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: core\nversion: 1.2.3\nappVersion: 5.0.0\nkubeVersion: '>= 1.28.0-0'\n" +
			"dependencies: [ { name: db, version: 1.0.0, condition: db.enabled } ]\n",
		"values.yaml":        "amf: { replicas: 1, image: 'amf:1' }\ndb: { enabled: true, size: 1 }\n",
		"values.schema.json": `{"type":"object","properties":{"amf":{"type":"object","properties":{"replicas":{"type":"integer","minimum":0},"image":{"type":"string"}}}}}`,
		"templates/_helpers.tpl": `{{- define "core.name" }}{{ .Release.Name }}-{{ . | toString | len }}{{ end -}}
{{- define "core.labels" }}{ app.kubernetes.io/part-of: {{ .Chart.Name }} }{{ end -}}`,
		"templates/amf.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }}-amf, labels: {{ include "core.labels" . }} }
spec:
  replicas: {{ .Values.amf.replicas }}
  template: { spec: { containers: [ { name: amf, image: {{ .Values.amf.image }} } ] } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: {{ .Release.Name }}-amf }
data: { namespace: {{ .Release.Namespace }}, replicas: {{ .Values.amf.replicas | quote }} }
`,
		"templates/NOTES.txt": "Installed {{ .Release.Name }}.",
		"templates/hooks.yaml": `apiVersion: batch/v1
kind: Job
metadata: { name: second, annotations: { helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "5", helm.sh/hook-delete-policy: "hook-succeeded" } }
---
apiVersion: batch/v1
kind: Job
metadata: { name: zeroth, annotations: { helm.sh/hook: pre-install, helm.sh/hook-weight: "-5" } }
---
apiVersion: v1
kind: Pod
metadata: { name: test, annotations: { helm.sh/hook: test } }
`,
		"crds/plan.yaml":             "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: plans.example.com }\n",
		".helmignore":                "*.bak\n",
		"templates/old.yaml.bak":     "{{ fail \"ignored\" }}",
		"charts/db/Chart.yaml":       "apiVersion: v2\nname: db\nversion: 1.0.0\n",
		"charts/db/values.yaml":      "size: 1\n",
		"charts/db/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-db }\ndata: { size: {{ .Values.size | quote }} }\n",
	}
	out := fstest.MapFS{}
	for name, text := range files {
		out["Files/core/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// with returns the chart with one file changed.
func with(name, text string) fstest.MapFS {
	files := core()
	files["Files/core/"+name] = &fstest.MapFile{Data: []byte(text)}
	return files
}

// packed returns the chart as an archive.
func packed(t *testing.T) fstest.MapFS {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	files := core()
	for _, name := range sortedKeys(files) {
		if name == "Files/core/templates/old.yaml.bak" {
			continue
		}
		data := files[name].Data
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name[len("Files/"):], Mode: 0o644, Size: int64(len(data))}))
		_, err := w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, zipped.Close())
	return fstest.MapFS{"Files/core.tgz": {Data: b.Bytes()}}
}

// render renders a chart with further values.
func render(t *testing.T, files fstest.MapFS, values map[string]any) (*Rendering, vnfm.Problems) {
	t.Helper()
	file := "Files/core"
	if _, ok := files["Files/core.tgz"]; ok {
		file = "Files/core.tgz"
	}
	c, err := Load(t.Context(), files, file)
	require.NoError(t, err)
	return c.Render(t.Context(), Options{Release: "site", Namespace: "ran", Values: values})
}

// rendered renders a chart that has no problems.
func rendered(t *testing.T, files fstest.MapFS, values map[string]any) *Rendering {
	t.Helper()
	r, ps := render(t, files, values)
	require.Empty(t, ps)
	return r
}
