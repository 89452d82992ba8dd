package drift

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
)

// Managed fields as written by API server 1.36 for the manifests below.
const (
	serviceFields    = `{"f:metadata":{"f:finalizers":{"v:\"example.org/a\"":{}},"f:labels":{"f:tier":{}}},"f:spec":{"f:ports":{"k:{\"port\":53,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}},"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}},"f:selector":{}}}`
	deploymentFields = `{"f:metadata":{"f:annotations":{"f:a":{}},"f:labels":{}},"f:spec":{"f:selector":{},"f:strategy":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"amf\"}":{".":{},"f:args":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"EMPTY\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":38412,\"protocol\":\"SCTP\"}":{".":{},"f:containerPort":{},"f:protocol":{}},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{"f:requests":{"f:cpu":{}}},"f:volumeMounts":{"k:{\"mountPath\":\"/tmp\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:securityContext":{},"f:tolerations":{},"f:volumes":{"k:{\"name\":\"tmp\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}}`

	serviceManifest = `
apiVersion: v1
kind: Service
metadata: {name: amf, labels: {tier: control}, finalizers: [example.org/a]}
spec:
  selector: {app: amf}
  ports:
  - {name: dns-tcp, port: 53}
  - {name: dns, port: 53, protocol: UDP}
`
	deploymentManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, annotations: {a: b}}
spec:
  selector: {matchLabels: {app: amf}}
  strategy: {}
  template:
    metadata: {labels: {app: amf}}
    spec:
      securityContext: {}
      tolerations: [{key: a, operator: Exists}]
      containers:
      - name: amf
        image: example.org/amf:1
        args: ["-c", "/etc/amf"]
        env: [{name: A, value: "1"}, {name: EMPTY, value: ""}]
        ports: [{containerPort: 8080}, {containerPort: 38412, protocol: SCTP}]
        resources: {requests: {cpu: 1000m}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      volumes: [{name: tmp, emptyDir: {}}]
`
)

func entry(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields)}
}

// without removes a field from the JSON of a field set, and parents that become empty, like the server.
func without(t *testing.T, fields string, path ...string) string {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal([]byte(fields), &root))
	require.True(t, removed(root, path), "no %v in the field set", path)
	out, err := json.Marshal(root)
	require.NoError(t, err)
	return string(out)
}

func removed(at map[string]any, path []string) bool {
	next, ok := at[path[0]].(map[string]any)
	if !ok || (len(path) > 1 && !removed(next, path[1:])) {
		return false
	}
	if len(path) == 1 || len(next) == 0 {
		delete(at, path[0])
	}
	return true
}

// rendered renders a manifest and returns its content.
func rendered(t *testing.T, text string) map[string]any {
	t.Helper()
	r, ps := render.Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
	require.False(t, ps.HasErrors(), "render: %v", ps)
	require.Len(t, r.Objects, 1, "render: %v", ps)
	return r.Objects[0].Content
}

func TestFindUnowned(t *testing.T) {
	container := []string{"f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"amf"}`}
	in := func(path ...string) []string { return slices.Concat(container, path) }
	tests := map[string]struct {
		manifest string
		fields   string
		remove   []string
		want     []string
	}{
		"service":             {serviceManifest, serviceFields, nil, nil},
		"deployment":          {deploymentManifest, deploymentFields, nil, nil},
		"label":               {serviceManifest, serviceFields, []string{"f:metadata", "f:labels", "f:tier"}, []string{"metadata.labels.tier"}},
		"finalizer":           {serviceManifest, serviceFields, []string{"f:metadata", "f:finalizers", `v:"example.org/a"`}, []string{"metadata.finalizers"}},
		"atomic map":          {serviceManifest, serviceFields, []string{"f:spec", "f:selector"}, []string{"spec.selector"}},
		"port":                {serviceManifest, serviceFields, []string{"f:spec", "f:ports", `k:{"port":53,"protocol":"UDP"}`}, []string{"spec.ports[name=dns]"}},
		"defaulted port":      {serviceManifest, serviceFields, []string{"f:spec", "f:ports", `k:{"port":53,"protocol":"TCP"}`}, []string{"spec.ports[name=dns-tcp]"}},
		"field of a port":     {serviceManifest, serviceFields, []string{"f:spec", "f:ports", `k:{"port":53,"protocol":"TCP"}`, "f:name"}, []string{"spec.ports[port=53,protocol=TCP].name"}},
		"all ports":           {serviceManifest, serviceFields, []string{"f:spec", "f:ports"}, []string{"spec.ports"}},
		"image":               {deploymentManifest, deploymentFields, in("f:image"), []string{"spec.template.spec.containers[name=amf].image"}},
		"atomic list":         {deploymentManifest, deploymentFields, in("f:args"), []string{"spec.template.spec.containers[name=amf].args"}},
		"empty value":         {deploymentManifest, deploymentFields, in("f:env", `k:{"name":"EMPTY"}`, "f:value"), []string{"spec.template.spec.containers[name=amf].env[name=EMPTY].value"}},
		"list element":        {deploymentManifest, deploymentFields, in("f:env", `k:{"name":"A"}`), []string{"spec.template.spec.containers[name=amf].env[name=A]"}},
		"quantity":            {deploymentManifest, deploymentFields, in("f:resources", "f:requests", "f:cpu"), []string{"spec.template.spec.containers[name=amf].resources"}},
		"empty map":           {deploymentManifest, deploymentFields, []string{"f:spec", "f:strategy"}, []string{"spec.strategy"}},
		"atomic list of maps": {deploymentManifest, deploymentFields, []string{"f:spec", "f:template", "f:spec", "f:tolerations"}, []string{"spec.template.spec.tolerations"}},
		"nothing is owned":    {serviceManifest, `{}`, nil, []string{"metadata.finalizers", "metadata.labels.tier", "spec"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fields := tt.fields
			if tt.remove != nil {
				fields = without(t, fields, tt.remove...)
			}
			set, err := Owned([]metav1.ManagedFieldsEntry{entry(kube.FieldManager, fields), entry("kubectl", tt.fields)}, kube.FieldManager)
			require.NoError(t, err)
			var got []string
			for _, u := range FindUnowned(rendered(t, tt.manifest), set) {
				got = append(got, u.Path.String())
			}
			assert.Equal(t, tt.want, got, "fields")
		})
	}
}

