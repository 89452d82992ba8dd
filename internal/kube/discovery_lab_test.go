package kube

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// plainJSON makes a server answer without aggregated discovery.
type plainJSON struct{ next http.RoundTripper }

func (p plainJSON) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", jsonType)
	return p.next.RoundTrip(r)
}

func TestResourceWithoutAggregatedDiscovery(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	c := labClient(t, env)
	want := lookUp(t, c, "apps/v1", "StatefulSet")
	groups, err := c.GroupVersions(t.Context())
	require.NoError(t, err)
	c = labClient(t, env)
	c.http.Transport = plainJSON{c.http.Transport}
	got := lookUp(t, c, "apps/v1", "StatefulSet")
	if got.GVR != want.GVR || got.GVK != want.GVK || got.Namespaced != want.Namespaced || got.Scale != want.Scale || len(got.Verbs) != len(want.Verbs) {
		t.Errorf("%+v, want %+v", got, want)
	}
	_, err = c.Resource(t.Context(), gvk("apps/v1", "StatefullSet"))
	assert.True(t, isUnknownKind(err), "got %v", err)
	// Groups of custom resources, whose names have dots, come and go with other tests.
	groups = slices.DeleteFunc(groups, func(version string) bool { return strings.Contains(version, ".") })
	plain, err := c.GroupVersions(t.Context())
	require.NoError(t, err)
	assert.Subset(t, plain, groups)
	if r, err := c.Kind(t.Context(), schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}); err != nil || r.GVK.Version != "v2" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWaitReadyWithoutRights(t *testing.T) {
	t.Parallel()
	env := labtest.Kubernetes(t)
	cfg := labConfig(t, env)
	cfg.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(env.LimitedToken)}
	c := newClient(t, cfg)
	ref := reference(t, c, "apps/v1", "Deployment", env.LimitedNamespace, "amf")
	e := notReady(t, c.WaitReady(within(t, 60*time.Second), []Ref{ref}, WaitOptions{}))
	assert.True(t, apierrors.IsForbidden(e), "%v", e.Err)
	mustSay(t, e, "cannot list resource", "deployments")
}
