package instance_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// event is what the API server says of one change of an object.
type event struct {
	Type   string `json:"type"`
	Object struct {
		Metadata struct {
			Name                       string `json:"name"`
			UID                        string `json:"uid"`
			ResourceVersion            string `json:"resourceVersion"`
			DeletionGracePeriodSeconds *int64 `json:"deletionGracePeriodSeconds"`
		} `json:"metadata"`
		Spec struct {
			Replicas *int64 `json:"replicas"`
		} `json:"spec"`
	} `json:"object"`
}

// watch records every change of the objects of a collection, given as the path
// below the namespace's, from now on. The function that it returns waits for the
// event that last accepts and returns all events up to it.
func (env *testEnv) watch(t *testing.T, api, resource string) (upTo func(last func(event) bool) []event) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(env.lab.ReadFile(t, env.lab.CAFile)))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	get := func(query url.Values) *http.Response {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, env.lab.Endpoint+"/"+api+"/namespaces/"+env.namespace+"/"+resource+"?"+query.Encode(), nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+env.lab.AdminToken)
		resp, err := client.Do(req)
		require.NoError(t, err)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("watching %s: %s", resource, resp.Status)
		}
		return resp
	}
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	listed := get(url.Values{"limit": {"1"}})
	err := json.NewDecoder(listed.Body).Decode(&list)
	_ = listed.Body.Close()
	require.NoError(t, err)
	stream := get(url.Values{"watch": {"1"}, "resourceVersion": {list.Metadata.ResourceVersion}}) //nolint:bodyclose // the returned function closes it
	return func(last func(event) bool) []event {
		t.Helper()
		defer cancel()
		defer func() { _ = stream.Body.Close() }()
		var events []event
		for decoder := json.NewDecoder(stream.Body); ; {
			var e event
			if err := decoder.Decode(&e); err != nil {
				t.Fatalf("watching %s: %v after %d events", resource, err, len(events))
			}
			events = append(events, e)
			if last(e) {
				return events
			}
		}
	}
}

// uid returns the UID of an object, given as kubectl takes it.
func (env *testEnv) uid(object string) string {
	env.Helper()
	kind, name, _ := strings.Cut(object, "/")
	return env.kubectl("get", kind, name, "-o", "jsonpath={.metadata.uid}")
}
