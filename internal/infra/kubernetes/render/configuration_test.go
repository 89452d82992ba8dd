package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

const readers = `
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {a: CONFIG}
---
apiVersion: v1
kind: Secret
metadata: {name: NAME}
stringData: {a: SECRET}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: reader}
spec:
  selector: {matchLabels: {app: reader}}
  template:
    metadata: {labels: {app: reader}}
    spec: SPEC
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other}
spec:
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: a, image: a, envFrom: [{configMapRef: {name: elsewhere}}]}]}
`

// TestConfigurationIsRolledOut changes a ConfigMap or Secret for each way in which pods can read it. Only the digest of the reading
// workload changes.
func TestConfigurationIsRolledOut(t *testing.T) {
	container := func(fields string) string { return "{containers: [{name: a, image: a, " + fields + "}]}" }
	for spec, kind := range map[string]string{
		container("envFrom: [{configMapRef: {name: NAME}}]"):                                        "CONFIG",
		container("envFrom: [{secretRef: {name: NAME}}]"):                                           "SECRET",
		container("env: [{name: A, valueFrom: {configMapKeyRef: {name: NAME, key: a}}}]"):           "CONFIG",
		container("env: [{name: A, valueFrom: {secretKeyRef: {name: NAME, key: a}}}]"):              "SECRET",
		"{initContainers: [{name: a, image: a, envFrom: [{configMapRef: {name: NAME}}]}]}":          "CONFIG",
		"{volumes: [{name: v, configMap: {name: NAME}}]}":                                           "CONFIG",
		"{volumes: [{name: v, secret: {secretName: NAME}}]}":                                        "SECRET",
		"{volumes: [{name: v, projected: {sources: [{configMap: {name: NAME}}]}}]}":                 "CONFIG",
		"{volumes: [{name: v, projected: {sources: [{downwardAPI: {}}, {secret: {name: NAME}}]}}]}": "SECRET",
	} {
		digests := func(config, secret string) map[string]string {
			text := strings.NewReplacer("SPEC", spec, "NAME", "shared", "CONFIG", config, "SECRET", secret).Replace(readers)
			text = strings.NewReplacer("NAME", "shared").Replace(text)
			r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
			require.False(t, ps.HasErrors(), ps)
			out := map[string]string{}
			for _, o := range r.Objects {
				out[o.Name+o.GVK.Kind] = o.Digest
			}
			return out
		}
		before := digests("one", "one")
		for changed, after := range map[string]map[string]string{"CONFIG": digests("two", "one"), "SECRET": digests("one", "two")} {
			assert.Equal(t, changed == kind, before["readerDeployment"] != after["readerDeployment"], "%s: %s changed, rolled out", spec, changed)
			assert.Equal(t, after["otherDeployment"], before["otherDeployment"], "%s: %s changed, and a Deployment that does not read it is rolled out", spec, changed)
		}
	}
}

// TestConfigurationNeedsNoRollOut changes a label of a ConfigMap, which pods cannot read.
func TestConfigurationNeedsNoRollOut(t *testing.T) {
	digest := func(from, to string) string {
		text := strings.NewReplacer("SPEC", "{containers: [{name: a, image: a, envFrom: [{configMapRef: {name: NAME}}]}]}").Replace(readers)
		text = strings.NewReplacer("NAME", "shared", from, to).Replace(text)
		r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
		require.False(t, ps.HasErrors(), ps)
		return r.Objects[2].Digest
	}
	if digest("metadata: {name: NAME}", "metadata: {name: shared}") != digest("metadata: {name: NAME}", "metadata: {name: shared, labels: {a: b}}") {
		t.Error("a label of the ConfigMap rolls its readers out")
	}
}
