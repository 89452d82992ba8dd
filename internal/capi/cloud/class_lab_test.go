package cloud

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/clustertest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The resources that a class derives from the variables of a topology are looked up in the
// OpenStack, and its objects must refer to the Secret of the application credential.
func TestCloudOfATopology(t *testing.T) {
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	namespace := lab.Namespace(t)
	lab.OpenStackClass(t, namespace)
	cloud := stocked(t)
	clients := kube.NewPool("test/1")
	o := &Checker{Clouds: openstack.NewPool("test/1"), Cluster: func(t *vnfm.Target) (*Cluster, error) {
		client, err := clients.Client(t.VIM.Name, t.VIM.Kubernetes, t.Credentials)
		return &Cluster{Client: client, Spec: t.Instance.Cluster, Instance: t.Instance.ID, Namespace: t.Instance.Namespace, Name: t.Instance.Cluster.Name}, err
	}}
	look := func(t *testing.T, endpoint, class string, variables, ofGroup map[string]any) vnfm.Problems {
		t.Helper()
		spec := &vnfm.ClusterSpec{
			Name: "edge", Namespace: namespace, KubernetesVersion: "1.34.0", Topology: &vnfm.ClusterTopology{Class: class, Variables: variables},
			NodeGroups: map[string]vnfm.NodeGroup{"upf": {Class: "worker", Replicas: clustertest.Number(1), Variables: ofGroup}},
			OpenStack:  &vnfm.ClusterOpenStack{VIMID: "cloud", Credential: &vnfm.ClusterCredential{SecretName: "edge-cloud-credentials", CloudName: "openstack"}},
		}
		return o.Check(t.Context(), &vnfm.Target{
			VIM:         &vnfm.VIM{Name: endpoint, Kubernetes: &vnfm.KubernetesConnection{Endpoint: endpoint, CACertificate: lab.ReadFile(t, lab.CAFile)}},
			Credentials: vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(lab.AdminToken)},
			Instance:    &vnfm.Instance{ID: "0815", Namespace: namespace, Cluster: spec},
			Access: func(context.Context, string) (*vnfm.VIM, vnfm.Credentials, error) {
				return &vnfm.VIM{Name: "cloud", OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}},
					vnfm.Credentials{vnfm.CredentialPassword: "devstack"}, nil
			},
		})
	}
	mine := map[string]any{"name": "edge-cloud-credentials"}
	with := func(more map[string]any) map[string]any {
		return vnfm.MergeValues(map[string]any{"credentials": mine, "keypair": "ops", "network": "public"}, more)
	}
	for name, c := range map[string]struct {
		class            string
		variables, group map[string]any
		severity         vnfm.Severity
		want             string
	}{
		"all is there": {variables: with(nil)},
		"Secret of the class": {variables: map[string]any{}, severity: vnfm.SeverityWarning,
			want: `is in the Secret "edge-cloud-credentials", cloud "openstack", and its OpenStackCluster names "of-the-class": give the variable of the class that becomes identityRef its name`},
		"another cloud":            {variables: with(map[string]any{"credentials": map[string]any{"cloudName": "other"}}), severity: vnfm.SeverityWarning, want: `its OpenStackCluster takes the cloud "other" of it`},
		"flavour":                  {variables: with(map[string]any{"flavour": "none"}), severity: vnfm.SeverityWarning, want: `there is no flavor "none"`},
		"small flavour of a group": {variables: with(nil), group: map[string]any{"flavour": "m1.tiny"}, severity: vnfm.SeverityWarning, want: `flavor "m1.tiny" of node group "upf" has 1 vCPU`},
		"key pair":                 {variables: with(map[string]any{"keypair": "lost"}), severity: vnfm.SeverityWarning, want: `there is no key pair "lost"`},
		"network":                  {variables: with(map[string]any{"network": "none"}), severity: vnfm.SeverityWarning, want: `there is no external network "none"`},
		"image by id":              {variables: with(map[string]any{"imageID": "00000000-0000-0000-0000-000000000000"}), severity: vnfm.SeverityError, want: `there is no image with the id 00000000`},
		"no class":                 {class: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.class == "" {
				c.class = "openstack"
			}
			// A management cluster that serves v1beta1 alone has the class in another form.
			for _, endpoint := range []string{lab.Endpoint, lab.Management.OlderEndpoint} {
				problems := look(t, endpoint, c.class, c.variables, c.group)
				if c.want == "" {
					require.Empty(t, problems)
					continue
				}
				require.Len(t, problems, 1)
				assert.Equal(t, c.severity, problems[0].Severity)
				assert.Equal(t, "topology", problems[0].Attribute)
				assert.Contains(t, problems[0].String(), c.want)
			}
		})
	}
}
