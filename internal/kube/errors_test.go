package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestFieldConflicts(t *testing.T) {
	t.Parallel()
	cause := func(message, field string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: message, Field: field}
	}
	for _, tc := range []struct {
		name   string
		status metav1.Status
		want   []FieldConflict
	}{
		{"one", metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			cause(`conflict with "kubectl" using apps/v1`, ".spec.replicas")}}}, []FieldConflict{{"kubectl", ".spec.replicas"}}},
		{"subresource and time", metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			cause(`conflict with "kube-controller-manager" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z`, ".spec.replicas")}}}, []FieldConflict{{"kube-controller-manager", ".spec.replicas"}}},
		{"quotes", metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			cause(`conflict with "a \"b\"" using v1`, `.data.k\.v`)}}}, []FieldConflict{{`a "b"`, `.data.k\.v`}}},
		{"another text", metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
			cause(`conflict`, ".data")}}}, []FieldConflict{{"unknown", ".data"}}},
		{"resource version", metav1.Status{Reason: metav1.StatusReasonConflict, Message: "the object has been modified", Details: &metav1.StatusDetails{}}, nil},
		{"other reason", metav1.Status{Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{cause(`conflict with "x"`, ".a")}}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, fieldConflicts(&tc.status))
		})
	}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	secret := Resource{GVK: gvk("v1", "Secret")}
	red := secretRedactor(secret, map[string]any{
		"data":       map[string]any{"a": "aHVudGVyMg==", "n": 12345},
		"stringData": map[string]any{"b": "correct horse"},
	})
	for _, msg := range []string{
		`data[a]: Invalid value: "hunter2": must be`,
		`data: Invalid value: {"a":"x y z"}: no`,
		`Invalid value: "never seen \" before": no`,
		`.data.n: expected string, got &value.valueUnstructured{Value:12345}`,
		`.data.n: expected string, got &value.valueUnstructured{Value:99999}`,
		`illegal base64 in aHVudGVyMg==`,
		`got correct horse`,
	} {
		got := red.text(msg)
		for _, leak := range []string{"hunter2", "12345", "99999", "aHVudGVyMg", "correct horse", "never seen", "before\"", `"x`} {
			assert.NotContains(t, got, leak, "%q became", msg)
		}
		assert.Contains(t, got, redacted, "%q became", msg)
	}
	require.Nil(t, secretRedactor(Resource{GVK: gvk("v1", "ConfigMap")}, nil))
	assert.Nil(t, secretRedactor(Resource{GVK: gvk("example.org/v1", "Secret")}, nil), "only Secrets of the core group are cleaned")
}

// scripted is a server that returns a list of answers in turn, for faults that a real API server
// cannot be made to show.
func scripted(t *testing.T, answers ...func(http.ResponseWriter)) (*Client, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answers[min(int(n.Add(1)), len(answers))-1](w)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{VIM: "edge", Connection: vnfm.KubernetesConnection{Endpoint: server.URL}, Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: "planted-secret"}})
	require.NoError(t, err)
	c.retry = retryPolicy{base: time.Millisecond, limit: 5 * time.Millisecond, window: 5 * time.Second, propagationWindow: time.Second, attempts: 3, attemptTimeout: 5 * time.Second}
	return c, &n
}

func answer(code int, reason, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
}

