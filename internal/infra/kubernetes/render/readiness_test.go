package render

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const twoCells = `apiVersion: example.org/v1
kind: Cell
metadata:
  name: a
  annotations: { vnf.nfv-iac.github.io/ready-condition: Attached=Unknown }
---
apiVersion: example.org/v1
kind: Cell
metadata: { name: b }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: c }
---
apiVersion: v1
kind: Service
metadata:
  name: d
  annotations: { vnf.nfv-iac.github.io/ready-jsonpath: "{.spec.type}=ClusterIP" }
`

func TestRulesOfArgumentsWin(t *testing.T) {
	t.Parallel()
	target := targettest.Manifests(map[string]string{"a.yaml": twoCells}, nil)
	has := func() map[string]bool {
		r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
		require.False(t, ps.HasErrors(), "render: %v", ps)
		out := map[string]bool{}
		for _, o := range r.Objects {
			out[o.Name] = o.Rule != nil
		}
		return out
	}
	assert.Equal(t, map[string]bool{"a": true, "b": false, "c": false, "d": true}, has(), "rules of the manifests")
	target.Instance.Readiness = []vnfm.ReadinessRule{{Kind: "example.org/Cell", JSONPath: "{.status.phase}", Value: "Running"}}
	assert.Equal(t, map[string]bool{"a": true, "b": true, "c": false, "d": true}, has(), "rules of manifests and arguments")
	r, _ := Render(budget.New(t.Context(), budget.Limits{}), target)
	if r.Objects[0].Rule != r.Objects[1].Rule {
		t.Error("the rule of the manifest won over that of the argument")
	}
}

func TestReadinessProblems(t *testing.T) {
	t.Parallel()
	cell := "example.org/Cell"
	for name, tt := range map[string]struct {
		rules []vnfm.ReadinessRule
		want  vnfm.Problem
	}{
		"kind unknown": {
			[]vnfm.ReadinessRule{{Kind: "example.org/Slice", Condition: "Ready"}},
			vnfm.Problem{Attribute: "readiness.0.kind", Summary: "the package has no object of kind example.org/Slice", Detail: "its kinds are Service, example.org/Cell"},
		},
		"kind twice": {
			[]vnfm.ReadinessRule{{Kind: cell, Condition: "Ready"}, {Kind: cell, Condition: "Synced"}},
			vnfm.Problem{Attribute: "readiness.1.kind", Summary: "kind example.org/Cell has two rules of readiness", Detail: "the first one is readiness[0]"},
		},
		"kind without readiness": {
			[]vnfm.ReadinessRule{{Kind: "ConfigMap", Condition: "Ready"}},
			vnfm.Problem{Attribute: "readiness.0.kind", Summary: "objects of kind ConfigMap are ready as soon as they exist", Detail: "remove the rule"},
		},
		"path": {
			[]vnfm.ReadinessRule{{Kind: cell, Condition: "Ready"}, {Kind: "Service", JSONPath: ".status.phase", Value: "x"}},
			vnfm.Problem{Attribute: "readiness.1.jsonpath", Summary: `the JSONPath ".status.phase" must be in braces, for example {.status.phase}`, Detail: "the path is written as for kubectl wait --for=jsonpath"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := targettest.Manifests(map[string]string{"a.yaml": twoCells}, nil)
			target.Instance.Readiness = tt.rules
			_, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
			assert.Equal(t, vnfm.Problems{tt.want}, ps, "problems")
		})
	}
}
