package vim

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// listManager lists VIMs and keeps the filter.
type listManager struct {
	vnfm.Manager
	vims   []vnfm.VIM
	filter vnfm.VIMFilter
}

func (m *listManager) VIMs(_ context.Context, filter vnfm.VIMFilter) ([]vnfm.VIM, error) {
	m.filter = filter
	return m.vims, nil
}

// TestList: filters reach the manager, and what it answers the state.
func TestList(t *testing.T) {
	t.Parallel()
	kubernetes, cloud := vnfm.VIM{ID: "1", Name: "edge", Type: vnfm.VIMTypeKubernetes}, modeltest.Filled[vnfm.VIM]()
	m := &listManager{vims: []vnfm.VIM{kubernetes, cloud}}
	got := modeltest.ReadList[listedModel](t, NewListDataSource(), m, map[string]string{"name": "edge", "type": "kubernetes"}, "vims")
	require.Equal(t, vnfm.VIMFilter{Name: "edge", Type: vnfm.VIMTypeKubernetes}, m.filter)
	require.Equal(t, []listedModel{listedOf(&kubernetes), listedOf(&cloud)}, got)
	require.Equal(t, types.StringValue("edge"), got[0].Name)
	require.False(t, got[0].APIGroups.IsNull())
	require.False(t, got[0].Services.IsNull())

	m = &listManager{}
	require.Empty(t, modeltest.ReadList[listedModel](t, NewListDataSource(), m, nil, "vims"))
	require.Empty(t, m.filter)
}

// TestEveryFieldIsListed: each field of a record but its connection reaches the list.
func TestEveryFieldIsListed(t *testing.T) {
	t.Parallel()
	hidden := []string{"OnUnreachable", "Kubernetes", "OpenStack", "Status", "ClusterUID", "UpdatedAt", "Shared", "Cloud.UserName", "PerRun", "Shared"}
	modeltest.EachField(t, hidden, func(v vnfm.VIM) any { return listedOf(&v) })
}
