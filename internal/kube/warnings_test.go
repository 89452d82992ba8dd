package kube

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestWarnings: the warnings in the API server's answers to writes are collected once, with their
// objects and without the data of Secrets.
func TestWarnings(t *testing.T) {
	t.Parallel()
	ctx, warnings := WithWarnings(t.Context())
	header := func(texts ...string) http.Header {
		out := http.Header{}
		for _, text := range texts {
			out.Add("Warning", `299 - "`+text+`"`)
		}
		return out
	}
	policy := header("would violate PodSecurity")
	noteWarnings(ctx, &request{method: http.MethodPatch, object: "Deployment core/b"}, policy)
	noteWarnings(ctx, &request{method: http.MethodPatch, object: "Deployment core/a"}, policy)
	noteWarnings(ctx, &request{method: http.MethodPatch, object: "Deployment core/a"}, policy)
	noteWarnings(ctx, &request{method: http.MethodGet, object: "Deployment core/c"}, policy)
	noteWarnings(ctx, &request{method: http.MethodDelete, object: "Endpoints core/f"}, header("v1 Endpoints is deprecated"))
	noteWarnings(ctx, &request{method: http.MethodPost, object: "Secret core/s", sensitive: &redactor{vnfm.NewMask("example-only")}}, header("odd value example-only"))
	noteWarnings(ctx, &request{method: http.MethodPatch, object: "Deployment core/d"}, http.Header{})
	noteWarnings(t.Context(), &request{method: http.MethodPatch, object: "Deployment core/e"}, policy)
	lines := warnings.Lines()
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "Secret core/s: odd value ")
	require.NotContains(t, lines[0], "example-only")
	require.Equal(t, "Deployment core/a and 1 more: would violate PodSecurity", lines[1])
}
