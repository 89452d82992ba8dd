package kubernetes

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newChartLab makes an instance of a package with a chart of these files.
func newChartLab(t *testing.T, files map[string]string, counts map[string]int) *lab {
	t.Helper()
	l := newLab(t, nil, counts)
	l.setChart("1", files)
	return l
}

// setChart replaces the package by another version of it.
func (l *lab) setChart(version string, files map[string]string) {
	made := targettest.Chart(files, nil)
	p := *made.Package
	p.ID = "core@" + version
	l.target.Package = &p
	l.target.Flavour.MCIOPs = made.Flavour.MCIOPs
}

// history lists the revisions of the instance's release, as "revision status".
func (l *lab) history() []string {
	l.t.Helper()
	out := l.kubectl("get", "secrets", "-l", "owner=helm", "--sort-by", ".metadata.creationTimestamp", "-o", `jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}`)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(fmt.Sprintf("%20s", strings.Fields(a)[0]), fmt.Sprintf("%20s", strings.Fields(b)[0]))
	})
	return lines
}

func (l *lab) expectHistory(want ...string) {
	l.t.Helper()
	if diff := cmp.Diff(want, l.history()); diff != "" {
		l.t.Errorf("history (-want +got):\n%s", diff)
	}
}

// ran returns the hooks that ran, in order.
func (l *lab) ran() []string {
	l.recorder.mu.Lock()
	defer l.recorder.mu.Unlock()
	var out []string
	for _, line := range l.recorder.lines {
		if text, ok := strings.CutPrefix(line, "running the "); ok {
			out = append(out, text)
		}
	}
	l.recorder.lines = nil
	return out
}

func hookJob(name, annotations, pod string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: { name: " + name + ", annotations: {" + annotations + "} }\n" +
		"spec: { backoffLimit: 0, template: { metadata: { annotations: {" + pod + "} }, spec: { restartPolicy: Never, containers: [ { name: a, image: example.org/a:1 } ] } } }\n---\n"
}

const someConfig = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: {{ .Values.a | default 1 | quote }} }\n---\n"

func TestLabHooksRunAtTheirMoments(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{
		"templates/a.yaml": someConfig,
		"templates/h.yaml": hookJob("late", `helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "2"`, "") +
			hookJob("early", `helm.sh/hook: pre-install, helm.sh/hook-weight: "-1", helm.sh/hook-delete-policy: hook-succeeded`, "") +
			hookJob("after", `helm.sh/hook: "post-install,post-upgrade,post-delete"`, "") +
			hookJob("bye", `helm.sh/hook: pre-delete`, "") + hookJob("test", `helm.sh/hook: test`, "") +
			"apiVersion: v1\nkind: Pod\nmetadata: { name: once, annotations: { helm.sh/hook: post-install } }\nspec: { restartPolicy: Never, containers: [ { name: a, image: example.org/a:1 } ] }\n",
	}, nil)
	// A hook waits for the end of its pod. The lab ends only the pods of Jobs.
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.eventually("the pod of a hook", func() bool { return strings.Contains(l.kubectl("get", "pods", "-o", "name"), "pod/once") })
		l.kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/once", "--timeout=60s")
		l.kubectl("patch", "pod", "once", "--subresource=status", "-p", `{"status":{"phase":"Succeeded"}}`)
	}()
	l.apply()
	<-done
	install := []string{"pre-install hook batch/v1/Job early", "pre-install hook batch/v1/Job late", "post-install hook batch/v1/Job after", "post-install hook v1/Pod once"}
	assert.Equal(t, install, l.ran(), "hooks of the installation")
	assert.Equal(t, []string{"job.batch/after", "job.batch/late"}, strings.Fields(l.kubectl("get", "jobs", "-o", "name")), "jobs that are left")
	l.inSync()
	l.kubectl("patch", "configmap", "a", "-p", `{"data":{"a":"2"}}`)
	l.apply()
	assert.Empty(t, l.ran(), "a repair ran hooks")
	l.expectHistory("1 deployed")
	l.target.Instance.AdditionalParams = map[string]any{"helm_parameters": map[string]any{"a": 2}}
	l.apply()
	assert.Equal(t, []string{"pre-upgrade hook batch/v1/Job late", "post-upgrade hook batch/v1/Job after"}, l.ran(), "hooks of the upgrade")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Equal(t, []string{"pre-delete hook batch/v1/Job bye", "post-delete hook batch/v1/Job after"}, l.ran(), "hooks of the termination")
	assert.Empty(t, l.kubectl("get", "jobs,pods,secrets", "-o", "name"), "left")
	assert.Empty(t, l.labelled(), "left")
}