func TestOwned(t *testing.T) {
	scale := entry(kube.ScaleFieldManager, `{"f:spec":{"f:replicas":{}}}`)
	for name, tt := range map[string]struct {
		entries         []metav1.ManagedFieldsEntry
		byMain, byScale bool
	}{
		"nobody":  {[]metav1.ManagedFieldsEntry{entry("kubectl", `{"f:spec":{"f:replicas":{}}}`), entry(kube.FieldManager, deploymentFields)}, false, false},
		"main":    {[]metav1.ManagedFieldsEntry{entry(kube.FieldManager, `{"f:spec":{"f:replicas":{}}}`)}, true, false},
		"scale":   {[]metav1.ManagedFieldsEntry{entry(kube.FieldManager, deploymentFields), scale}, false, true},
		"updates": {[]metav1.ManagedFieldsEntry{{Manager: kube.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)}, scale}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			byMain, byScale, err := OwnsReplicas(tt.entries, []string{"spec", "replicas"}, kube.FieldManager)
			if err != nil || byMain != tt.byMain || byScale != tt.byScale {
				t.Errorf("replicas are owned by main %t, scale %t (%v)", byMain, byScale, err)
			}
		})
	}
	_, err := Owned([]metav1.ManagedFieldsEntry{entry(kube.FieldManager, `{"x":1}`)}, kube.FieldManager)
	require.Error(t, err, "a broken field set was accepted")
}
