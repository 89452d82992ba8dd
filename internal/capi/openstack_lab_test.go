package capi

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Cluster API and CAPO know every object of the chart, and drop no field.
func TestOpenStackObjectsAreAccepted(t *testing.T) {
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	namespace := lab.Namespace(t)
	flatcar := clustertest.Everything()
	flatcar["osDistro"], flatcar["additionalPackages"], flatcar["etcd"] = "flatcar", nil, map[string]any{}
	endpoint := map[string]any{
		"controlPlaneEndpoint": map[string]any{"host": "10.0.0.9", "port": 6443}, "apiServer": map[string]any{"enableLoadBalancer": false, "associateFloatingIP": false},
		"clusterNetworking": map[string]any{"disableExternalNetwork": true}, "authWebhook": "k8s-keystone-auth", "autoscaler": map[string]any{"enabled": true},
	}
	for name, spec := range map[string]*vnfm.ClusterSpec{
		"least": clustertest.OpenStack(nil), "everything": clustertest.OpenStack(clustertest.Everything()), "flatcar": clustertest.OpenStack(flatcar), "places": clustertest.Placed(clustertest.OpenStack(nil)),
		"endpoint": clustertest.OpenStack(endpoint),
	} {
		t.Run(name, func(t *testing.T) {
			spec.Namespace = namespace
			p, problems := New(nil, nil).Package(spec)
			require.Empty(t, problems)
			text, err := fs.ReadFile(p.Content, p.KubernetesFiles[0])
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), forms.ManifestFile)
			require.NoError(t, os.WriteFile(file, text, 0o600))
			_, err = lab.TryKubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace", namespace, "--filename", file)
			if name == "flatcar" {
				// The fields are known, and the feature is off in the lab as it is by default.
				require.ErrorContains(t, err, "feature gate is enabled")
				require.NotRegexp(t, `unknown field|Required value|Unsupported value|Invalid value`, err.Error())
				return
			}
			require.NoError(t, err)
		})
	}
}

// The example package of a workload cluster on OpenStack has no other fields either.
func TestOpenStackPackageIsAccepted(t *testing.T) {
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	namespace := lab.Namespace(t)
	files, err := filepath.Glob("../../examples/packages/workload-cluster-openstack/Files/kubernetes/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files {
		_, err := lab.TryKubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "--validate=strict", "--namespace", namespace, "--filename", file)
		require.NoError(t, err, file)
	}
}
