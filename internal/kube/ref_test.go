package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestNamesThatAreNoSegments sends nothing for names that a proxy would turn into the path
// of a collection.
func TestNamesThatAreNoSegments(t *testing.T) {
	t.Parallel()
	pods := Resource{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, GVR: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Namespaced: true}
	for _, ref := range []Ref{
		{Resource: pods, Namespace: "core", Name: "."},
		{Resource: pods, Namespace: "core", Name: ".."},
		{Resource: pods, Namespace: "core", Name: "a/.."},
		{Resource: pods, Namespace: "..", Name: "amf"},
		{Resource: pods, Namespace: ".", Name: "amf"},
	} {
		c, sent := scripted(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) })
		_, err := c.Get(t.Context(), ref)
		if err == nil || !strings.Contains(err.Error(), "nothing was sent") || errors.As(err, new(*vnfm.UnreachableError)) || sent.Load() != 0 {
			t.Errorf("%s: %v, %d requests", ref, err, sent.Load())
		}
		_, err = ref.path("log")
		require.Error(t, err, "%s has a path", ref)
	}
	c, sent := scripted(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) })
	if _, err := c.do(t.Context(), request{doing: "deleting", object: "the pods", method: http.MethodDelete, path: pods.collectionPath("..")}); err == nil || sent.Load() != 0 {
		t.Errorf("a collection in the namespace \"..\": %v, %d requests", err, sent.Load())
	}
}
