package kube

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func notReady(t *testing.T, err error) *NotReadyError {
	t.Helper()
	var e *NotReadyError
	require.ErrorAs(t, err, &e)
	t.Log(err)
	return e
}

func mustSay(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, s := range texts {
		require.ErrorContains(t, err, s, "the error does not say")
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestWaitReadyRollOut(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	web := reference(t, c, "apps/v1", "Deployment", ns, "web")
	none := reference(t, c, "apps/v1", "Deployment", ns, "none")
	settings := reference(t, c, "v1", "ConfigMap", ns, "settings")
	late := reference(t, c, "v1", "Service", ns, "late")
	applied(t, c, web, deployment(web, 2, map[string]any{"lab.vnf/ready-delay": "1s"}))
	applied(t, c, none, deployment(none, 0, nil))
	applied(t, c, settings, manifest(settings, nil))
	time.AfterFunc(500*time.Millisecond, func() {
		_, err := c.Apply(context.WithoutCancel(t.Context()), late, manifest(late, map[string]any{"spec": map[string]any{"type": "ExternalName", "externalName": "example.org"}}), ApplyOptions{})
		require.NoError(t, err)
	})
	var calls, last atomic.Int64
	refs := []Ref{web, none, settings, late, web}
	err := c.WaitReady(within(t, 60*time.Second), refs, WaitOptions{Progress: func(ready, total int, _ string) {
		calls.Add(1)
		last.Store(int64(ready))
		assert.Equal(t, 4, total, "total")
	}})
	require.NoError(t, err)
	obj, err := c.Get(t.Context(), web)
	require.NoError(t, err)
	n, _, err := unstructured.NestedInt64(obj.Object, "status", "readyReplicas")
	require.NoError(t, err)
	assert.Equal(t, int64(2), n)
	assert.NotZero(t, calls.Load(), "no progress was reported")
}

func TestWaitReadyRequests(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	if env.AuditLog == "" {
		labtest.Missing(t, "lab: it has no audit log")
	}
	ns := env.Namespace(t)
	cfg := labConfig(t, env)
	cfg.UserAgent = "terraform-provider-vnf/" + ns
	c := newClient(t, cfg)
	var refs []Ref
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		d := reference(t, c, "apps/v1", "Deployment", ns, name)
		applied(t, c, d, deployment(d, 1, nil))
		m := reference(t, c, "v1", "ConfigMap", ns, name)
		applied(t, c, m, manifest(m, nil))
		refs = append(refs, d, m)
	}
	require.NoError(t, c.WaitReady(within(t, 60*time.Second), refs, WaitOptions{}))
	// The end of a watch is logged as well, so each request counts once by its id.
	want := map[string]int{"get": 2, "patch": 10, "list": 2, "watch": 2}
	got := map[string]int{}
	for tries := 0; tries < 50; tries++ {
		got = map[string]int{}
		ids := map[string]bool{}
		for line := range strings.Lines(env.ReadFile(t, env.AuditLog)) {
			var event struct {
				AuditID string `json:"auditID"`
				Verb    string `json:"verb"`
			}
			if strings.Contains(line, cfg.UserAgent) && json.Unmarshal([]byte(line), &event) == nil && !ids[event.AuditID] {
				ids[event.AuditID] = true
				got[event.Verb]++
			}
		}
		if cmp.Equal(want, got) || poll.Sleep(t.Context(), 100*time.Millisecond) != nil {
			break
		}
	}
	assert.Equal(t, want, got, "requests by verb")
}

func TestWaitReadyNever(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	ref := reference(t, c, "apps/v1", "Deployment", ns, "amf")
	missing := reference(t, c, "v1", "Service", ns, "gone")
	applied(t, c, ref, deployment(ref, 1, map[string]any{"lab.vnf/fail": "never-ready"}))
	e := notReady(t, c.WaitReady(within(t, 4*time.Second), []Ref{ref, missing}, WaitOptions{}))
	mustSay(t, e, "2 of 2 objects", "Deployment "+ns+"/amf: InProgress", "Available: 0/1", "pod amf-", "Service "+ns+"/gone: NotFound", "event: ")
	require.ErrorIs(t, e, context.DeadlineExceeded, "%v is not the end of the time", e.Err)
	states := c.Explain(t.Context(), []Ref{missing, ref})
	if len(states) != 2 || states[0].Status != StatusNotFound || states[1].Status != StatusInProgress || len(states[1].Pods) != 1 || len(states[1].Events) == 0 {
		t.Errorf("explained: %+v", states)
	}
	// The object lacks the label, as if another client had taken it.
	e = notReady(t, c.WaitReady(within(t, time.Minute), []Ref{ref}, WaitOptions{LabelSelector: "owner=mine"}))
	mustSay(t, e, "Deployment "+ns+"/amf: Failed (Relabelled): the object exists, and another client has taken it: it has not the label owner=mine, but owner is \"\"")
	require.NotErrorIs(t, e, context.DeadlineExceeded, "it was waited for")
}

func TestWaitReadyCrash(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	ref := reference(t, c, "apps/v1", "Deployment", ns, "smf")
	applied(t, c, ref, deployment(ref, 1, map[string]any{"lab.vnf/fail": "crash"}))
	var reported atomic.Value
	e := notReady(t, c.WaitReady(within(t, 8*time.Second), []Ref{ref}, WaitOptions{Progress: func(_, _ int, waitingFor string) {
		if strings.Contains(waitingFor, "restarts") {
			reported.Store(waitingFor)
		}
	}}))
	mustSay(t, e, "Deployment "+ns+"/smf", "container main", "restarts", "log: ")
	assert.NotEmpty(t, e.Objects[0].Pods[0].LogTail, "no log")
	if reported.Load() == nil {
		t.Error("the progress does not show the crash")
	}
	t.Log(reported.Load())
}

func TestWaitReadyJob(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	job := func(name string, annotations map[string]any) Ref {
		ref := reference(t, c, "batch/v1", "Job", ns, name)
		template := podTemplate(name, annotations)
		fields(t, template, "spec")["restartPolicy"] = "Never"
		applied(t, c, ref, manifest(ref, map[string]any{"spec": map[string]any{"backoffLimit": 0, "ttlSecondsAfterFinished": 0, "template": template}}))
		return ref
	}
	// The Job is removed as soon as it is complete, long before the other object exists.
	good, late := job("good", nil), reference(t, c, "v1", "ConfigMap", ns, "late")
	done := make(chan error, 1)
	go func() { done <- c.WaitReady(within(t, 60*time.Second), []Ref{good, late}, WaitOptions{}) }()
	require.NoError(t, c.WaitReady(within(t, 60*time.Second), []Ref{good}, WaitOptions{}), "the job that succeeds")
	require.NoError(t, c.WaitGone(within(t, 60*time.Second), []Ref{good}, WaitOptions{}))
	applied(t, c, late, manifest(late, nil))
	require.NoError(t, <-done, "the job that was removed")
	bad := reference(t, c, "batch/v1", "Job", ns, "bad")
	template := podTemplate("bad", map[string]any{"lab.vnf/fail": "crash"})
	fields(t, template, "spec")["restartPolicy"] = "Never"
	applied(t, c, bad, manifest(bad, map[string]any{"spec": map[string]any{"backoffLimit": 0, "template": template}}))
	other := reference(t, c, "v1", "ConfigMap", ns, "never")
	start := time.Now()
	e := notReady(t, c.WaitReady(within(t, 60*time.Second), []Ref{other, bad}, WaitOptions{}))
	if took := time.Since(start); took > 45*time.Second {
		t.Errorf("the failed job was noticed after %s", took)
	}
	if e.Err != nil || e.Objects[0].Ref.Name != "bad" || e.Objects[0].Status != StatusFailed {
		t.Errorf("%+v", e.Objects[0])
	}
	mustSay(t, e, "BackoffLimitExceeded")
}

func TestWaitReadyProgressDeadline(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	ref := reference(t, c, "apps/v1", "Deployment", ns, "upf")
	obj := deployment(ref, 1, map[string]any{"lab.vnf/fail": "image"})
	fields(t, obj, "spec")["progressDeadlineSeconds"] = 2
	applied(t, c, ref, obj)
	e := notReady(t, c.WaitReady(within(t, 60*time.Second), []Ref{ref}, WaitOptions{}))
	require.NoError(t, e.Err)
	assert.Equal(t, StatusFailed, e.Objects[0].Status, "%+v", e)
	mustSay(t, e, "ProgressDeadlineExceeded", "ImagePull")
}

func TestWaitReadyCancel(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	ref := reference(t, c, "apps/v1", "Deployment", ns, "amf")
	applied(t, c, ref, deployment(ref, 1, map[string]any{"lab.vnf/fail": "never-ready"}))
	ctx, cancel := context.WithCancel(t.Context())
	var cancelled atomic.Int64
	time.AfterFunc(time.Second, func() { cancelled.Store(time.Now().UnixNano()); cancel() })
	err := c.WaitReady(ctx, []Ref{ref}, WaitOptions{Progress: func(int, int, string) {}})
	took := time.Duration(time.Now().UnixNano() - cancelled.Load())
	require.ErrorIs(t, err, context.Canceled)
	if took > 2*time.Second {
		t.Errorf("ended %s after the interrupt", took)
	}
	t.Logf("ended %s after the interrupt", took)
}

func TestWaitReadyClaim(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	class := reference(t, c, "storage.k8s.io/v1", "StorageClass", "", ns+"-late")
	applied(t, c, class, manifest(class, map[string]any{"provisioner": "example.org/none", "volumeBindingMode": "WaitForFirstConsumer"}))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), class, DeleteOptions{}) })
	at := reference(t, c, "storage.k8s.io/v1", "StorageClass", "", ns+"-now")
	applied(t, c, at, manifest(at, map[string]any{"provisioner": "example.org/none", "volumeBindingMode": "Immediate"}))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), at, DeleteOptions{}) })
	claim := func(name, class string) Ref {
		ref := reference(t, c, "v1", "PersistentVolumeClaim", ns, name)
		applied(t, c, ref, manifest(ref, map[string]any{"spec": map[string]any{
			"storageClassName": class, "accessModes": []any{"ReadWriteOnce"},
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}}))
		return ref
	}
	require.NoError(t, c.WaitReady(within(t, 20*time.Second), []Ref{claim("late", class.Name)}, WaitOptions{}), "a claim that waits for its first consumer")
	e := notReady(t, c.WaitReady(within(t, 2*time.Second), []Ref{claim("now", at.Name)}, WaitOptions{}))
	mustSay(t, e, "phase Pending")
}

