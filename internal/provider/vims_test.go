package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// TestVIMsConfiguration: every fault of an entry of vims is one diagnostic that names it, and none
// repeats a secret.
func TestVIMsConfiguration(t *testing.T) {
	for _, variable := range []string{"OS_CLOUD", "OS_AUTH_URL", "OS_PASSWORD", "OS_USERNAME", "OS_PROJECT_NAME", "OS_CACERT"} {
		t.Setenv(variable, "")
	}
	t.Setenv("OS_CLIENT_CONFIG_FILE", "/no/such/clouds.yaml")
	kubernetes := object{"endpoint": "https://192.0.2.1:6443", "bearer_token": plantedSecret}
	cloud := object{"auth_url": "https://192.0.2.1:5000/v3", "username": "u", "password": plantedSecret, "project_name": "p"}
	for name, test := range map[string]struct {
		vims any
		// want are the beginnings of the diagnostics, sorted.
		want []string
	}{
		"Kubernetes":         {object{"edge": object{"kubernetes": kubernetes}}, nil},
		"OpenStack":          {object{"cloud": object{"openstack": cloud}}, nil},
		"unknown token":      {object{"edge": object{"kubernetes": object{"endpoint": "https://192.0.2.1:6443", "bearer_token": tftypes.UnknownValue}}}, nil},
		"none":               {object{"edge": object{}}, []string{`vims.edge: No Connection: Set kubernetes or openstack`}},
		"both":               {object{"edge": object{"kubernetes": kubernetes, "openstack": cloud}}, []string{`vims.edge: Two Connections: The entry "edge" of vims has kubernetes and openstack`}},
		"no way":             {object{"edge": object{"kubernetes": object{"endpoint": "https://192.0.2.1:6443"}}}, []string{`: Unusable Connection to a VIM: vims["edge"].kubernetes.bearer_token: no credentials are given`}},
		"two ways":           {object{"edge": object{"kubernetes": object{"endpoint": "https://192.0.2.1:6443", "bearer_token": plantedSecret, "token_file": "/t"}}}, []string{`: Unusable Connection to a VIM: vims["edge"].kubernetes.token_file: several ways`}},
		"no project":         {object{"cloud": object{"openstack": object{"auth_url": "https://192.0.2.1:5000/v3", "username": "u", "password": plantedSecret}}}, []string{`: Unusable Connection to a VIM: vims["cloud"].openstack.project_name: no project`}},
		"empty environment":  {object{"cloud": object{"openstack": object{"from_environment": true}}}, []string{`: Unusable Connection to a VIM: vims["cloud"].openstack: from_environment is true, but neither`}},
		"no clouds.yaml":     {object{"cloud": object{"openstack": object{"cloud": "edge"}}}, []string{`: Unusable Connection to a VIM: vims["cloud"].openstack: looking for cloud "edge": there is no clouds.yaml at /no/such/clouds.yaml`}},
		"an empty attribute": {object{"edge": object{"kubernetes": object{"endpoint": "", "bearer_token": plantedSecret}}}, []string{`: Unusable Connection to a VIM: vims["edge"].kubernetes.endpoint: no endpoint`, `vims.edge.kubernetes.endpoint: Invalid Attribute Value Length`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := providerDiagnostics(t, object{"vims": test.vims})
			for i, line := range got {
				if strings.Contains(line, plantedSecret) {
					t.Errorf("a diagnostic holds a secret: %s", line)
				}
				if i < len(test.want) && strings.HasPrefix(line, test.want[i]) {
					got[i] = test.want[i]
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}
