package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// quick has leases that tests can wait for.
func quick() timing {
	t := defaultTiming()
	t.lease, t.renew = 3*time.Second, time.Second
	return t
}

// site is a place for a store, valid in other processes too.
type site struct {
	Endpoint  string `json:"endpoint"`
	CA        string `json:"ca"`
	Token     string `json:"token"`
	Namespace string `json:"namespace"`
}

func (l site) address(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(l)
	must(t, err)
	return string(text)
}

func siteOf(address string) (l site, err error) {
	err = json.Unmarshal([]byte(address), &l)
	return l, err
}

func (l site) client() (*kube.Client, error) {
	return kube.New(kube.Config{
		Peer: vnfm.Peer{Name: "the cluster of the store", Settings: "store.kubernetes"}, UserAgent: "terraform-provider-vnf/test",
		Connection:  vnfm.KubernetesConnection{Endpoint: l.Endpoint, CACertificate: l.CA},
		Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(l.Token)},
	})
}

func (l site) open(ctx context.Context, t timing) (*kubeStore, error) {
	client, err := l.client()
	if err != nil {
		return nil, err
	}
	return open(ctx, client, l.Namespace, "test", t)
}

// handle opens a handle and closes it at the end of the test.
func (l site) handle(t *testing.T, timing timing) *kubeStore {
	t.Helper()
	s, err := l.open(t.Context(), timing)
	must(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.Close(), "closing a handle")
	})
	return s
}

// adminSite is a fresh namespace of the lab, with all rights.
func adminSite(t *testing.T, env labtest.Env) site {
	t.Helper()
	return site{Endpoint: env.Endpoint, CA: env.ReadFile(t, env.CAFile), Token: env.AdminToken, Namespace: env.Namespace(t)}
}

// roleSite is a fresh namespace with the rights of the example, for one of its accounts.
func roleSite(t *testing.T, env labtest.Env, account string) site {
	t.Helper()
	l := adminSite(t, env)
	l.Token = env.StoreToken(t, l.Namespace, account)
	client, err := l.client()
	must(t, err)
	// The server learns of rights a moment after they were given.
	ref := kube.Ref{Resource: secretResource, Namespace: l.Namespace, Name: "none"}
	for {
		_, err := client.GetMetadata(t.Context(), ref)
		if missing(err, ref) {
			return l
		}
		if !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		must(t, poll.Sleep(t.Context(), 20*time.Millisecond))
	}
}

// ask sends a request with all rights.
func ask(t *testing.T, env labtest.Env, method, path, body string, into any) {
	t.Helper()
	res, err := env.Server(t).Request(t.Context(), method, path, body, nil)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	must(t, err)
	require.Less(t, res.StatusCode, http.StatusMultipleChoices, "%s %s", method, path)
	if into != nil {
		must(t, json.Unmarshal(answer, into))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	require.NoError(t, err)
}

// gateway is the API server behind something that tests control: whatever a store sends to it
// is counted, stopped or cut.
type gateway struct {
	site
	t *testing.T

	mu sync.Mutex
	// seen are the requests, "GET secrets", "PUT leases" and so on.
	seen []string
	// see is called with each request before it is sent on; false cuts it off. answered is
	// called before the answer is sent back.
	see, answered func(r *http.Request) bool
}

func newGateway(t *testing.T, l site) *gateway {
	t.Helper()
	g := &gateway{site: l, t: t}
	target, err := url.Parse(l.Endpoint)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(l.CA))
	forward := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(forward.CloseIdleConnections)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !g.pass(r) {
			panic(http.ErrAbortHandler)
		}
		// A request that has got this far arrives, whatever becomes of its sender.
		out := r.Clone(context.WithoutCancel(r.Context()))
		out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = target.Scheme, target.Host, target.Host, ""
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		res, err := forward.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		answer, err := io.ReadAll(res.Body)
		g.mu.Lock()
		answered := g.answered
		g.mu.Unlock()
		if err != nil || answered != nil && !answered(r) {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.WriteHeader(res.StatusCode)
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	g.Endpoint, g.CA = server.URL, ""
	return g
}

func (g *gateway) pass(r *http.Request) bool {
	parts := strings.Split(strings.Split(r.URL.Path, "/namespaces/")[1], "/")
	what := r.Method + " namespaces"
	if len(parts) > 1 {
		what = r.Method + " " + parts[1]
		if r.Method == http.MethodGet && len(parts) == 2 {
			what = "LIST " + parts[1]
		}
	}
	g.mu.Lock()
	g.seen = append(g.seen, what)
	see := g.see
	g.mu.Unlock()
	return see == nil || see(r)
}

// on sets what is called with requests and before answers.
func (g *gateway) on(see, answered func(r *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.see, g.answered = see, answered
}

// take returns the requests since the last call.
func (g *gateway) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.seen
	g.seen = nil
	return seen
}

// stopAt stops the next request with a method, for objects whose names begin like that, until
// the returned function is called. stopped is closed when it is there.
func (g *gateway) stopAt(method, name string) (stopped <-chan struct{}, goOn func()) {
	at, on := make(chan struct{}), make(chan struct{})
	var once sync.Once
	g.on(func(r *http.Request) bool {
		if r.Method == method && strings.Contains(r.URL.Path+"/", "/"+name) {
			once.Do(func() {
				close(at)
				<-on
			})
		}
		return true
	}, nil)
	return at, sync.OnceFunc(func() { close(on) })
}

// kill leaves a handle as a process that was killed leaves it: nothing is renewed and nothing
// is given back.
func kill(s *kubeStore) {
	for _, l := range s.leases.All() {
		l.Stop()
		acquisitions.Delete(l.mark)
		s.leases.Remove(l)
	}
	_ = s.Close()
}

func sample(id string) store.Record {
	return store.Record{
		Kind: store.KindInstance, ID: id, Key: "vim/" + id, Owner: "vim-1",
		Data: fmt.Appendf(nil, `{"name": %q}`, id), Sealed: []byte{0, 1, 2, 0xff},
	}
}
