package kubernetes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabLookup reads the objects that a chart looks up, like Helm, even for a preview without an open VIM. It reports forbidden lookups.
func TestLabLookup(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, nil)
	l.kubectl("create", "configmap", "zone", "--from-literal", "zone=a")
	wanted := []helm.Lookup{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: l.namespace, Name: "zone"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: l.namespace, Name: "none"},
		{APIVersion: "v1", Kind: "Secret", Namespace: l.namespace},
		{APIVersion: "v1", Kind: "Namespace", Namespace: "ignored", Name: l.namespace},
		{APIVersion: "example.com/v1", Kind: "Plan", Namespace: l.namespace, Name: "a"},
	}
	preview := *l.target
	instance := *l.target.Instance
	instance.VIMID = "vim"
	preview.VIM, preview.Credentials, preview.Instance = nil, nil, &instance
	preview.Access = func(_ context.Context, id string) (*vnfm.VIM, vnfm.Credentials, error) {
		require.Equal(t, "vim", id)
		return l.target.VIM, l.target.Credentials, nil
	}
	for _, target := range []*vnfm.Target{l.target, &preview} {
		found, err := l.driver.lookup(l.ctx, target, wanted)
		require.NoError(t, err)
		for i := range found {
			require.NoError(t, found[i].Err, wanted[i])
		}
		require.Contains(t, string(found[0].Object), `"data":{"zone":"a"}`)
		require.NotContains(t, string(found[0].Object), "managedFields")
		require.Empty(t, found[1].Object)
		require.JSONEq(t, `{"apiVersion":"v1","kind":"SecretList","metadata":{},"items":[]}`, string(found[2].Object))
		require.Contains(t, string(found[3].Object), `"kind":"Namespace"`)
		require.Empty(t, found[4].Object)
	}

	preview.Access = nil
	_, err := l.driver.lookup(l.ctx, &preview, wanted)
	require.ErrorContains(t, err, "the VIM is not known yet")
	l.target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(l.env.VIMToken(t, l.namespace, "kubernetes-plan.yaml", "vnf-planner"))}
	found, err := l.driver.lookup(l.ctx, l.target, []helm.Lookup{{APIVersion: "v1", Kind: "Secret", Namespace: "kube-system", Name: "a"}})
	require.NoError(t, err)
	require.ErrorContains(t, found[0].Err, "forbidden")
}