func TestWaitReadyDefinition(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	group := ns + ".example.org"
	crd := reference(t, c, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "slices."+group)
	if _, err := c.Resource(t.Context(), gvk(group+"/v1", "Slice")); !isUnknownKind(err) {
		t.Fatalf("before the definition: %v", err)
	}
	applied(t, c, crd, manifest(crd, map[string]any{"spec": map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"plural": "slices", "singular": "slice", "kind": "Slice", "listKind": "SliceList"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec": map[string]any{"type": "object", "properties": map[string]any{"sst": map[string]any{"type": "integer"}}},
			}}},
		}},
	}}))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), crd, DeleteOptions{}) })
	require.NoError(t, c.WaitReady(within(t, 30*time.Second), []Ref{crd}, WaitOptions{}))
	cr := reference(t, c, group+"/v1", "Slice", ns, "embb")
	applied(t, c, cr, manifest(cr, map[string]any{"spec": map[string]any{"sst": 1}}))
	require.NoError(t, c.WaitReady(within(t, 30*time.Second), []Ref{cr}, WaitOptions{}))
	_, err := c.Apply(t.Context(), cr, manifest(cr, map[string]any{"spec": map[string]any{"sts": 1}}), ApplyOptions{})
	require.ErrorContains(t, err, "sts", "an unknown field of a custom resource")
}

