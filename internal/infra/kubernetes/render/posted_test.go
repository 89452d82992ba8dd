package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestRequests: only a Binding needs a name. Digests mark reviews as posted. The digest of a token is keyed, and the token is masked.
func TestRequests(t *testing.T) {
	const reviews = `apiVersion: authorization.k8s.io/v1
kind: SelfSubjectAccessReview
spec: {resourceAttributes: {verb: get, resource: pods}}
---
apiVersion: authorization.k8s.io/v1
kind: SelfSubjectAccessReview
metadata: {namespace: default}
spec: {resourceAttributes: {verb: list, resource: pods}}
---
apiVersion: authorization.k8s.io/v1
kind: LocalSubjectAccessReview
metadata: {name: mine, namespace: far}
spec: {user: a, resourceAttributes: {namespace: far, verb: get, resource: pods}}
---
apiVersion: authentication.k8s.io/v1
kind: TokenReview
spec: {token: planted}
`
	target := targettest.Manifests(map[string]string{"a.yaml": reviews}, nil)
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	for _, key := range []string{
		"authorization.k8s.io/v1/SelfSubjectAccessReview selfsubjectaccessreview-1",
		"authorization.k8s.io/v1/SelfSubjectAccessReview default/selfsubjectaccessreview-2",
		"authorization.k8s.io/v1/LocalSubjectAccessReview far/mine",
		"authentication.k8s.io/v1/TokenReview tokenreview-1",
	} {
		digest := r.digests()[key]
		assert.True(t, strings.HasPrefix(digest, vnfm.Posted+"sha256:"), "%s is shown as %q", key, digest)
	}
	rendering, _ := new(Renderings).YAML(t.Context(), target)
	require.NotContains(t, rendering.Contents["authentication.k8s.io/v1/TokenReview tokenreview-1"], "planted")
	target.Instance.AdditionalParams = map[string]any{"namespace": "near"}
	r, _ = Render(budget.New(t.Context(), budget.Limits{}), target)
	for _, o := range r.Objects {
		if o.GVK.Kind == "LocalSubjectAccessReview" {
			require.Equal(t, "near", o.Field("spec", "resourceAttributes", "namespace"), "that of the review")
		}
	}
	target.Instance.AdditionalParams = nil
	target.DigestKey = nil
	r, _ = Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, r.digests()["authentication.k8s.io/v1/TokenReview tokenreview-1"])

	_, ps = new(Renderings).Preview(t.Context(), targettest.Manifests(map[string]string{"a.yaml": "apiVersion: v1\nkind: Binding\ntarget: {kind: Node, name: a}\n"}, nil))
	require.ErrorContains(t, ps.Err(), "metadata.name is missing")
}
