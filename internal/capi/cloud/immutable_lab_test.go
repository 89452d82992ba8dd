package cloud

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/capi/forms"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A change that the webhook of the infrastructure provider rejects is an error of the plan that names
// the field. Accepted changes are not. The error of the real webhook names only "spec".
func TestFixedFields(t *testing.T) {
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	client, err := kube.NewPool("test/1").Client("lab", &vnfm.KubernetesConnection{Endpoint: lab.Endpoint, CACertificate: lab.ReadFile(t, lab.CAFile)}, vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(lab.AdminToken)})
	require.NoError(t, err)
	namespace := lab.Namespace(t)
	rendered := func(values map[string]any) *vnfm.Package {
		spec := clustertest.OpenStack(values)
		spec.Namespace = namespace
		return packageOf(t, spec)
	}
	base := map[string]any{"apiServer": map[string]any{"loadBalancerProvider": "amphora"}}
	text, err := fs.ReadFile(rendered(base).Content, forms.ManifestFile)
	require.NoError(t, err)
	objects, err := forms.Decode(string(text))
	require.NoError(t, err)
	for _, o := range objects {
		if o["kind"] != "OpenStackCluster" && o["kind"] != "OpenStackMachineTemplate" {
			continue
		}
		one, err := forms.Encode([]map[string]any{o})
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "one.yaml")
		require.NoError(t, os.WriteFile(file, one, 0o600))
		lab.Kubectl(t, "apply", "--server-side", "--field-manager", kube.FieldManager, "--namespace", namespace, "--filename", file)
	}
	c := &Cluster{Client: client, Spec: clustertest.OpenStack(nil), Instance: "0815", Namespace: namespace, Name: "edge"}
	api := func(values map[string]any) map[string]any {
		return map[string]any{"apiServer": vnfm.MergeValues(map[string]any{"loadBalancerProvider": "amphora"}, values)}
	}
	for name, want := range map[string]struct {
		values  map[string]any
		problem string
	}{
		"nothing":       {base, ""},
		"allowed CIDRs": {api(map[string]any{"allowedCIDRs": []any{"10.0.0.0/8"}}), ""},
		"credentials":   {vnfm.MergeValues(base, map[string]any{"cloudCredentialsSecretName": "another"}), ""},
		"name servers":  {vnfm.MergeValues(base, map[string]any{"clusterNetworking": map[string]any{"dnsNameservers": []any{"9.9.9.9"}}}), ""},
		"a machine":     {vnfm.MergeValues(base, map[string]any{"machineSSHKeyName": "ops"}), ""},
		"provider":      {api(map[string]any{"loadBalancerProvider": "ovn"}), `spec.apiServerLoadBalancer.provider is "amphora" and would be "ovn"`},
		"no longer set": {map[string]any{}, `spec.apiServerLoadBalancer.provider is "amphora" and would be not set`},
		"a boolean":     {api(map[string]any{"associateFloatingIP": false}), `spec.disableAPIServerFloatingIP is false and would be true`},
		"the network": {
			vnfm.MergeValues(base, map[string]any{"clusterNetworking": map[string]any{"internalNetwork": map[string]any{"nodeCidr": "10.1.0.0/24"}}}),
			`spec.managedSubnets is [map[cidr:192.168.3.0/24]] and would be [map[cidr:10.1.0.0/24]]`,
		},
		"external network": {vnfm.MergeValues(base, map[string]any{"clusterNetworking": map[string]any{"externalNetworkId": "public"}}), `spec.externalNetwork is not set and would be map[filter:map[name:public]]`},
	} {
		t.Run(name, func(t *testing.T) {
			problems := c.ImmutableChanges(t.Context(), &vnfm.Target{Package: rendered(want.values)})
			if want.problem == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Equal(t, "chart.values", problems[0].Attribute)
			assert.Contains(t, problems[0].String(), "does not let OpenStackCluster "+namespace+"/edge be changed: "+want.problem)
			assert.Empty(t, c.ImmutableChanges(t.Context(), &vnfm.Target{Package: rendered(want.values), ReplaceObjects: []string{"infrastructure.cluster.x-k8s.io/v1beta1/OpenStackCluster edge"}}))
		})
	}
}
