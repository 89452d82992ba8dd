package kubernetes

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const databaseManifests = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: shared, labels: {app: db}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 5432}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: db, image: example.org/db:1, volumeMounts: [{name: data, mountPath: /data}, {name: shared, mountPath: /shared}]}]
      volumes: [{name: shared, persistentVolumeClaim: {claimName: shared}}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

func (l *lab) claims() string {
	l.t.Helper()
	return strings.Join(strings.Fields(l.kubectl("get", "pvc", "-o", "name")), " ")
}

func TestLabVolumes(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"db.yaml": databaseManifests}, map[string]int{"db": 2})
	const all = "persistentvolumeclaim/data-db-0 persistentvolumeclaim/data-db-1 persistentvolumeclaim/shared"
	l.apply()
	l.inSync()
	uid := l.kubectl("get", "pvc", "shared", "-o", "jsonpath={.metadata.uid}")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep})
	assert.Equal(t, all, l.claims(), "claims after a termination that keeps them")
	assert.Empty(t, l.labelled(), "labelled objects after the termination")
	said := strings.Join(l.recorder.lines, "\n")
	assert.Contains(t, said, "keeping v1/PersistentVolumeClaim shared, no longer managed")
	assert.NotContains(t, said, "removing v1/PersistentVolumeClaim")

	// Another instance must not take them over, but the next one of the same name does.
	id, name := l.target.Instance.ID, l.target.Instance.Name
	l.target.Instance.ID, l.target.Instance.Name = id+"-2", "another"
	var conflict *vnfm.ConflictError
	require.ErrorAs(t, l.driver.Apply(l.ctx, l.target, l.recorder), &conflict, "another instance took the volume")
	l.target.Instance.Name = name

	// A failed creation must not delete the volume that it took over.
	broken := strings.Replace(databaseManifests, "    metadata: {labels: {app: db}}\n", "    metadata: {labels: {app: db}, annotations: {lab.vnf/ready-delay: 10m}}\n", 1)
	l.setFiles("broken", map[string]string{"db.yaml": broken})
	short, cancel := context.WithTimeout(l.ctx, 15*time.Second)
	err := l.driver.Apply(short, l.target, l.recorder)
	cancel()
	var unready *kube.NotReadyError
	require.ErrorAs(t, err, &unready, "a database that is not ready")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDeleteNew})
	assert.Equal(t, all, l.claims(), "claims after the rollback")

	l.setFiles("1", map[string]string{"db.yaml": databaseManifests})
	l.apply()
	l.inSync()
	assert.Equal(t, uid, l.kubectl("get", "pvc", "shared", "-o", "jsonpath={.metadata.uid}"), "the claim is another one")
	l.kubectl("create", "-f", l.file("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-db-x}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"))
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful, GracePeriod: time.Second, Volumes: vnfm.VolumesDelete})
	assert.Equal(t, "persistentvolumeclaim/data-db-x", l.claims(), "claims after a termination that deletes them")

	// The rollback of a creation deletes the claims that it created.
	l.apply()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDeleteNew})
	assert.Equal(t, "persistentvolumeclaim/data-db-x", l.claims(), "claims after a creation was undone")
}

const volumeManifests = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: VOLUME}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  claimRef: {namespace: NAMESPACE, name: CLAIM}
  hostPath: {path: /data}
