package vim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestEveryArgumentIsRead: each argument reaches the specification of the VIM.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	for kind, secrets := range map[string][]tfutil.Secret{"kubernetes": attrs.KubernetesSecrets(), "openstack": attrs.OpenStackSecrets()} {
		for _, writeOnly := range []bool{false, true} {
			set := map[string]any{"kubernetes": nil, "openstack": nil, "created_at": "2026-01-02T03:04:05Z"}
			delete(set, kind)
			ignored := []string{
				"id", "type", "created_at", "status", "endpoint", "server_version", "api_groups", "user_id", "project_id", "project_name", "region", "services", "timeouts",
			}
			for _, s := range secrets {
				name := kind + "." + s.Name
				ignored = append(ignored, name+tfutil.WriteOnlyVersionSuffix)
				if writeOnly {
					ignored = append(ignored, name)
				} else {
					set[name+tfutil.WriteOnlySuffix] = nil
				}
			}
			modeltest.EachArgument(t, modeltest.Full(t, NewResource(), set), ignored, func(m *resourceModel, diags *diag.Diagnostics) any {
				spec, more := m.spec(t.Context())
				diags.Append(more...)
				return spec
			})
		}
	}
}

// TestRecordRoundTrip: a connection goes from a record through the models of resource
// and data source into a specification unchanged.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	kubernetes, cloud := modeltest.Filled[vnfm.KubernetesConnection](), modeltest.Filled[vnfm.OpenStackConnection]()
	// These are in no record.
	kubernetes.KubeconfigPath, kubernetes.InCluster, kubernetes.PerRun, cloud.PerRun = "", false, false, false
	for name, v := range map[string]vnfm.VIM{"kubernetes": {Kubernetes: &kubernetes}, "openstack": {OpenStack: &cloud}} {
		v.Name, v.Description = "edge", "at the edge"
		m := resourceModel{commonModel: commonModel{Kubernetes: types.ObjectNull(kubernetesTypes()), OpenStack: types.ObjectNull(openstackTypes())}}
		require.Empty(t, m.fromVIM(t.Context(), &v))
		spec, diags := m.spec(t.Context())
		require.Empty(t, diags)
		if diff := cmp.Diff(vnfm.VIMSpec{
			Name: v.Name, Description: v.Description, Type: spec.Type, Kubernetes: v.Kubernetes, OpenStack: v.OpenStack, Credentials: vnfm.Credentials{},
		}, spec); diff != "" {
			t.Errorf("%s (-record +specification):\n%s", name, diff)
		}
	}
}

// TestEveryFieldIsShown: each field of a record reaches resource and data source.
func TestEveryFieldIsShown(t *testing.T) {
	t.Parallel()
	hidden := []string{"OnUnreachable", "ClusterUID", "UpdatedAt", "Shared", "Cloud.UserName", "Kubernetes.KubeconfigPath", "Kubernetes.InCluster", "PerRun", "Kubernetes.PerRun", "OpenStack.PerRun"}
	modeltest.EachField(t, hidden, func(v vnfm.VIM) any {
		m := resourceModel{commonModel: commonModel{Kubernetes: types.ObjectNull(kubernetesTypes()), OpenStack: types.ObjectNull(openstackTypes())}}
		require.Empty(t, m.fromVIM(t.Context(), &v))
		return m.commonModel
	})
	modeltest.EachField(t, hidden, func(v vnfm.VIM) any {
		var m commonModel
		require.Empty(t, m.fromRecord(t.Context(), &v))
		return m
	})
}
