package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// adoptedFiles are workloads that read a ConfigMap and a Secret.
const adoptedFiles = `apiVersion: v1
kind: ConfigMap
metadata: {name: amf}
data: {plmn: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: amf}
stringData: {key: k}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf}
spec:
  selector: {matchLabels: {app: amf}}
  template:
    metadata: {labels: {app: amf}}
    spec: {containers: [{name: amf, image: "example.org/amf:1", envFrom: [{configMapRef: {name: amf}}, {secretRef: {name: amf}}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: udr}
spec:
  serviceName: udr
  selector: {matchLabels: {app: udr}}
  template:
    metadata: {labels: {app: udr}, annotations: {example.org/kept: "yes"}}
    spec: {containers: [{name: udr, image: "example.org/udr:1", envFrom: [{configMapRef: {name: amf}}]}]}
`

// TestLabAdoptionRestartsNothing takes over what kubectl has made of the same content: no pod
// template changes before the content does.
func TestLabAdoptionRestartsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": adoptedFiles}, nil)
	made := func(text string) {
		file := filepath.Join(t.TempDir(), "a.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		l.kubectl("apply", "-f", file)
	}
	templates := func() string {
		return l.kubectl("get", "deployment,statefulset", "-o", "jsonpath={.items[*].spec.template}")
	}
	made(adoptedFiles)
	before := templates()

	l.target.AdoptExisting = true
	l.apply()
	require.Equal(t, before, templates(), "the adoption has changed pod templates")
	l.inSync()

	// What kubectl has written is taken over when it changes.
	l.target.AdoptExisting, l.target.ForceConflicts = false, true
	l.kubectl("label", "deployment,statefulset", "--all", "vnf.nfv-iac.github.io/instance-id-")
	l.apply()
	require.Equal(t, before, templates(), "a repair has changed pod templates")
	l.inSync()

	l.setFiles("2", map[string]string{"a.yaml": strings.Replace(adoptedFiles, "example.org/amf:1", "example.org/amf:2", 1)})
	l.apply()
	image := templates()
	require.Equal(t, strings.Replace(before, "example.org/amf:1", "example.org/amf:2", 1), image)
	l.inSync()

	l.setFiles("3", map[string]string{"a.yaml": strings.NewReplacer("example.org/amf:1", "example.org/amf:2", `plmn: "1"`, `plmn: "2"`).Replace(adoptedFiles)})
	l.apply()
	require.Equal(t, 2, strings.Count(templates(), "vnf.nfv-iac.github.io/configuration"), "changed content is not rolled out: %s", templates())
	l.inSync()
}

// TestLabAdoptionOfOtherContent takes over what kubectl has made of other content: the pods that
// read it are replaced.
func TestLabAdoptionOfOtherContent(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": adoptedFiles}, nil)
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(adoptedFiles, "stringData: {key: k}", "stringData: {key: other}", 1)), 0o600))
	l.kubectl("apply", "-f", file)
	l.target.AdoptExisting, l.target.ForceConflicts = true, true
	l.apply()
	marks := l.kubectl("get", "deployment,statefulset", "-o", `jsonpath={range .items[*]}{.metadata.name}={.spec.template.metadata.annotations.vnf\.nfv-iac\.github\.io/configuration} {end}`)
	require.Regexp(t, `^amf=[0-9a-f]{16} udr= $`, marks, "the Deployment reads the Secret that changes, the StatefulSet does not")
	l.inSync()
}
