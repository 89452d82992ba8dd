package workloadcluster

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// listManager lists the instances that a filter selects and keeps the filter.
type listManager struct {
	vnfm.Manager
	instances []vnfm.Instance
	filter    vnfm.InstanceFilter
}

func (m *listManager) Instances(_ context.Context, filter vnfm.InstanceFilter) ([]vnfm.Instance, error) {
	m.filter = filter
	var out []vnfm.Instance
	for i := range m.instances {
		if filter.Selects(&m.instances[i]) {
			out = append(out, m.instances[i])
		}
	}
	return out, nil
}

// TestList: workload clusters alone are listed, and a filter by management cluster leaves out those
// that have only their machines there.
func TestList(t *testing.T) {
	t.Parallel()
	m := &listManager{instances: []vnfm.Instance{
		{ID: "1", VIMID: "management", Namespace: "edges", Name: "edge", Status: vnfm.StatusInstantiated, Cluster: &vnfm.ClusterSpec{KubernetesVersion: "v1.34.0"}},
		{ID: "2", VIMID: "management", Namespace: "edges", Name: "edge"},
		{ID: "3", VIMID: "other", Namespace: "edges", Name: "edge", Status: vnfm.StatusFailedTemp, Cluster: &vnfm.ClusterSpec{
			OpenStack: &vnfm.ClusterOpenStack{VIMID: "management"},
		}},
	}}
	list := func(arguments map[string]string) []listedModel {
		return modeltest.ReadList[listedModel](t, NewListDataSource(), m, arguments, "workload_clusters")
	}
	all := list(nil)
	require.Len(t, all, 2)
	require.Equal(t, listedModel{
		ID: types.StringValue("1"), ManagementVIMID: types.StringValue("management"), Namespace: types.StringValue("edges"), Name: types.StringValue("edge"),
		KubernetesVersion: types.StringValue("1.34.0"), Paused: types.BoolValue(false), Status: types.StringValue("READY"), Generation: types.Int64Value(0),
	}, all[0])
	require.Equal(t, "3", all[1].ID.ValueString())
	require.Equal(t, "FAILED_TEMP", all[1].Status.ValueString())
	require.Equal(t, all[:1], list(map[string]string{"management_vim_id": "management"}))
	require.Empty(t, list(map[string]string{"management_vim_id": "cloud"}))
	list(map[string]string{"management_vim_id": "a", "namespace": "b", "name": "c"})
	require.Equal(t, vnfm.InstanceFilter{Kind: vnfm.WorkloadCluster, VIMID: "a", Namespace: "b", Name: "c"}, m.filter)
}