---
`

// TestLabVolumesOfClaims keeps the volumes of claims that stay: of the package, of a StatefulSet, and of others, among them one that is not
// bound and one that is bound while the volume is about to be deleted. The API server would delete such a volume only after its claim, for
// which a termination cannot wait.
func TestLabVolumesOfClaims(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, map[string]int{"db": 1})
	text := strings.Replace(databaseManifests, "resources: {requests: {storage: 1Gi}}}\n---", "storageClassName: \"\", resources: {requests: {storage: 1Gi}}}\n---", 1)
	text = strings.Replace(text, "  - metadata: {name: data}\n    spec: {", "  - metadata: {name: data}\n    spec: {storageClassName: \"\", ", 1)
	names := map[string]string{"shared": l.namespace + "-shared", "data-db-0": l.namespace + "-made", "foreign": l.namespace + "-foreign", "nobody": l.namespace + "-nobody",
		"pending": l.namespace + "-pending", "late": l.namespace + "-late"}
	volumes := ""
	for claim, name := range names {
		l.deleteAtEnd("v1", "PersistentVolume", name)
		volumes += strings.NewReplacer("VOLUME", name, "CLAIM", claim, "NAMESPACE", l.namespace).Replace(volumeManifests)
	}
	l.setFiles("1", map[string]string{"db.yaml": volumes + text})
	claim := func(name, size string) {
		l.kubectl("create", "-f", l.file("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: "+name+"}\nspec: {accessModes: [ReadWriteOnce], storageClassName: \"\", resources: {requests: {storage: "+size+"}}}\n"))
	}
	bind := sync.OnceFunc(func() {
		claim("late", "1Gi")
		l.kubectl("wait", "pvc/late", "--for=jsonpath={.status.phase}=Bound", "--timeout=60s")
	})
	l.meter.hook(func(method, path string) {
		if method == http.MethodDelete && strings.HasSuffix(path, "/persistentvolumes/"+names["late"]) {
			bind()
		}
	})
	claim("foreign", "1Gi")
	claim("pending", "5Gi")
	l.apply()
	l.inSync()
	l.kubectl("wait", "pvc/foreign", "--for=jsonpath={.status.phase}=Bound", "--timeout=60s")
	bound := func() string {
		return strings.ReplaceAll(l.kubectl("get", "pvc", "-o", `jsonpath={range .items[*]}{.metadata.name}={.status.phase}={.spec.volumeName} {end}`), "late=Bound="+names["late"]+" ", "")
	}
	before := bound()
	var left []string
	keep := vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, reason string) {
		word, _, _ := strings.Cut(reason, " ")
		left = append(left, strings.ReplaceAll(object, l.namespace, "NAMESPACE")+": "+word)
	}}
	l.terminate(keep)
	slices.Sort(left)
	require.Equal(t, []string{
		"v1/PersistentVolume NAMESPACE-foreign: claim", "v1/PersistentVolume NAMESPACE-late: claim", "v1/PersistentVolume NAMESPACE-made: claim",
		"v1/PersistentVolume NAMESPACE-pending: claim", "v1/PersistentVolume NAMESPACE-shared: claim",
		"v1/PersistentVolumeClaim NAMESPACE/data-db-0: volume", "v1/PersistentVolumeClaim NAMESPACE/shared: volume",
	}, left)
	require.Equal(t, before, bound())
	require.Empty(t, l.kubectl("get", "pv", names["nobody"], "--ignore-not-found", "-o", "name"))

	// The next instance of the name takes over volumes and claims. A termination that deletes the claims keeps the foreign one, even if
	// its volume is being deleted.
	l.apply()
	l.inSync()
	require.Equal(t, before, bound())
	left = nil
	l.kubectl("delete", "pv", names["foreign"], "--wait=false")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDelete, LeftBehind: keep.LeftBehind})
	slices.Sort(left)
	require.Equal(t, []string{"v1/PersistentVolume NAMESPACE-foreign: claim", "v1/PersistentVolume NAMESPACE-late: claim", "v1/PersistentVolume NAMESPACE-pending: claim"}, left)
	require.Equal(t, "persistentvolumeclaim/foreign persistentvolumeclaim/late persistentvolumeclaim/pending", l.claims())
	require.Equal(t, "persistentvolume/"+names["foreign"], strings.Join(strings.Fields(l.kubectl("get", "pv", "-o", "name", names["shared"], names["data-db-0"], names["foreign"], "--ignore-not-found")), " "))
	l.kubectl("delete", "pvc", "foreign", "late", "pending")
}

// file writes a text to a temporary file.
func (l *lab) file(text string) string {
	l.t.Helper()
	name := l.t.TempDir() + "/manifest.yaml"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return name
}

func TestLabInventoryLost(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 1})
	l.apply()
	l.kubectl("label", "secret", "amf-key", labelInstance+"-")
	l.kubectl("create", "configmap", "foreign")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	assert.Empty(t, l.labelled(), "left behind")
	if out := l.kubectl("get", "secret,configmap", "-o", "name"); strings.Contains(out, "amf-key") || !strings.Contains(out, "foreign") {
		t.Errorf("after the termination there is: %s", out)
	}

	l.apply()
	l.target.Instance.Inventory = nil
	l.target.Package, l.target.Flavour = nil, nil
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.labelled(), "left behind without inventory and package")
}

func TestLabInstanceNamespace(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: x}]}\n"}, map[string]int{"p": 1})
	namespace := l.namespace + "-own"
	l.target.Instance.Namespace = namespace
	l.deleteAtEnd("v1", "Namespace", namespace)
	l.apply()
	l.inSync()
	_, ok := l.preview().Objects["v1/Namespace "+namespace]
	assert.False(t, ok, "the preview shows the namespace")
	l.apply()
	l.env.Kubectl(t, "-n", namespace, "create", "configmap", "foreign")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	assert.NotEmpty(t, l.env.Kubectl(t, "-n", namespace, "get", "configmap", "foreign", "-o", "name"), "an object of somebody else was removed with the namespace")
	l.env.Kubectl(t, "-n", namespace, "delete", "configmap", "foreign")
	l.apply()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Namespace: vnfm.SharedKeep})
	assert.Equal(t, "Active", l.env.Kubectl(t, "get", "namespace", namespace, "-o", "jsonpath={.status.phase}"), "the namespace that was to be kept")
	l.apply()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	assert.Empty(t, l.env.Kubectl(t, "get", "namespace", namespace, "--ignore-not-found", "-o", "name"), "the namespace is still there")
}

// deleteAtEnd deletes a cluster-scoped object after the test, even if the test fails.
func (l *lab) deleteAtEnd(apiVersion, kind, name string) {
	l.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		s, err := l.driver.connect(l.target, nil)
		if err == nil {
			var r kube.Resource
			if r, err = s.client.Resource(ctx, schema.FromAPIVersionAndKind(apiVersion, kind)); err == nil {
				err = s.client.Delete(ctx, kube.Ref{Resource: r, Name: name}, kube.DeleteOptions{})
			}
		}
		if err != nil {
			l.t.Logf("removing %s %s: %v", kind, name, err)
		}
	})
}

func TestLabDefinitions(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, map[string]int{"cells": 3})
	group := l.namespace + ".example.org"
	l.deleteAtEnd("apiextensions.k8s.io/v1", "CustomResourceDefinition", "cells."+group)
	crd := strings.ReplaceAll(`
