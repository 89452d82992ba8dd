package kubernetes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestLabPlanner: credentials that may only read suffice for drift. The dry run sends no write. Kinds without the right to read are
// reported as unread.
func TestLabPlanner(t *testing.T) {
	t.Parallel()
	manifest := func(kind string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: a}\ndata: {a: YQ==}\n"
	}
	l := newLab(t, map[string]string{"a.yaml": manifest("ConfigMap"), "b.yaml": manifest("Secret")}, nil)
	l.apply()
	keys := []string{"v1/ConfigMap a", "v1/Secret a"}
	l.target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(l.env.VIMToken(t, l.namespace, "kubernetes-plan.yaml", "vnf-planner"))}
	l.inSync()
	l.meter.take()
	problems, err := l.driver.DryRun(l.ctx, l.target, keys)
	require.Empty(t, problems)
	require.True(t, vnfm.LacksRightsOnly(err), "%v", err)
	require.ErrorContains(t, err, "may not watch, create, patch, delete configmaps, secrets")
	for _, r := range l.meter.take() {
		require.True(t, strings.HasPrefix(r, "GET ") || strings.HasSuffix(r, "/selfsubjectrulesreviews"), r)
	}

	l.kubectl("delete", "configmap/a", "rolebinding/vnf-planner-secrets")
	l.eventually("the end of the right to Secrets", func() bool {
		seen, err := l.driver.Observe(l.ctx, l.target)
		return err != nil && vnfm.LacksRightsOnly(err) && len(seen.Objects) == 0 && len(seen.Unread) == 1 && seen.Unread[0] == keys[1]
	})
}
