package credentials

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// delivery is a request that the server received.
type delivery struct {
	key, authorization, body string
}

// server is a web server with its own CA. The test defines its responses.
type server struct {
	*httptest.Server
	mu  sync.Mutex
	got []delivery
}

func newServer(t *testing.T, answer func(try int, w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, delivery{r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), string(body)})
		try := len(s.got)
		s.mu.Unlock()
		answer(try, w, r)
	}))
	// Some tests provoke failed handshakes, whose log lines are noise.
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func (s *server) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

func accept(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }

// quick is a sender with short pauses.
func quick() *Sender { return &Sender{waitMin: time.Millisecond, waitMax: 5 * time.Millisecond} }

func callTo(s *server) *vnfm.HookCall {
	return &vnfm.HookCall{
		Operation: vnfm.OpInstantiate, End: true, DigestKey: []byte("a key of the test"),
		Instance: &vnfm.Instance{ID: "one", VIMID: "vim", Inventory: []vnfm.InventoryItem{
			{Group: clusterGroup, Version: "v1beta2", Kind: "Cluster", Namespace: "edges", Name: "edge"},
			{Group: clusterGroup, Version: "v1beta2", Kind: "MachineDeployment", Namespace: "edges", Name: "edge-a"},
		}},
		Request: &vnfm.InstanceSpec{Sink: &vnfm.CredentialsSink{
			URL: s.URL + "/clusters?tenant=a", CACertificate: s.ca(), Headers: map[string]vnfm.Secret{"Authorization": "Bearer of-the-sink"},
		}},
		Kubeconfig: kubeconfig("first"),
	}
}

func kubeconfig(text string) func(context.Context, vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
	return func(_ context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error) {
		if ref != (vnfm.ClusterRef{VIMID: "vim", Namespace: "edges", Name: "edge"}) {
			return nil, fmt.Errorf("asked for %+v", ref)
		}
		return &vnfm.Kubeconfig{
			Raw: vnfm.Secret(text), Host: "https://edge.example.org:6443", CACertificate: "the CA",
			NotAfter: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
		}, nil
	}
}

func TestSends(t *testing.T) {
	s := newServer(t, accept)
	call := callTo(s)
	require.NoError(t, quick().Run(t.Context(), call))
	require.Len(t, s.got, 1)
	assert.Equal(t, "Bearer of-the-sink", s.got[0].authorization)
	assert.JSONEq(t, `{"schema_version": 1, "cluster_name": "edge", "namespace": "edges", "endpoint": "https://edge.example.org:6443",
		"ca_certificate": "the CA", "kubeconfig": "first", "not_after": "2027-01-02T03:04:05Z"}`, s.got[0].body)

	record, err := json.Marshal(call.Instance)
	require.NoError(t, err)
	assert.NotContains(t, string(record), "first", "the record holds the kubeconfig")
	assert.NotContains(t, string(record), "of-the-sink", "the record holds a header")

	// A delivered kubeconfig is not sent again; a new one is sent.
	require.NoError(t, quick().Run(t.Context(), call))
	assert.Len(t, s.got, 1)
	call.Kubeconfig = kubeconfig("second")
	call.Operation = vnfm.OpHeal
	require.NoError(t, quick().Run(t.Context(), call))
	require.Len(t, s.got, 2)
	assert.NotEqual(t, s.got[0].key, s.got[1].key)

	// Other hooks send nothing.
	for _, hook := range []vnfm.HookCall{{Operation: vnfm.OpInstantiate}, {Operation: vnfm.OpTerminate, End: true}} {
		call.Operation, call.End, call.Kubeconfig = hook.Operation, hook.End, kubeconfig("third")
		require.NoError(t, quick().Run(t.Context(), call))
	}
	assert.Len(t, s.got, 2)
}

// A process killed between the delivery and its record sends again under the same idempotency key.
func TestSendsAgainUnderTheSameKey(t *testing.T) {
	s := newServer(t, accept)
	require.NoError(t, quick().Run(t.Context(), callTo(s)))
	require.NoError(t, quick().Run(t.Context(), callTo(s)))
	require.Len(t, s.got, 2)
	assert.NotEmpty(t, s.got[0].key)
	assert.Equal(t, s.got[0], s.got[1])
}

func TestTriesAgain(t *testing.T) {
	s := newServer(t, func(try int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader([]int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusNoContent}[try-1])
	})
	call := callTo(s)
	require.NoError(t, quick().Run(t.Context(), call))
	require.Len(t, s.got, 3)
	assert.Equal(t, s.got[0], s.got[2])
	assert.Equal(t, call.Request.Sink.URL, call.Instance.Deliveries["edges/edge"].URL)
}

