package render

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

const deploymentAMF = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: amf}\nspec: {replicas: 1}\n"

func TestParamProblems(t *testing.T) {
	tests := map[string]struct {
		params map[string]any
		want   string
	}{
		"helm":             {map[string]any{"use_helm": "true"}, `additional parameter "use_helm" is for a chart, but the VNFD names none: helm_chart_path says which one it is; the package has no chart`},
		"files type":       {map[string]any{"lcm-kubernetes-def-files": "a.yaml"}, `additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`},
		"files empty":      {map[string]any{"lcm-kubernetes-def-files": []any{}}, `additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`},
		"files item":       {map[string]any{"lcm-kubernetes-def-files": []any{int64(1)}}, `additional parameter "lcm-kubernetes-def-files" must be a list of paths in the package, with at least one`},
		"files url":        {map[string]any{"lcm-kubernetes-def-files": []any{"http://x/a.yaml"}}, `additional parameter "lcm-kubernetes-def-files" names a URL: put the file at "http://x/a.yaml" into the package, or have its manifest declare Source, Algorithm and Hash of it and set external_artifacts of the vnf_package`},
		"files outside":    {map[string]any{"lcm-kubernetes-def-files": []any{"../a.yaml"}}, `additional parameter "lcm-kubernetes-def-files" names a path outside of the package: "../a.yaml" must be relative to the root of the package`},
		"files absent":     {map[string]any{"lcm-kubernetes-def-files": []any{"b.yaml"}}, `additional parameter "lcm-kubernetes-def-files" names a file that is not in the package: "b.yaml"; its Kubernetes manifests are a.yaml`},
		"files twice":      {map[string]any{"lcm-kubernetes-def-files": []any{"a.yaml", "./a.yaml"}}, `additional parameter "lcm-kubernetes-def-files" names a file twice: "./a.yaml"`},
		"namespace type":   {map[string]any{"namespace": true}, `additional parameter "namespace" must be the name of a namespace: lower case letters, digits and hyphens, 63 at most`},
		"namespace name":   {map[string]any{"namespace": "A_b"}, `additional parameter "namespace" must be the name of a namespace: lower case letters, digits and hyphens, 63 at most`},
		"namespace other":  {map[string]any{"namespace": "b"}, `additional parameter "namespace" contradicts the argument namespace: "b" and "core5g"; keep one of them`},
		"mapping type":     {map[string]any{"vdu_mapping": []any{}}, `additional parameter "vdu_mapping" must map VDU ids to { kind, name }: it is a list`},
		"mapping VDU":      {map[string]any{"vdu_mapping": map[string]any{"x": map[string]any{}}}, `additional parameter "vdu_mapping" names a VDU "x" that deployment flavour "simple" does not have: its VDUs are amf`},
		"mapping entry":    {map[string]any{"vdu_mapping": map[string]any{"amf": "x"}}, `additional parameter "vdu_mapping" must be { kind, name } for VDU "amf"`},
		"mapping kind":     {map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"name": "x"}}}, `additional parameter "vdu_mapping" must give kind and name for VDU "amf"`},
		"mapping lower":    {map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "statefulset", "name": "x"}}}, `additional parameter "vdu_mapping" names the kind "statefulset" for VDU "amf": it is written as in manifests: "StatefulSet"`},
		"mapping field":    {map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "amf", "helmreleasename": "x"}}}, `additional parameter "vdu_mapping" has an unknown field "helmreleasename" for VDU "amf": only kind and name are known; the name of the release is helm_release_name`},
		"mapping no match": {map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "StatefulSet", "name": "db"}}}, `VDU "amf" is mapped to StatefulSet "db", which is not in the package: the workloads of the package are apps/v1/Deployment amf`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			target := targettest.Manifests(map[string]string{"a.yaml": deploymentAMF}, map[string]int{"amf": 1})
			target.Instance.Namespace = "core5g"
			target.Instance.AdditionalParams = tt.params
			_, ps := new(Renderings).Preview(t.Context(), target)
			var got []string
			for _, p := range ps {
				if p.Attribute == "" && p.Key != "" || p.Attribute != "" && p.Attribute != "additional_params" {
					t.Errorf("problem at attribute %q, key %q", p.Attribute, p.Key)
				}
				got = append(got, p.String())
			}
			require.NotEmpty(t, got)
			assert.Equal(t, tt.want, got[0], "problems:\n%s", cmp.Diff([]string{tt.want}, got))
		})
	}
}

func TestFilesAreChosen(t *testing.T) {
	target := targettest.Manifests(map[string]string{"a.yaml": deploymentAMF, "b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"}, nil)
	target.Instance.AdditionalParams = map[string]any{"lcm-kubernetes-def-files": []any{"./b.yaml"}}
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.False(t, ps.HasErrors(), "%v", ps)
	assert.Equal(t, []string{"v1/ConfigMap b"}, slices.Sorted(maps.Keys(preview.Objects)), "objects")
	target.Instance.AdditionalParams = nil
	target.Package.KubernetesFiles = nil
	if _, ps = new(Renderings).Preview(t.Context(), target); len(ps) != 1 || ps[0].Summary != `package "core" lists no Kubernetes manifest` {
		t.Errorf("a package without manifests: %v", ps)
	}
}