func TestLabFailedHookIsResumed(t *testing.T) {
	t.Parallel()
	files := func(pod string) map[string]string {
		return map[string]string{"templates/a.yaml": someConfig, "templates/h.yaml": hookJob("migrate", `helm.sh/hook: pre-install`, pod)}
	}
	l := newChartLab(t, files("lab.vnf/fail: crash"), nil)
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	if err == nil || !strings.Contains(err.Error(), "the pre-install hook batch/v1/Job migrate (Files/core/templates/h.yaml) failed") || !strings.Contains(err.Error(), "panic: cannot reach database") {
		t.Errorf("error: %v", err)
	}
	assert.Empty(t, l.kubectl("get", "configmap", "a", "-o", "name", "--ignore-not-found"), "objects were made although the hook before them failed")
	l.expectHistory("1 failed")
	l.setChart("2", files(""))
	l.apply()
	l.expectHistory("1 failed", "2 deployed")
	l.inSync()
}

// TestLabKilledRevisionIsResumed cuts all connections at the first object after the record of the new revision, as if the process were
// killed.
func TestLabKilledRevisionIsResumed(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	var killed atomic.Bool
	l.meter.hook(func(method, path string) {
		if killed.Load() {
			panic(http.ErrAbortHandler)
		}
		if method == http.MethodPatch && strings.Contains(path, "/configmaps/") {
			killed.Store(true)
			panic(http.ErrAbortHandler)
		}
	})
	ctx, cancel := context.WithTimeout(l.ctx, 5*time.Second)
	defer cancel()
	require.Error(t, l.driver.Apply(ctx, l.target, l.recorder), "an apply without connections succeeded")
	l.meter.hook(nil)
	l.expectHistory("1 pending-install")
	// The holder of the Lease is still alive, since it is this process.
	l.kubectl("delete", "leases", "--all")
	l.apply()
	l.expectHistory("1 failed", "2 deployed")
	l.inSync()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.kubectl("get", "secrets", "-o", "name"), "left")
}

// TestLabChartGivesWayToManifests changes a package from a chart to manifests. The release is deleted, and the key of the digests stays.
func TestLabChartGivesWayToManifests(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	l.apply()
	l.expectHistory("1 deployed")
	l.target.Flavour.MCIOPs = nil
	l.setFiles("2", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: b }\n"})
	l.apply()
	l.inSync()
	left, want := strings.TrimSpace(l.kubectl("get", "secrets", "-o", "name")), "secret/vnf-"+l.target.Instance.ID
	assert.Equal(t, want, left, "left")
	if key, err := l.driver.DigestKey(t.Context(), l.target); err != nil || string(key) != string(l.target.DigestKey) {
		t.Errorf("key %q, %v", key, err)
	}
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	if key, err := l.driver.DigestKey(t.Context(), l.target); err != nil || key != nil {
		t.Errorf("key %q after the termination, %v", key, err)
	}
}

func TestLabHistoryIsBounded(t *testing.T) {
	t.Parallel()
	const maxRevisions = 10 // As many as Helm keeps.
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	for i := range maxRevisions + 2 {
		l.target.Instance.AdditionalParams = map[string]any{"helm_parameters": map[string]any{"a": i}}
		l.apply()
	}
	got := l.history()
	if len(got) != maxRevisions || got[0] != "3 superseded" || got[maxRevisions-1] != "12 deployed" {
		t.Errorf("history: %v", got)
	}
}