// Faults of the server, each with the error and the number of requests.
func TestRefused(t *testing.T) {
	status := func(status int) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://elsewhere.example.org/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, r.Header.Get("Authorization"))
		}
	}
	for name, c := range map[string]struct {
		answer func(int, http.ResponseWriter, *http.Request)
		change func(*vnfm.HookCall)
		tries  int
		want   string
	}{
		"always broken": {answer: status(http.StatusBadGateway), tries: 5, want: "the server answered 502 Bad Gateway"},
		"fewer tries":   {answer: status(http.StatusBadGateway), change: func(c *vnfm.HookCall) { c.Request.Sink.Attempts = 2 }, tries: 2, want: "502"},
		"forbidden":     {answer: status(http.StatusForbidden), tries: 1, want: "the server answered 403 Forbidden"},
		"redirect":      {answer: status(http.StatusTemporaryRedirect), tries: 1, want: "redirects are not followed"},
		"wrong CA":      {answer: accept, change: func(c *vnfm.HookCall) { c.Request.Sink.CACertificate = "" }, want: "certificate signed by unknown authority"},
		"no CA":         {answer: accept, change: func(c *vnfm.HookCall) { c.Request.Sink.CACertificate = "none" }, want: "ca_certificate of credentials_sink holds no certificate"},
		"no kubeconfig": {
			answer: accept, want: "workload cluster edges/edge has no kubeconfig yet",
			change: func(c *vnfm.HookCall) {
				c.Kubeconfig = func(context.Context, vnfm.ClusterRef) (*vnfm.Kubeconfig, error) { return nil, &vnfm.NotFoundError{} }
			},
		},
		"no cluster": {answer: accept, change: func(c *vnfm.HookCall) { c.Instance.Inventory = nil }, want: "no Cluster of cluster.x-k8s.io"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, c.answer)
			call := callTo(s)
			if c.change != nil {
				c.change(call)
			}
			err := quick().Run(t.Context(), call)
			require.ErrorContains(t, err, c.want)
			for _, secret := range []string{"of-the-sink", "first", "tenant"} {
				assert.NotContains(t, err.Error(), secret)
			}
			assert.Len(t, s.got, c.tries)
			assert.Empty(t, call.Instance.Deliveries)
		})
	}
}

// A request without an answer in time is retried until ctx ends.
func TestSlow(t *testing.T) {
	s := newServer(t, func(try int, w http.ResponseWriter, r *http.Request) {
		if try == 1 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	call := callTo(s)
	call.Request.Sink.Timeout = 200 * time.Millisecond
	require.NoError(t, quick().Run(t.Context(), call))
	assert.Equal(t, s.got[0].key, s.got[len(s.got)-1].key)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	never := newServer(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	require.ErrorIs(t, quick().Run(ctx, callTo(never)), context.Canceled)
}

func TestCheck(t *testing.T) {
	planned := func(keys ...string) *vnfm.Preview {
		p := &vnfm.Preview{Objects: map[string]string{}}
		for _, key := range keys {
			p.Objects[key] = "sha256:1"
		}
		return p
	}
	found := New().Check(&vnfm.HookCheck{Request: &vnfm.InstanceSpec{}, Planned: planned("cluster.x-k8s.io/v1beta2/Cluster edge")})
	require.Len(t, found, 1)
	assert.Equal(t, "credentials_sink", found[0].Attribute)
	assert.Contains(t, found[0].Detail, vnfm.CredentialsSender)

	sink := &vnfm.CredentialsSink{}
	assert.Empty(t, New().Check(&vnfm.HookCheck{Request: &vnfm.InstanceSpec{Sink: sink}, Planned: planned("cluster.x-k8s.io/v1beta1/Cluster far/edge", "v1/Secret a")}))
	assert.Empty(t, New().Check(&vnfm.HookCheck{Request: &vnfm.InstanceSpec{Sink: sink}, Planned: planned(vnfm.ConnectionKey("east", "cluster.x-k8s.io/v1beta2/Cluster edge"))}))
	assert.Empty(t, New().Check(&vnfm.HookCheck{Request: &vnfm.InstanceSpec{Sink: sink, Cluster: &vnfm.ClusterSpec{}}, Planned: planned()}))

	found = New().Check(&vnfm.HookCheck{Request: &vnfm.InstanceSpec{Sink: sink}, Planned: planned("example.org/v1/Cluster edge", "cluster.x-k8s.io/v1beta2/ClusterClass a")})
	require.Len(t, found, 1)
	assert.Equal(t, "credentials_sink", found[0].Attribute)
	assert.Equal(t, "there are no credentials to send", found[0].Summary)
}
