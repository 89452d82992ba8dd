package kube

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestWaitFromKnown: a wait for known objects sends no LIST and ignores events older than their
// known states. A kind of a dotted group is listed.
func TestWaitFromKnown(t *testing.T) {
	t.Parallel()
	job := func(version, complete string) map[string]any {
		return map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a", "namespace": "core", "resourceVersion": version},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": complete}}},
		}
	}
	for group, lists := range map[string]int32{"batch": 0, "batch.example.org": 1} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			var listed, watched, ended atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Query().Get("watch") == "" {
					listed.Add(1)
					ended.Store(1)
					_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"resourceVersion": "11"}, "items": []any{job("11", "True")}})
					return
				}
				watched.Add(1)
				event := func(version, complete string) {
					_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": job(version, complete)})
					_ = http.NewResponseController(w).Flush()
				}
				// The object was ready before the write.
				event("9", "True")
				event("12", "False")
				select {
				case <-time.After(300 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
				ended.Store(1)
				event("13", "True")
				<-r.Context().Done()
			}))
			t.Cleanup(server.Close)
			c, err := New(Config{VIM: "a", Connection: vnfm.KubernetesConnection{Endpoint: server.URL}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "a"}})
			require.NoError(t, err)
			gv := schema.GroupVersion{Group: group, Version: "v1"}
			r := Resource{GVK: gv.WithKind("Job"), GVR: gv.WithResource("jobs"), Namespaced: true}
			known := Known{Object: &unstructured.Unstructured{Object: job("10", "False")}, Listed: "8"}
			require.NoError(t, c.WaitReady(t.Context(), []Ref{{Resource: r, Namespace: "core", Name: "a"}}, WaitOptions{Known: map[int]Known{0: known}}))
			require.Equal(t, []int32{lists, 1}, []int32{listed.Load(), ended.Load()})
			if lists == 0 {
				require.Equal(t, int32(1), watched.Load(), "watches")
			}
		})
	}
}

// TestWaitGoneFromKnown: a wait for the deletion of listed objects watches from the version of the
// list, and ignores the earlier deletion of an object of the same name.
func TestWaitGoneFromKnown(t *testing.T) {
	t.Parallel()
	pod := func(version string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a-0", "namespace": "core", "resourceVersion": version}}
	}
	var ended atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("watch") == "" || q.Get("resourceVersion") != "8" || r.Header.Get("Accept") != metadataObject+","+jsonType {
			t.Errorf("%s was sent, with Accept %s", r.URL, r.Header.Get("Accept"))
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		event := func(kind, version string) {
			_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": pod(version)})
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("Content-Type", "application/json")
		event("DELETED", "9")
		event("ADDED", "10")
		select {
		case <-time.After(300 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		ended.Store(1)
		event("DELETED", "13")
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{VIM: "a", Connection: vnfm.KubernetesConnection{Endpoint: server.URL}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "a"}})
	require.NoError(t, err)
	known := Known{Object: &unstructured.Unstructured{Object: pod("10")}, Listed: "8"}
	require.NoError(t, c.WaitGone(t.Context(), []Ref{{Resource: podResource, Namespace: "core", Name: "a-0"}}, WaitOptions{Known: map[int]Known{0: known}}))
	require.Equal(t, int32(1), ended.Load())
}