func TestWaitSurvivesCut(t *testing.T) {
	env := labtest.Kubernetes(t)
	cfg := labConfig(t, env)
	cfg.Connection.Endpoint = env.FaultyEndpoint(t)
	env.Fault(t, "clear")
	c := newClient(t, cfg)
	ns := env.Namespace(t)
	ref := reference(t, c, "apps/v1", "Deployment", ns, "web")
	applied(t, c, ref, deployment(ref, 1, map[string]any{"lab.vnf/ready-delay": "5s"}))
	done := make(chan error, 1)
	go func() { done <- c.WaitReady(within(t, 60*time.Second), []Ref{ref}, WaitOptions{}) }()
	require.NoError(t, poll.Sleep(t.Context(), time.Second), "no time")
	env.Fault(t, "cut")
	require.NoError(t, poll.Sleep(t.Context(), 2*time.Second), "no time")
	select {
	case err := <-done:
		t.Fatalf("the wait ended during the cut: %v", err)
	default:
	}
	env.Fault(t, "clear")
	require.NoError(t, <-done)

	env.Fault(t, "cut")
	start := time.Now()
	err := newClient(t, cfg).Delete(t.Context(), ref, DeleteOptions{})
	var unreachable *vnfm.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.VIM != "lab" || time.Since(start) > 5*time.Second {
		t.Errorf("a server that never answered: %v after %s", err, time.Since(start))
	}
	cleared := make(chan struct{})
	time.AfterFunc(time.Second, func() {
		defer close(cleared)
		env.Fault(t, "clear")
	})
	require.NoError(t, c.Delete(t.Context(), ref, DeleteOptions{}), "a server that answered before")
	// The end of the test would also end the program that clears the fault.
	<-cleared
}

