package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// labTimeout bounds a test against the lab.
const labTimeout = 3 * time.Minute

// meter counts the requests to the lab's API server.
type meter struct {
	mu       sync.Mutex
	requests []string
	// before is called with every request if set.
	before func(method, path string)
}

func (m *meter) note(r *http.Request) {
	m.mu.Lock()
	m.requests = append(m.requests, r.Method+" "+r.URL.Path)
	before := m.before
	m.mu.Unlock()
	if before != nil {
		before(r.Method, r.URL.Path)
	}
}

// take returns the requests since the last call.
func (m *meter) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.requests
	m.requests = nil
	return out
}

func (m *meter) hook(f func(method, path string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// writes returns the requests that change objects, except the Lease of the operation.
func writes(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool {
		return strings.HasPrefix(r, "GET ") || strings.Contains(r, "/leases")
	})
}

// lab is an instance in a namespace of its own.
type lab struct {
	t         *testing.T
	ctx       context.Context
	env       labtest.Env
	namespace string
	driver    *Driver
	target    *vnfm.Target
	meter     *meter
	recorder  *recorder
}

// recorder keeps the inventory and the notes of one operation, like the engine.
type recorder struct {
	mu        sync.Mutex
	operation string
	notes     map[string]string
	instance  *vnfm.Instance
	lines     []string
	saves     int
	firstSave func()
	// said is called with every line of progress if set.
	said func(line string)
}

func (r *recorder) SaveInventory(_ context.Context, items []vnfm.InventoryItem) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instance.Inventory = slices.Clone(items)
	r.saves++
	if r.saves == 1 && r.firstSave != nil {
		r.firstSave()
	}
	return nil
}

func (r *recorder) Progress(_ context.Context, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	if r.said != nil {
		r.said(line)
	}
}

func (r *recorder) Missing() {}

func (r *recorder) SetNote(_ context.Context, key, note string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes[key] = note
	return nil
}

func (r *recorder) Note(key string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[key]
}

// begin starts an operation: it deletes the notes of another one.
func (r *recorder) begin(operation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.operation != operation {
		r.operation, r.notes = operation, map[string]string{}
	}
}

// newLab makes an instance of a package with these manifests. Its namespace exists.
func newLab(t *testing.T, files map[string]string, counts map[string]int) *lab {
	t.Helper()
	env := labtest.Kubernetes(t)
	ctx, cancel := context.WithTimeout(t.Context(), labTimeout)
	t.Cleanup(cancel)
	l := &lab{t: t, ctx: ctx, env: env, namespace: env.Namespace(t), driver: New(kube.NewPool("terraform-provider-vnf/test")), meter: &meter{}}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(env.ReadFile(t, env.CAFile)))
	endpoint, err := url.Parse(env.Endpoint)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(endpoint)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 32}
	proxy.FlushInterval = -1
	// Requests that end with the driver's context are part of the tests.
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.meter.note(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	l.target = targettest.Manifests(files, counts)
	l.target.VIM = &vnfm.VIM{Name: "lab", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: server.URL}}
	l.target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.AdminToken)}
	l.target.Warn = func(p vnfm.Problem) { t.Errorf("a warning that nobody expects: %s: %s", p.Summary, p.Detail) }
	l.target.Instance.ID = "i-" + l.namespace
	l.target.Instance.Name = "core-" + l.namespace
	l.target.Instance.Namespace = l.namespace
	l.recorder = &recorder{instance: l.target.Instance, notes: map[string]string{}}
	t.Cleanup(func() { l.checkShared(context.WithoutCancel(ctx)) })
	return l
}

// checkShared fails if a call has changed the rendering of the target, which other calls share.
func (l *lab) checkShared(ctx context.Context) {
	l.t.Helper()
	if l.target.Package == nil || l.target.Flavour == nil {
		return
	}
	shared, ps := l.driver.renderings.Render(ctx, l.target)
	own, _ := render.Render(budget.New(ctx, budget.Limits{}), l.target)
	if ps.HasErrors() {
		return
	}
	if !reflect.DeepEqual(shared.Objects, own.Objects) || !reflect.DeepEqual(shared.HookObjects(), own.HookObjects()) || !reflect.DeepEqual(shared.States, own.States) {
		l.t.Errorf("a call has changed the rendering that it shares:\n%s", cmp.Diff(contentsOf(own), contentsOf(shared)))
	}
}

func contentsOf(r *render.Rendering) map[string]any {
	out := map[string]any{}
	for _, o := range r.Objects {
		out[o.Key] = []any{o.Content, fmt.Sprintf("%+v", o.Scaling), o.Digest}
	}
	return out
}