func configMap(w http.ResponseWriter) {
	_, _ = fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}}`)
}

func TestRetries(t *testing.T) {
	t.Parallel()
	abort := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	soon := func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "1")
		answer(429, "TooManyRequests", "later")(w)
	}
	internal := answer(500, "InternalError", "failed calling webhook")
	for _, tc := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		// requests is the number of requests sent; want is empty for success.
		requests int64
		want     string
	}{
		{"at once", []func(http.ResponseWriter){configMap}, 1, ""},
		{"unavailable for long", []func(http.ResponseWriter){answer(503, "", "x"), answer(503, "", "x"), answer(503, "", "x"), answer(503, "", "x"), configMap}, 5, ""},
		{"leader change", []func(http.ResponseWriter){answer(500, "", "etcdserver: leader changed"), configMap}, 2, ""},
		{"connection lost", []func(http.ResponseWriter){abort, abort, configMap}, 3, ""},
		{"come back later", []func(http.ResponseWriter){soon, configMap}, 2, ""},
		{"internal error", []func(http.ResponseWriter){internal}, 3, "failed calling webhook"},
		{"internal error that passes", []func(http.ResponseWriter){internal, configMap}, 2, ""},
		{"concurrent change", []func(http.ResponseWriter){answer(409, "Conflict", "the object has been modified"), configMap}, 2, ""},
		{"kind that is not served yet", []func(http.ResponseWriter){answer(404, "NotFound", "the server could not find the requested resource"), configMap}, 2, ""},
		{"account that is not made yet", []func(http.ResponseWriter){answer(403, "Forbidden", `pods "a" is forbidden: error looking up service account n/default: serviceaccount "default" not found`), configMap}, 2, ""},
		{"refused", []func(http.ResponseWriter){answer(403, "Forbidden", "configmaps is forbidden")}, 1, "applying ConfigMap n/a: configmaps is forbidden"},
		{"invalid", []func(http.ResponseWriter){answer(422, "Invalid", "no")}, 1, "no"},
		{"not JSON", []func(http.ResponseWriter){func(w http.ResponseWriter) { http.Error(w, "<html>go away", http.StatusTeapot) }}, 1, "418 I'm a teapot: <html>go away"},
		{"redirect", []func(http.ResponseWriter){func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(302)
		}}, 1, "redirects"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, n := scripted(t, tc.answers...)
			ref := Ref{Resource: Resource{GVK: gvk("v1", "ConfigMap"), GVR: gvk("v1", "").GroupVersion().WithResource("configmaps"), Namespaced: true}, Namespace: "n", Name: "a"}
			_, err := c.Apply(t.Context(), ref, manifest(ref, nil), ApplyOptions{})
			assert.Equal(t, tc.requests, n.Load())
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && err == nil:
				t.Error("no error")
			case tc.want != "":
				mustSay(t, err, tc.want)
			}
		})
	}
}

func TestCredentialsRefusedLater(t *testing.T) {
	t.Parallel()
	c, n := scripted(t, configMap, answer(401, "Unauthorized", "Unauthorized"))
	ref := Ref{Resource: podResource, Namespace: "n", Name: "a"}
	if _, err := c.Get(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	_, err := c.Get(t.Context(), ref)
	var refused *CredentialsError
	if !errors.As(err, &refused) || !apierrors.IsUnauthorized(err) || n.Load() != 2 {
		t.Fatalf("got %v after %d requests", err, n.Load())
	}
	mustSay(t, err, "reading Pod n/a", `VIM "edge"`, "rotate them in its vnf_vim resource and apply again; credentials that expire during a run belong in token_file or exec")
}

func TestTail(t *testing.T) {
	t.Parallel()
	got := forError.tail(strings.Repeat("x\n", 30))
	assert.Equal(t, forError.lines, strings.Count(got, "x"), "%q", got)
	if got := forError.tail(strings.Repeat("é", 5000) + "end\n"); len(got) > forError.bytes || !strings.HasSuffix(got, "end") || !strings.HasPrefix(got, "...") {
		t.Errorf("%d bytes: %.10q", len(got), got)
	}
}

func TestTooOld(t *testing.T) {
	t.Parallel()
	for version, want := range map[[2]string]bool{{"1", "24"}: true, {"1", "25"}: false, {"1", "24+"}: true, {"1", "36"}: false, {"2", "0"}: false, {"0", "30"}: true, {"", ""}: false} {
		assert.Equal(t, want, tooOld(version[0], version[1]), "%v", version)
	}
}
