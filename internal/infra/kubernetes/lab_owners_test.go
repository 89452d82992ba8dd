package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The objects of two versions of a package. The second version drops a sidecar, an environment variable, a probe, keys of a
// ConfigMap and a Secret, a port and labels.
const (
	fullObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: amf, labels: {tier: core, release: one}}
data: {plmn: "1", slice: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: amf}
stringData: {key: k, old: o}
---
apiVersion: v1
kind: Service
metadata: {name: amf}
spec:
  selector: {app: amf}
  ports: [{name: sbi, port: 80}, {name: metrics, port: 9090}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, labels: {tier: core, release: one}}
spec:
  selector: {matchLabels: {app: amf}}
  template:
    metadata: {labels: {app: amf}}
    spec:
      containers:
      - name: amf
        image: "example.org/amf:1"
        env: [{name: MODE, value: a}, {name: DEBUG, value: all}]
        readinessProbe: {tcpSocket: {port: 80}}
      - {name: sidecar, image: "example.org/sidecar:1"}
`
	fewerObjects = `apiVersion: v1
kind: ConfigMap
metadata: {name: amf, labels: {tier: core}}
data: {plmn: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: amf}
stringData: {key: k}
---
apiVersion: v1
kind: Service
metadata: {name: amf}
spec:
  selector: {app: amf}
  ports: [{name: sbi, port: 80}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, labels: {tier: core}}
spec:
  selector: {matchLabels: {app: amf}}
  template:
    metadata: {labels: {app: amf}}
    spec:
      containers:
      - name: amf
        image: "example.org/amf:1"
        env: [{name: MODE, value: a}]
`
)

// fields returns the fields in which the two versions differ.
func (l *lab) fields() string {
	l.t.Helper()
	show := func(kind, path string) string { return l.kubectl("get", kind, "amf", "-o", "jsonpath="+path) }
	return fmt.Sprintf("labels %s, %s; data %s; secret %s; ports %s; containers %s; env %s; probe %s",
		show("configmap", "{.metadata.labels.release}"), show("deployment", "{.metadata.labels.release}"), show("configmap", "{.data}"), show("secret", "{.data}"),
		show("service", "{.spec.ports[*].name}"), show("deployment", "{.spec.template.spec.containers[*].name}"),
		show("deployment", "{.spec.template.spec.containers[0].env[*].name}"), show("deployment", "{.spec.template.spec.containers[0].readinessProbe.tcpSocket.port}"))
}

const (
	allFields  = `labels one, one; data {"plmn":"1","slice":"2"}; secret {"key":"aw==","old":"bw=="}; ports sbi metrics; containers amf sidecar; env MODE DEBUG; probe 80`
	leftFields = `labels , ; data {"plmn":"1"}; secret {"key":"aw=="}; ports sbi; containers amf; env MODE; probe `
)

// TestLabDroppedFieldsOfAdoptedObjects adopts objects of other tools. Fields that the next package drops are removed.
func TestLabDroppedFieldsOfAdoptedObjects(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"kubectl apply":       {"apply"},
		"kubectl create":      {"create"},
		"kubernetes_manifest": {"apply", "--server-side", "--field-manager=Terraform"},
		"Helm 3":              {"create", "--field-manager=helm"},
		"Helm 4":              {"apply", "--server-side", "--field-manager=helm"},
		"two writers":         {"apply", "--server-side", "--field-manager=argocd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"a.yaml": fullObjects}, nil)
			file := filepath.Join(t.TempDir(), "a.yaml")
			require.NoError(t, os.WriteFile(file, []byte(fullObjects), 0o600))
			l.kubectl(append(command, "-f", file)...)
			if strings.HasPrefix(name, "two") {
				l.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=flux", "-f", file)
			}
			l.kubectl("annotate", "deployment", "amf", "example.org/by-hand=yes")
			l.target.AdoptExisting = true
			l.apply()
			require.Equal(t, allFields, l.fields())
			l.inSync()

			l.target.AdoptExisting = false
			l.setFiles("2", map[string]string{"a.yaml": fewerObjects})
			l.apply()
			require.Equal(t, leftFields, l.fields())
			require.Equal(t, "yes", l.kubectl("get", "deployment", "amf", "-o", `jsonpath={.metadata.annotations.example\.org/by-hand}`))
			l.inSync()
		})
	}
}

// TestLabDroppedFieldsOfOthers drops fields that another writer has applied later. They are a conflict, and force removes them.
func TestLabDroppedFieldsOfOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": fullObjects}, nil)
	l.apply()
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fullObjects), 0o600))
	l.kubectl("apply", "--server-side", "--field-manager=other", "-f", file)
	l.inSync()
	others, _, _ := strings.Cut(fullObjects, "apiVersion: apps/v1")
	_, deployment, _ := strings.Cut(fewerObjects, "apiVersion: apps/v1")
	l.setFiles("2", map[string]string{"a.yaml": others + "apiVersion: apps/v1" + deployment})
	for range 2 {
		require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), `apps/v1/Deployment amf (a.yaml:18): Deployment `+l.namespace+
			`/amf: other managers own fields that the manifest has dropped: .metadata.labels.release (owned by "other"), `+
			`.spec.template.spec.containers[name=amf].env[name=DEBUG] (owned by "other"), `+
			`.spec.template.spec.containers[name=amf].readinessProbe.tcpSocket.port (owned by "other"), `+
			`.spec.template.spec.containers[name=sidecar] (owned by "other"); have them drop the fields, or take them over with force_conflicts`)
	}
	l.setFiles("3", map[string]string{"a.yaml": fewerObjects})
	l.target.ForceConflicts = true
	l.apply()
	require.Equal(t, leftFields, l.fields())
	l.inSync()
}
