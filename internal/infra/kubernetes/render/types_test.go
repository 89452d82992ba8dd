package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// TestTypesOfBuiltInKinds compares objects with the types of their kinds.
func TestTypesOfBuiltInKinds(t *testing.T) {
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      containers:\n      - name: a\n"
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"right": {head + "        ports: [{containerPort: 80}]\n        livenessProbe: {httpGet: {port: http}}\n        resources: {limits: {cpu: 1, memory: 1Gi}}\n", nil},
		"env number": {head + "        env:\n        - {name: b, value: c}\n        - name: port\n          value: 8080\n",
			[]string{`a.yaml:14:18: spec.template.spec.containers[0].env[1].value must be a string, not a number: write "8080"`}},
		"leading zeros": {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    mcc: 001\nspec: {containers: [{name: a}]}\n",
			[]string{`a.yaml:6:10: metadata.annotations.mcc must be a string, not a number: write "001"`}},
		"custom kind": {"apiVersion: example.com/v1\nkind: Cell\nmetadata: {name: a, labels: {a.b/version: 1.10}}\nspec: {any: 1}\n",
			[]string{`a.yaml:3:43: metadata.labels["a.b/version"] must be a string, not a number: write "1.10"`}},
		"data": {config + "data: {on: true, list: [1]}\n", []string{
			`a.yaml:4:12: data.on must be a string, not a boolean: write "true"`, `a.yaml:4:24: data.list must be a string, not a list`}},
		"binary data":   {config + "binaryData: {a: 1}\n", []string{`a.yaml:4:17: binaryData.a must be a string, not a number: write "1"`}},
		"whole numbers": {head + "  replicas: '2'\n", []string{`a.yaml:11:13: spec.replicas must be a whole number, not a string`}},
		"boolean":       {head + "  paused: 'yes'\n", []string{`a.yaml:11:11: spec.paused must be true or false, not a string`}},
		"list":          {head + "        args: -v\n", []string{`a.yaml:11:15: spec.template.spec.containers[0].args must be a list, not a string`}},
		"mapping":       {head + "      securityContext: []\n", []string{`a.yaml:11:24: spec.template.spec.securityContext must be a mapping, not a list`}},
		"port":          {head + "        livenessProbe: {httpGet: {port: true}}\n", []string{`a.yaml:11:41: spec.template.spec.containers[0].livenessProbe.httpGet.port must be a whole number or a string, not a boolean`}},
		"quantity": {head + "        resources: {limits: {memory: 1 GB}}\n",
			[]string{`a.yaml:11:38: spec.template.spec.containers[0].resources.limits.memory is not valid: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`}},
		"unknown field": {head + "        imagePullpolicy: Always\n",
			[]string{`a.yaml:11:26: spec.template.spec.containers[0].imagePullpolicy is not a field of Deployment: did you mean "imagePullPolicy"?`}},
		"missing field": {head + "        env: [{value: a}]\n", []string{`a.yaml:11:15: spec.template.spec.containers[0].env[0].name is missing: Deployment requires it`}},
		"unknown kind": {"apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n",
			[]string{`a.yaml:2:7: Kubernetes has no kind "Deploymnet" in apps/v1: did you mean "Deployment"?`}},
		"one variable, equal values": {head + "        env: [{name: b, value: c}, {name: d}, {name: b, value: c}]\n", nil},
		"one variable, two values": {head + "        env:\n        - {name: b, value: c}\n        - {name: b, value: d}\n",
			[]string{`a.yaml:13:11: spec.template.spec.containers[0].env has name b twice: containers get the last value; remove the others`}},
		"one variable, referred to": {head + "        env:\n        - {name: b, value: c}\n        - {name: b, value: $(b)/d}\n",
			[]string{`a.yaml:13:11: spec.template.spec.containers[0].env has name b twice: the API server identifies its entries by name; merge the two, the first one is in line 12`}},
		"one variable, from elsewhere": {head + "        env:\n        - {name: b, value: c}\n        - {name: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n",
			[]string{`a.yaml:13:11: spec.template.spec.containers[0].env has name b twice: the API server identifies its entries by name; merge the two, the first one is in line 12`}},
		"one port on two of the host": {head + "        ports:\n        - {containerPort: 80, hostPort: 80}\n        - {containerPort: 80, protocol: TCP, hostPort: 81}\n",
			[]string{`a.yaml:13:11: spec.template.spec.containers[0].ports has containerPort 80, protocol TCP twice: the API server identifies its entries by containerPort and protocol; merge the two, the first one is in line 12`}},
		"one port, two protocols": {head + "        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}]\n", nil},
		"one port of a Service twice": {"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n  - {name: a, port: 80}\n  - {name: b, port: 80, targetPort: 81}\n",
			[]string{`a.yaml:7:5: spec.ports has port 80, protocol TCP twice: the API server identifies its entries by port and protocol; merge the two, the first one is in line 6`}},
		"two topology constraints": {head + "      topologySpreadConstraints: [{topologyKey: a, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: a, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]\n", nil},
		"without rules":            {"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\naggregationRule: {}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, ps := new(render.Renderings).YAML(t.Context(), targettest.Manifests(map[string]string{"a.yaml": tt.text}, nil))
			var got []string
			for _, p := range ps {
				got = append(got, p.String())
			}
			assert.Equal(t, tt.want, got, "problems")
		})
	}
}
