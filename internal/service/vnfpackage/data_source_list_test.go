package vnfpackage

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// listManager lists packages and keeps the filter.
type listManager struct {
	vnfm.Manager
	packages []vnfm.Package
	filter   vnfm.PackageFilter
}

func (m *listManager) Packages(_ context.Context, filter vnfm.PackageFilter) ([]vnfm.Package, error) {
	m.filter = filter
	return m.packages, nil
}

// TestList: filters reach the manager, and what it answers the state.
func TestList(t *testing.T) {
	t.Parallel()
	bare, full := vnfm.Package{ID: "hello@sha256:00", Name: "hello"}, modeltest.Filled[vnfm.Package]()
	m := &listManager{packages: []vnfm.Package{bare, full}}
	got := modeltest.ReadList[listedModel](t, NewListDataSource(), m, map[string]string{"name": "hello", "vnfd_id": "1"}, "packages")
	require.Equal(t, vnfm.PackageFilter{Name: "hello", VNFDID: "1"}, m.filter)
	require.Equal(t, []listedModel{listedOf(&bare), listedOf(&full)}, got)
	require.Equal(t, bare.ID, got[0].ID.ValueString())
	require.False(t, got[0].Superseded.ValueBool())
	require.True(t, got[1].Superseded.ValueBool())
	require.Equal(t, full.Name, got[1].Name.ValueString())
	require.False(t, got[1].OnboardedAt.IsNull())
	for name, null := range map[string]bool{
		"vnfm_info": got[0].VNFMInfo.IsNull(), "flavours": got[0].Flavours.IsNull(), "artifacts": got[0].Artifacts.IsNull(),
	} {
		require.False(t, null, name)
	}

	m = &listManager{}
	require.Empty(t, modeltest.ReadList[listedModel](t, NewListDataSource(), m, nil, "packages"))
	require.Empty(t, m.filter)
}
