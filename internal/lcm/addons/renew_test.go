package addons

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// workloadAPI is the API server of a workload cluster, which accepts one token. The kubeconfig on the management cluster has
// another one until it is replaced.
type workloadAPI struct {
	*httptest.Server

	mu              sync.Mutex
	accepted, known string
	requests, reads int
}

func newWorkloadAPI(t *testing.T) *workloadAPI {
	t.Helper()
	a := &workloadAPI{}
	a.rotate("token-1", "token-1")
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.requests++
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+a.accepted {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`)
			return
		}
		_, _ = io.WriteString(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`)
	}))
	t.Cleanup(a.Close)
	return a
}

// rotate revokes the token of before. known is that of the kubeconfig from now on.
func (a *workloadAPI) rotate(accepted, known string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accepted, a.known = accepted, known
}

// clusters reads the kubeconfig of that one cluster.
type clusters struct {
	vnfm.ClusterDriver
	api *workloadAPI
}

func (c clusters) Kubeconfig(context.Context, *vnfm.VIM, vnfm.Credentials, vnfm.ClusterRef, vnfm.KubeconfigSpec) (*vnfm.Kubeconfig, error) {
	c.api.mu.Lock()
	defer c.api.mu.Unlock()
	c.api.reads++
	return &vnfm.Kubeconfig{Raw: vnfm.Secret(fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: %s}}]
`, c.api.URL, c.api.known))}, nil
}

// workload is an infra driver whose operation sends two requests, and has something happen in between.
type workload struct {
	vnfm.InfraDriver
	pool    *kube.Pool
	between func()
}

func (workload) Params() vnfm.InfraParams { return vnfm.InfraParams{} }

func (w workload) Apply(ctx context.Context, t *vnfm.Target, _ vnfm.Recorder) error {
	client, err := w.pool.Client(t.VIM.Name, t.VIM.Kubernetes, t.Credentials)
	if err != nil {
		return err
	}
	namespace := kube.Ref{Name: "default", Resource: kube.Resource{
		GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
	}}
	if _, err := client.Get(ctx, namespace); err != nil {
		return err
	}
	w.between()
	_, err = client.Get(ctx, namespace)
	return err
}

// TestKubeconfigIsReadAgain replaces the kubeconfig of a workload cluster while an add-on is installed.
func TestKubeconfigIsReadAgain(t *testing.T) {
	t.Parallel()
	api := newWorkloadAPI(t)
	target := &vnfm.Target{VIM: &vnfm.VIM{Name: "management"}, Instance: &vnfm.Instance{
		ID: "i", VIMID: "m", Namespace: "clusters", Cluster: &vnfm.ClusterSpec{Name: "edge"},
	}}
	install := func(between func()) error {
		d := &addonDriver{
			cfg:       Config{Workload: workload{pool: kube.NewPool("test"), between: between}, Clusters: clusters{api: api}},
			installed: []*addon{{name: "network"}},
		}
		return d.install(t.Context(), target, parts.NewRecorder(nil, nil))
	}
	require.NoError(t, install(func() { api.rotate("token-2", "token-2") }))
	require.Equal(t, 2, api.reads)
	require.Equal(t, 3, api.requests, "one before, one refused, one again")

	err := install(func() { api.rotate("token-3", "token-2") })
	require.ErrorContains(t, err, `add-on "network"`)
	require.ErrorContains(t, err, "the kubeconfig of workload cluster clusters/edge on its management cluster")
	require.ErrorContains(t, err, "they were read again")
	require.NotContains(t, err.Error(), "token-2")
}