// setFiles replaces the package by another version of it.
func (l *lab) setFiles(version string, files map[string]string) {
	l.checkShared(l.ctx)
	content := fstest.MapFS{}
	p := *l.target.Package
	p.ID, p.Digest, p.KubernetesFiles = "core@"+version, targettest.Digest(files), nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content[name] = &fstest.MapFile{Data: []byte(files[name])}
		p.KubernetesFiles = append(p.KubernetesFiles, name)
	}
	p.Content = content
	l.target.Package = &p
}

func (l *lab) apply() {
	l.t.Helper()
	if err := l.driver.Apply(l.ctx, l.target, l.recorder); err != nil {
		l.t.Fatalf("apply: %v", err)
	}
}

func (l *lab) terminate(spec vnfm.TerminateSpec) {
	l.t.Helper()
	if err := l.driver.Terminate(l.ctx, l.target, spec, l.recorder); err != nil {
		l.t.Fatalf("terminate: %v", err)
	}
}

func (l *lab) observe() *vnfm.Observation {
	l.t.Helper()
	o, err := l.driver.Observe(l.ctx, l.target)
	if err != nil {
		l.t.Fatalf("observe: %v", err)
	}
	return o
}

func (l *lab) preview() *vnfm.Preview {
	l.t.Helper()
	p, ps := l.driver.Preview(l.t.Context(), l.target)
	if ps.HasErrors() {
		l.t.Fatalf("preview: %v", ps)
	}
	return p
}

// inSync fails unless the server holds the objects of the preview.
func (l *lab) inSync() {
	l.t.Helper()
	want, got := l.preview(), l.observe()
	if diff := cmp.Diff(want.Objects, got.Objects); diff != "" {
		l.t.Errorf("objects (-planned +observed):\n%s", diff)
	}
	if diff := cmp.Diff(want.VDUs, got.VDUs); diff != "" {
		l.t.Errorf("VDUs (-planned +observed):\n%s", diff)
	}
}

// differing returns the objects that differ from the plan, with an empty value for a missing one.
func (l *lab) differing() map[string]string {
	l.t.Helper()
	want, got := l.preview().Objects, l.observe().Objects
	out := map[string]string{}
	for key, sum := range want {
		if got[key] != sum {
			out[key] = got[key]
		}
	}
	return out
}

func (l *lab) expectDrift(want map[string]string) {
	l.t.Helper()
	if diff := cmp.Diff(want, l.differing()); diff != "" {
		l.t.Errorf("differing objects (-want +got):\n%s", diff)
	}
}

// kubectl runs kubectl in the namespace of the instance.
func (l *lab) kubectl(args ...string) string {
	l.t.Helper()
	return l.env.Kubectl(l.t, append([]string{"-n", l.namespace}, args...)...)
}

// labelled lists the objects with the label of the instance, of all namespaced kinds that the tests use.
func (l *lab) labelled() []string {
	l.t.Helper()
	out := l.kubectl("get", "all,configmap,secret,serviceaccount,role,rolebinding,pvc,pdb,ingress,networkpolicy,lease",
		"-l", instanceSelector(l.target.Instance.ID), "-o", "name")
	return strings.Fields(out)
}

func (l *lab) replicas(name string) int {
	l.t.Helper()
	var d struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(l.kubectl("get", "deployment", name, "-o", "json")), &d); err != nil {
		l.t.Fatal(err)
	}
	return d.Spec.Replicas
}

// watchReplicas watches the replicas of a Deployment until a call of the returned function, which returns the observed numbers.
func (l *lab) watchReplicas(name string) func() map[int]bool {
	l.t.Helper()
	s, err := l.driver.connect(l.target, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(l.ctx, http.MethodGet,
		fmt.Sprintf("%s/apis/apps/v1/namespaces/%s/deployments?watch=true&fieldSelector=metadata.name=%s", s.client.Endpoint(), l.namespace, name), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.env.AdminToken)
	ctx, cancel := context.WithCancel(l.ctx)
	response, err := http.DefaultClient.Do(request.WithContext(ctx)) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		cancel()
		l.t.Fatal(err)
	}
	counts := map[int]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = response.Body.Close() }()
		decoder := json.NewDecoder(response.Body)
		for {
			var event struct {
				Object struct {
					Spec struct {
						Replicas int `json:"replicas"`
					} `json:"spec"`
				} `json:"object"`
			}
			if decoder.Decode(&event) != nil {
				return
			}
			counts[event.Object.Spec.Replicas] = true
		}
	}()
	return func() map[int]bool {
		cancel()
		<-done
		return counts
	}
}

// eventually waits until a condition of the lab holds.
func (l *lab) eventually(what string, holds func() bool) {
	l.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			l.t.Fatalf("%s: not within 30 s", what)
		}
	}
}
