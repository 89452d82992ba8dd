package drift

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestDropped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		applied, answer string
		want            []string
	}{
		"all is kept":             {`spec: {a: 1, b: {c: [1, 2]}}`, `spec: {a: "1", b: {c: [2, 1], d: 3}}`, nil},
		"scalar":                  {`spec: {a: 1, b: x}`, `spec: {b: x}`, []string{"spec.a"}},
		"map":                     {`spec: {a: {b: 1, c: 2}}`, `spec: {}`, []string{"spec.a"}},
		"null":                    {`spec: {a: x}`, `spec: {a: null}`, []string{"spec.a"}},
		"list":                    {`spec: {a: [x]}`, `spec: {}`, []string{"spec.a"}},
		"element of a keyed list": {`spec: {containers: [{name: a, new: 1}, {name: b}]}`, `spec: {containers: [{name: b}, {name: a}]}`, []string{"spec.containers[name=a].new"}},
		"element by its index":    {`spec: {rules: [{}, {new: 1}]}`, `spec: {rules: [{}, {}]}`, []string{"spec.rules[1].new"}},
		"webhook adds an element": {`spec: {containers: [{name: a, new: 1}]}`, `spec: {containers: [{name: a}, {name: b}]}`, nil},
		"zero values":             {`spec: {a: 0, b: "", c: false, d: null, e: {f: {}, g: []}, h: [{}]}`, `spec: {}`, nil},
		"another type":            {`spec: {a: {b: 1}}`, `spec: {a: x}`, nil},
		"kept under another name": {`{kind: Secret, metadata: {name: a, managedFields: [x]}, stringData: {a: x}, status: {b: 1}}`, `data: {a: eA==}`, nil},
		"no spec":                 {`spec: {a: 1}`, `status: {}`, []string{"spec"}},
		"key of a ConfigMap":      {`data: {a.b: x, c: y}`, `data: {c: y}`, []string{"data.a.b"}},
		"custom resource":         {`{size: 1, nested: {new: 1}}`, `nested: {}`, []string{"nested.new", "size"}},
		"webhooks":                {`webhooks: [{name: a, matchConditions: [{name: x}]}]`, `webhooks: [{name: a, sideEffects: None}]`, []string{"webhooks[name=a].matchConditions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var applied, answer map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(tt.applied), &applied))
			require.NoError(t, yaml.Unmarshal([]byte(tt.answer), &answer))
			require.Equal(t, tt.want, Dropped(applied, answer))
		})
	}
}
