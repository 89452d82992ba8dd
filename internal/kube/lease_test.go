package kube

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// leaseServer keeps one Lease and has a clock of its own.
type leaseServer struct {
	ahead time.Duration
	// meanwhile is called after a Lease was created, in the role of another process.
	meanwhile func(*coordinationv1.Lease)

	mu       sync.Mutex
	lease    *coordinationv1.Lease
	requests []string
}

func (s *leaseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method)
	w.Header().Set("Date", time.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	refuse := func(code int, reason metav1.StatusReason) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusFailure, Reason: reason, Code: int32(code)}) //nolint:gosec // a status
	}
	sent := &coordinationv1.Lease{}
	_ = json.NewDecoder(r.Body).Decode(sent)
	switch {
	case r.Method == http.MethodPost && s.lease != nil:
		refuse(http.StatusConflict, metav1.StatusReasonAlreadyExists)
		return
	case r.Method == http.MethodPut && s.lease.ResourceVersion != sent.ResourceVersion:
		refuse(http.StatusConflict, metav1.StatusReasonConflict)
		return
	case r.Method == http.MethodPost:
		sent.ResourceVersion, s.lease = "1", sent
		_ = json.NewEncoder(w).Encode(sent)
		if s.meanwhile != nil {
			s.meanwhile(s.lease)
		}
		return
	case r.Method == http.MethodPut:
		sent.ResourceVersion, s.lease = "2", sent
	}
	_ = json.NewEncoder(w).Encode(s.lease)
}

// TestLeaseOfAnUnknownClock: a Lease is created before the clock of the API server is known. If the
// clocks differ, it is written again before the acquisition returns. A process that takes it in
// between keeps it.
func TestLeaseOfAnUnknownClock(t *testing.T) {
	t.Parallel()
	other := "somebody else" + leaseMark + "1"
	for name, tc := range map[string]struct {
		server   *leaseServer
		requests []string
		busy     bool
	}{
		"same clock":  {&leaseServer{}, []string{"POST"}, false},
		"other clock": {&leaseServer{ahead: time.Hour}, []string{"POST", "PUT"}, false},
		"taken over": {&leaseServer{ahead: time.Hour, meanwhile: func(l *coordinationv1.Lease) {
			now := metav1.NewMicroTime(time.Now().Add(time.Hour))
			l.ResourceVersion, l.Spec.HolderIdentity, l.Spec.RenewTime = "9", &other, &now
		}}, []string{"POST", "PUT", "POST", "GET"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tc.server)
			t.Cleanup(server.Close)
			c, err := New(Config{VIM: "a", Connection: vnfm.KubernetesConnection{Endpoint: server.URL}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "a"}})
			require.NoError(t, err)
			release, _, err := c.AcquireLease(t.Context(), "core", "vnf-a", "a process", nil)
			require.Equal(t, tc.requests, tc.server.requests)
			if tc.busy {
				require.ErrorAs(t, err, new(*vnfm.BusyError))
				return
			}
			require.NoError(t, err)
			require.WithinDuration(t, time.Now().Add(tc.server.ahead), tc.server.lease.Spec.RenewTime.Time, leaseMargin)
			require.NoError(t, release(t.Context()))
		})
	}
}
