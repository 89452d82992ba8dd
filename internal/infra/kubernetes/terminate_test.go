package kubernetes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestOpenToFind: the package is rendered if the inventory may not contain all objects.
func TestOpenToFind(t *testing.T) {
	t.Parallel()
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	manifests := targettest.Manifests(map[string]string{"c.yaml": text}, nil)
	chart := targettest.Chart(map[string]string{"Chart.yaml": "apiVersion: v2\nname: core\nversion: 1.0.0\n", "templates/c.yaml": text}, nil)
	recorded := []vnfm.InventoryItem{{Version: "v1", Kind: "ConfigMap", Name: "c"}}
	for name, tc := range map[string]struct {
		target    *vnfm.Target
		inventory []vnfm.InventoryItem
		want      bool
	}{
		"manifests, no inventory": {manifests, nil, true},
		"manifests":               {manifests, recorded, false},
		"chart":                   {chart, recorded, true},
	} {
		target, instance := *tc.target, *tc.target.Instance
		instance.Inventory = tc.inventory
		target.Instance = &instance
		target.VIM = &vnfm.VIM{Name: "lab", Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{Endpoint: "https://198.51.100.1"}}
		target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: "token"}
		s, err := New(kube.NewPool("test")).openToFind(t.Context(), &target, nil)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, s.rendering != nil, name)
	}
}