// recordRevision writes the record of a deployed revision like the helm command, with the labels of the release.
func (l *lab) recordRevision(target *vnfm.Target, number int) {
	l.t.Helper()
	name := helm.ReleaseName(l.target.Instance.Name)
	loaded, err := helm.Load(l.t.Context(), target.Package.Content, "Files/core")
	if err != nil {
		l.t.Fatal(err)
	}
	rendered, ps := loaded.Render(l.t.Context(), helm.Options{Release: name, Namespace: l.namespace})
	if len(ps) > 0 {
		l.t.Fatal(ps)
	}
	text, err := rendered.Release(number, time.Time{}, helm.Deployed, "by hand").Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	secret := helm.SecretName(name, number)
	l.kubectl("create", "secret", "generic", secret, "--type", helm.SecretType, "--from-literal=release="+text)
	l.kubectl("label", "secret", secret, "owner=helm", "name="+name, "status=deployed", fmt.Sprintf("version=%d", number), release.LabelReleaseOf+"="+l.target.Instance.ID)
}

// TestLabReleaseOfAnother finds a release of the same name that is not the instance's.
func TestLabReleaseOfAnother(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{"templates/a.yaml": someConfig}, nil)
	name := helm.ReleaseName(l.target.Instance.Name)
	l.recordRevision(targettest.Chart(map[string]string{"templates/a.yaml": someConfig}, nil), 4)
	l.kubectl("label", "secret", helm.SecretName(name, 4), release.LabelReleaseOf+"-")
	l.meter.take()
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	var conflict *vnfm.ConflictError
	require.ErrorAs(t, err, &conflict)
	assert.Equal(t, "the Helm release "+name+" in namespace "+l.namespace, conflict.Object, "error")
	assert.Empty(t, writes(l.meter.take()), "written in spite of the conflict")
	l.target.AdoptExisting = true
	l.apply()
	l.target.AdoptExisting = false
	l.expectHistory("4 superseded", "5 deployed")
	_, err = base64.StdEncoding.DecodeString(l.kubectl("get", "secret", helm.SecretName(name, 5), "-o", "jsonpath={.data.release}"))
	require.NoError(t, err)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	assert.Empty(t, l.kubectl("get", "secrets", "-l", "owner=helm", "-o", "name"), "left")
}

// TestLabAdoptionMakesAgain: the apply names results that the record does not contain, because a plan without its VIM cannot.
func TestLabAdoptionMakesAgain(t *testing.T) {
	t.Parallel()
	digest := func(of string) map[string]string {
		return map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: {{ " + of + " | sha256sum }} }\n"}
	}
	l := newChartLab(t, digest("randAlphaNum 16"), nil)
	l.recordRevision(targettest.Chart(digest(`"generated"`), nil), 4)
	l.target.Results = vnfm.NewResults(nil)
	l.kubectl("label", "secret", helm.SecretName(helm.ReleaseName(l.target.Instance.Name), 4), release.LabelReleaseOf+"-")
	var warned []string
	l.target.Warn = func(p vnfm.Problem) { warned = append(warned, p.Summary) }
	l.target.AdoptExisting = true
	l.apply()
	require.Equal(t, []string{helm.NotRecorded}, warned)
}