apiVersion: GROUP/v1
kind: Cell
metadata: {name: cells}
spec: {size: 1, note: x}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cells.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Cell, plural: cells, singular: cell, listKind: CellList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, note: {type: string}}}
          status: {type: object, properties: {size: {type: integer}}}
`, "GROUP", group)
	l.setFiles("1", map[string]string{"crd.yaml": crd})
	l.target.Instance.AdditionalParams = map[string]any{"vdu_mapping": map[string]any{"cells": map[string]any{"kind": "Cell", "name": "cells"}}}
	l.apply()
	l.inSync()
	size := func() string { return l.kubectl("get", "cells."+group, "cells", "-o", "jsonpath={.spec.size}") }
	assert.Equal(t, "3", size(), "the custom resource has size")
	l.target.Counts["cells"] = 5
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	assert.Equal(t, "5", size(), "the custom resource has size")
	l.setFiles("2", map[string]string{"crd.yaml": strings.Replace(crd, "note: x", "note: w", 1)})
	l.apply()
	l.inSync()
	assert.Equal(t, "5", size(), "the custom resource has size")
	l.kubectl("patch", "cells."+group, "cells", "--type=merge", "-p", `{"spec":{"note":"z"}}`)
	l.expectDrift(map[string]string{group + "/v1/Cell cells": "drifted: spec.note (changed by kubectl-patch)"})
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.kubectl("get", "crd", "cells."+group, "--ignore-not-found", "-o", "name"), "left behind")
	got := l.observe()
	assert.Empty(t, got.Objects, "observed without the definition")
}

// TestLabKilledAnywhere interrupts the driver's work at random requests and repeats it.
func TestLabKilledAnywhere(t *testing.T) {
	t.Parallel()
	sampler := killtest.New(t)
	// Each attempt is interrupted this many requests later.
	further := int64(4)
	if sampler.Soak() {
		further = 1
	}
	l := newLab(t, map[string]string{"core.yaml": coreManifests + "---" + databaseManifests}, map[string]int{"amf": 2, "db": 1})
	changed := strings.Replace(coreManifests, "example.org/amf:1", "example.org/amf:2", 1)
	changed = strings.Replace(changed, "name: report}\nspec", "name: report2}\nspec", 1)
	works := []struct {
		name string
		work func(ctx context.Context) error
	}{
		{"apply", func(ctx context.Context) error { return l.driver.Apply(ctx, l.target, l.recorder) }},
		{"change", func(ctx context.Context) error {
			l.setFiles("2", map[string]string{"core.yaml": changed + "---" + databaseManifests})
			return l.driver.Apply(ctx, l.target, l.recorder)
		}},
		{"scale", func(ctx context.Context) error {
			l.target.Counts["amf"] = 3
			return l.driver.Scale(ctx, l.target, l.recorder)
		}},
		{"terminate", func(ctx context.Context) error {
			return l.driver.Terminate(ctx, l.target, vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesDelete}, l.recorder)
		}},
	}
	for _, w := range works {
		interrupted := 0
		l.meter.take()
		for round := 0; ; round++ {
			ctx, cancel := context.WithCancel(l.ctx)
			var left atomic.Int64
			left.Store(further*int64(round) + sampler.Int64N(further))
			l.meter.hook(func(string, string) {
				if left.Add(-1) < 0 {
					cancel()
				}
			})
			end := sampler.Begin(t, w.name)
			start := time.Now()
			err := w.work(ctx)
			end()
			l.meter.hook(nil)
			cancelled := ctx.Err() != nil
			cancel()
			if err == nil {
				break
			}
			require.True(t, cancelled, "%s after %d interruptions: %v", w.name, interrupted, err)
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%s ended %s after it began, although it was interrupted", w.name, d)
			}
			interrupted++
			sampler.Met(w.name)
		}
		assert.NotZero(t, interrupted, "%s was never interrupted", w.name)
		t.Logf("%s was interrupted %d times", w.name, interrupted)
		if w.name != "terminate" {
			l.inSync()
			l.nothingUnknown()
		}
	}
	assert.Empty(t, l.labelled(), "left behind")
	assert.Empty(t, l.claims(), "claims left behind")
}

// nothingUnknown fails if an object with the instance's label is not in the inventory.
func (l *lab) nothingUnknown() {
	l.t.Helper()
	recorded := map[string]bool{}
	for _, item := range l.target.Instance.Inventory {
		recorded[strings.ToLower(item.Kind)+"/"+item.Name] = true
	}
	found := map[string]bool{}
	for _, name := range l.labelled() {
		kind, rest, _ := strings.Cut(name, "/")
		kind, _, _ = strings.Cut(kind, ".")
		found[kind+"/"+rest] = true
	}
	if diff := cmp.Diff(recorded, found); diff != "" {
		l.t.Errorf("objects (-inventory +server):\n%s", diff)
	}
}

// TestLabHealStorage replaces the claims that a StatefulSet created, of one pod and of all pods, if a heal requests it. A shared claim
// is never replaced.
func TestLabHealStorage(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"db.yaml": databaseManifests}, map[string]int{"db": 2})
	l.apply()
	uids := func() map[string]string {
		out := map[string]string{}
		for _, pair := range strings.Fields(l.kubectl("get", "pvc", "-o", `jsonpath={range .items[*]}{.metadata.name}={.metadata.uid} {end}`)) {
			name, uid, _ := strings.Cut(pair, "=")
			out[name] = uid
		}
		return out
	}
	for _, step := range []struct {
		heal vnfm.HealSpec
		goes []string
	}{
		{vnfm.HealSpec{ID: "without", VDUIDs: []string{"db"}}, nil},
		{vnfm.HealSpec{ID: "one", VNFCIDs: []string{"db-db-0"}, Storage: true}, []string{"data-db-0"}},
		{vnfm.HealSpec{ID: "all", VDUIDs: []string{"db"}, Storage: true}, []string{"data-db-0", "data-db-1"}},
	} {
		before := uids()
		l.heal(step.heal)
		after := uids()
		for name, uid := range before {
			if replaced := after[name] != uid; replaced != slices.Contains(step.goes, name) || after[name] == "" {
				t.Errorf("%s: claim %s was %s and is %s", step.heal.ID, name, uid, after[name])
			}
		}
	}
	l.inSync()
}

// TestLabDroppedFields applies a field of a disabled feature, which the API server drops silently.
func TestLabDroppedFields(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"claim.yaml": `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: copy}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: a, namespace: other}
`}, nil)
	const want = "v1/PersistentVolumeClaim copy (claim.yaml:2): spec.dataSourceRef\nThe feature of these fields is turned off in its version of Kubernetes"
	problems, err := l.driver.DryRun(l.ctx, l.target, []string{"v1/PersistentVolumeClaim copy"})
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Equal(t, vnfm.SeverityWarning, problems[0].Severity)
	require.Contains(t, problems[0].Detail, want)

	var warned []vnfm.Problem
	l.target.Warn = func(p vnfm.Problem) { warned = append(warned, p) }
	l.apply()
	require.Len(t, warned, 1)
	require.Equal(t, problems[0], warned[0])
	// The driver owns the field nevertheless, so a second apply writes nothing.
	l.inSync()
	l.apply()
	require.Len(t, warned, 1)
}
