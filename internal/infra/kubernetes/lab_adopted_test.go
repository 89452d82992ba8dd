package kubernetes

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
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

// adoptedPods are pods without a workload that rolls out changes. Some read a ConfigMap, others also a Secret.
const adoptedPods = `---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: smf}
spec:
  replicas: 2
  selector: {matchLabels: {app: smf}}
  template:
    metadata: {labels: {app: smf}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: smf, image: "example.org/smf:1", envFrom: [{configMapRef: {name: amf}}]}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: pcf}
spec:
  replicas: 1
  selector: {app: pcf}
  template:
    metadata: {labels: {app: pcf}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: pcf, image: "example.org/pcf:1", envFrom: [{configMapRef: {name: amf}}, {secretRef: {name: amf}}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: nrf, labels: {app: nrf}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: nrf, image: "example.org/nrf:1", envFrom: [{configMapRef: {name: amf}}]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bsf, labels: {app: bsf}}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: bsf, image: "example.org/bsf:1", envFrom: [{secretRef: {name: amf}}]}]}
`

// byKubectl creates objects with kubectl.
func (l *lab) byKubectl(text string) {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), "a.yaml")
	require.NoError(l.t, os.WriteFile(file, []byte(text), 0o600))
	l.kubectl("apply", "-f", file)
}

// adoptedUIDs waits until all pods of adoptedPods exist and returns their labels and UIDs.
func (l *lab) adoptedUIDs() (uids []string) {
	l.t.Helper()
	labtest.Eventually(l.t, time.Minute, "all pods are there", func() error {
		uids = strings.Fields(l.kubectl("get", "pods", "-l", "app in (smf,pcf,nrf,bsf)", "-o", `jsonpath={range .items[*]}{.metadata.labels.app}={.metadata.uid} {end}`))
		if len(uids) != 5 {
			return fmt.Errorf("there are %v", uids)
		}
		return nil
	})
	slices.Sort(uids)
	return uids
}

// replacedApps returns the labels of the pods that were replaced between two calls of adoptedUIDs.
func replacedApps(before, after []string) (apps []string) {
	for _, pod := range before {
		if app, _, _ := strings.Cut(pod, "="); !slices.Contains(after, pod) && !slices.Contains(apps, app) {
			apps = append(apps, app)
		}
	}
	return apps
}

// TestLabAdoptionRestartsNothing takes over objects of kubectl with the same content. No pod template changes before the content does,
// and no pod is replaced.
func TestLabAdoptionRestartsNothing(t *testing.T) {
	t.Parallel()
	all := adoptedFiles + adoptedPods
	l := newLab(t, map[string]string{"a.yaml": all}, nil)
	templates := func() string {
		return l.kubectl("get", "deployment,statefulset", "-o", "jsonpath={.items[*].spec.template}")
	}
	l.byKubectl(all)
	before, pods := templates(), l.adoptedUIDs()

	l.target.AdoptExisting = true
	l.apply()
	require.Equal(t, before, templates(), "the adoption has changed pod templates")
	require.Equal(t, pods, l.adoptedUIDs(), "the adoption has replaced pods")
	l.inSync()

	// A changed package takes over the fields of kubectl.
	l.target.AdoptExisting, l.target.ForceConflicts = false, true
	l.kubectl("label", "deployment,statefulset", "--all", "vnf.nfv-iac.github.io/instance-id-")
	l.apply()
	require.Equal(t, before, templates(), "a repair has changed pod templates")
	l.inSync()

	l.setFiles("2", map[string]string{"a.yaml": strings.Replace(all, "example.org/amf:1", "example.org/amf:2", 1)})
	l.apply()
	image := templates()
	require.Equal(t, strings.Replace(before, "example.org/amf:1", "example.org/amf:2", 1), image)
	l.inSync()

	require.Equal(t, pods, l.adoptedUIDs())

	l.setFiles("3", map[string]string{"a.yaml": strings.NewReplacer("example.org/amf:1", "example.org/amf:2", `plmn: "1"`, `plmn: "2"`).Replace(all)})
	l.apply()
	require.Equal(t, []string{"nrf", "pcf", "smf"}, replacedApps(pods, l.adoptedUIDs()))
	require.Equal(t, 2, strings.Count(templates(), "vnf.nfv-iac.github.io/configuration"), "changed content is not rolled out: %s", templates())
	l.inSync()
}

// TestLabAdoptionOfOtherContent takes over objects of kubectl with other content. The pods that read it are replaced.
func TestLabAdoptionOfOtherContent(t *testing.T) {
	t.Parallel()
	all := adoptedFiles + adoptedPods
	l := newLab(t, map[string]string{"a.yaml": all}, nil)
	l.byKubectl(strings.Replace(all, "stringData: {key: k}", "stringData: {key: other}", 1))
	pods := l.adoptedUIDs()
	l.target.AdoptExisting, l.target.ForceConflicts = true, true
	found, err := l.driver.DryRun(l.ctx, l.target, slices.Sorted(maps.Keys(l.preview().Objects)))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "the apply replaces pods of workloads that have no roll-out of their own", found[0].Summary)
	require.Regexp(t, `^v1/Pod bsf: the pod is deleted and created again[^\n]*\nv1/ReplicationController pcf: its pods[^\n]*\nA Deployment`, found[0].Detail)
	l.apply()
	marks := l.kubectl("get", "deployment,statefulset", "-o", `jsonpath={range .items[*]}{.metadata.name}={.spec.template.metadata.annotations.vnf\.nfv-iac\.github\.io/configuration} {end}`)
	require.Regexp(t, `^amf=[0-9a-f]{16} udr= $`, marks, "the Deployment reads the Secret that changes, the StatefulSet does not")
	require.Equal(t, []string{"bsf", "pcf"}, replacedApps(pods, l.adoptedUIDs()))
	l.inSync()
}