// TestLabFailedAdoption: if the first apply to an existing release fails, a termination does not remove the objects of the release.
func TestLabFailedAdoption(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"templates/a.yaml": someConfig,
		"templates/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\ndata: { a: x }\n",
	}
	l := newChartLab(t, files, nil)
	name := helm.ReleaseName(l.target.Instance.Name)
	l.recordRevision(targettest.Chart(files, nil), 4)
	l.kubectl("label", "secret", helm.SecretName(name, 4), release.LabelReleaseOf+"-")
	for _, object := range []string{"a", "b"} {
		l.kubectl("create", "configmap", object)
		l.kubectl("annotate", "configmap", object, "meta.helm.sh/release-name="+name, "meta.helm.sh/release-namespace="+l.namespace)
	}
	l.meter.hook(func(method, path string) {
		if method == http.MethodPatch && strings.HasSuffix(path, "/configmaps/b") {
			panic(http.ErrAbortHandler)
		}
	})
	l.target.AdoptExisting = true
	ctx, cancel := context.WithTimeout(l.ctx, 3*time.Second)
	defer cancel()
	require.Error(t, l.driver.Apply(ctx, l.target, l.recorder), "an apply that cannot write an object succeeded")
	l.expectHistory("4 deployed", "5 failed")
	l.meter.hook(nil)
	l.kubectl("delete", "leases", "--all")
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful})
	l.expectHistory("4 deployed")
	left := l.kubectl("get", "configmap", "a", "b", "--ignore-not-found", "-o", "name")
	assert.Len(t, strings.Fields(left), 2, "left: %s", left)
}

// TestLabDefinitionsAreShared creates two instances of one chart, and so the same definition, concurrently.
func TestLabDefinitionsAreShared(t *testing.T) {
	t.Parallel()
	first := newChartLab(t, nil, nil)
	group := first.namespace + ".example.com"
	definition := "plans." + group
	files := map[string]string{
		"crds/plan.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ` + definition + ` }
spec:
  group: ` + group + `
  scope: Namespaced
  names: { plural: plans, singular: plan, kind: Plan }
  versions: [ { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } } ]
`,
		"templates/a.yaml": "apiVersion: " + group + "/v1\nkind: Plan\nmetadata: { name: a }\nspec: { b: 1 }\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: { name: kept, annotations: { helm.sh/resource-policy: keep } }\n",
	}
	defer first.env.Kubectl(t, "delete", "crd", definition, "--ignore-not-found", "--wait=false")
	first.setChart("1", files)
	second := newChartLab(t, files, nil)
	// Both read before either writes.
	var looked sync.WaitGroup
	looked.Add(2)
	var both errgroup.Group
	for _, l := range []*lab{first, second} {
		l.recorder.firstSave = func() { looked.Done(); looked.Wait() }
		both.Go(func() error { return l.driver.Apply(l.ctx, l.target, l.recorder) })
	}
	require.NoError(t, both.Wait())
	first.inSync()
	second.inSync()
	second.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	first.inSync()
	first.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	got := first.env.Kubectl(t, "get", "crd", definition, "-o", "name")
	assert.Equal(t, "customresourcedefinition.apiextensions.k8s.io/"+definition, strings.TrimSpace(got), "the definition is gone: %q", got)
	got = first.kubectl("get", "plans."+group+",configmaps", "-o", "name")
	assert.Equal(t, "configmap/kept configmap/kube-root-ca.crt", strings.Join(strings.Fields(got), " "), "left: %s", got)
	// An instance of the same name takes over the kept objects.
	first.target.Instance.Inventory = nil
	first.apply()
	first.inSync()
	first.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
}

// TestLabChartWithoutNamespacedObjects: the namespace of a chart with only cluster-scoped objects is created for its release records.
func TestLabChartWithoutNamespacedObjects(t *testing.T) {
	t.Parallel()
	l := newChartLab(t, map[string]string{
		"templates/a.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: {{ .Release.Namespace }}-reader }\nrules: []\n",
	}, nil)
	namespace := l.namespace + "-made"
	l.target.Instance.Namespace = namespace
	l.apply()
	got := l.kubectl("get", "secrets", "-n", namespace, "-l", "owner=helm,status=deployed", "-o", "name")
	assert.Equal(t, 1, strings.Count(got, "sh.helm.release.v1"), "records of the release: %q", got)
	l.inSync()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	l.eventually("the end of the namespace", func() bool { return l.kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", "name") == "" })
}