func TestWaitGone(t *testing.T) {
	t.Parallel()
	_, c, ns := labNamespace(t)
	kept := reference(t, c, "v1", "ConfigMap", ns, "kept")
	plain := reference(t, c, "v1", "ConfigMap", ns, "plain")
	stays := reference(t, c, "v1", "ConfigMap", ns, "stays")
	obj := manifest(kept, nil)
	fields(t, obj, "metadata")["finalizers"] = []any{"example.org/hold"}
	applied(t, c, kept, obj)
	t.Cleanup(func() {
		_, _ = c.Apply(context.WithoutCancel(t.Context()), kept, manifest(kept, nil), ApplyOptions{})
	})
	applied(t, c, plain, manifest(plain, nil))
	applied(t, c, stays, manifest(stays, nil))
	for _, ref := range []Ref{kept, plain} {
		require.NoError(t, c.Delete(t.Context(), ref, DeleteOptions{}))
	}
	require.NoError(t, c.WaitGone(within(t, 20*time.Second), []Ref{plain}, WaitOptions{}))
	err := c.WaitGone(within(t, time.Second), []Ref{plain, kept, stays}, WaitOptions{})
	var still *StillThereError
	require.ErrorAs(t, err, &still)
	t.Log(err)
	if len(still.Objects) != 2 || still.Objects[0].Ref.Name != "kept" || still.Objects[0].DeletionTimestamp == nil || still.Objects[1].DeletionTimestamp != nil {
		t.Errorf("%+v", still.Objects)
	}
	mustSay(t, err, "example.org/hold", "stays is not being deleted", "kept has been marked for deletion since "+still.Objects[0].DeletionTimestamp.UTC().Format(time.RFC3339)+" (", " ago); waits for")
	time.AfterFunc(500*time.Millisecond, func() {
		_, _ = c.Apply(context.WithoutCancel(t.Context()), kept, manifest(kept, nil), ApplyOptions{})
	})
	require.NoError(t, c.WaitGone(within(t, 20*time.Second), []Ref{kept}, WaitOptions{}))
}
