package instance

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const kindVIM = "6a1f0d2e-6f0e-4a51-8f43-0c1e6b1a2b3c"

// kindManager has a network function, whose VNFCs cannot be read, and a workload cluster.
type kindManager struct {
	vnfm.Manager
	filter vnfm.InstanceFilter
}

func (*kindManager) instances() []vnfm.Instance {
	return []vnfm.Instance{
		{ID: "cluster", VIMID: kindVIM, Name: "edge", Namespace: "edges", Cluster: &vnfm.ClusterSpec{}},
		{ID: "function", VIMID: kindVIM, Name: "core", Namespace: "edges"},
	}
}

func (m *kindManager) Instances(_ context.Context, filter vnfm.InstanceFilter) ([]vnfm.Instance, error) {
	m.filter = filter
	var out []vnfm.Instance
	for _, i := range m.instances() {
		if filter.Selects(&i) {
			out = append(out, i)
		}
	}
	return out, nil
}

func (m *kindManager) Instance(_ context.Context, id string) (*vnfm.Instance, error) {
	for _, i := range m.instances() {
		if i.ID == id {
			return &i, nil
		}
	}
	return nil, &vnfm.NotFoundError{Kind: "VNF instance", ID: id}
}

func (*kindManager) Resources(_ context.Context, id string) (*vnfm.ResourceInfo, error) {
	if id == "function" {
		return nil, errors.New("the VIM does not answer")
	}
	return &vnfm.ResourceInfo{}, nil
}

// TestNetworkFunctionsAlone: the data sources find no workload cluster, and an instance whose VNFCs
// cannot be read is listed with a warning.
func TestNetworkFunctionsAlone(t *testing.T) {
	t.Parallel()
	m := &kindManager{}
	state, diags := modeltest.ReadDataSource(t, NewListDataSource(), m, map[string]string{"vim_id": kindVIM, "namespace": "edges"})
	require.Equal(t, vnfm.InstanceFilter{Kind: vnfm.NetworkFunction, VIMID: kindVIM, Namespace: "edges"}, m.filter)
	require.Len(t, diags, 1)
	require.Equal(t, diag.SeverityWarning, diags[0].Severity())
	require.Contains(t, diags[0].Summary(), `"core"`)
	var views []view
	require.Empty(t, state.GetAttribute(t.Context(), path.Root("instances"), &views))
	require.Len(t, views, 1)
	require.Equal(t, "function", views[0].ID.ValueString())
	require.NotNil(t, views[0].VNFCs)
	require.False(t, views[0].VirtualLinks.IsNull())

	_, diags = modeltest.ReadDataSource(t, NewDataSource(), m, map[string]string{"id": "cluster"})
	require.Len(t, diags, 1)
	require.Equal(t, "Not a VNF Instance", diags[0].Summary())
	require.Contains(t, diags[0].Detail(), "vnf_capi_workload_cluster")
}

// namedManager has instances of one name on two VIMs.
type namedManager struct{ vnfm.Manager }

func (namedManager) instances() []vnfm.Instance {
	return []vnfm.Instance{
		{ID: "a", VIMID: "kubernetes", Namespace: "north", Name: "core"},
		{ID: "b", VIMID: "kubernetes", Namespace: "south", Name: "core"},
		{ID: "c", VIMID: "kubernetes", Namespace: "north", Name: "edge"},
		{ID: "d", VIMID: "openstack", Name: "core"},
		{ID: "e", VIMID: "other", Name: "core", Connections: map[string]vnfm.Connection{"x": {VIMID: "openstack"}}},
	}
}

func (m namedManager) Instances(_ context.Context, filter vnfm.InstanceFilter) ([]vnfm.Instance, error) {
	return slices.DeleteFunc(m.instances(), func(i vnfm.Instance) bool { return !filter.Selects(&i) }), nil
}

// TestFindByName: the namespace is needed only where the name is not unique on the VIM.
func TestFindByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ vim, namespace, name, id, problem string }{
		{"kubernetes", "south", "core", "b", ""},
		{"kubernetes", "", "edge", "c", ""},
		{"openstack", "", "core", "d", ""},
		{"kubernetes", "", "core", "", `VIM "kubernetes" has 2 VNF instances of the name "core", in the namespaces "north", "south": set namespace`},
		{"openstack", "", "edge", "", `VNF instance "openstack/edge" is not in the store`},
	} {
		found, err := find(t.Context(), namedManager{}, view{
			VIMID: types.StringValue(c.vim), Namespace: tfutil.OptionalString(c.namespace), Name: types.StringValue(c.name),
		})
		if c.problem != "" {
			require.EqualError(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.id, found.ID)
	}
}
