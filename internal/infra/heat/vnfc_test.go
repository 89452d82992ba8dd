package heat

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	flatTemplate = `heat_template_version: 2013-05-23
resources:
  VDU1: { type: OS::Nova::Server, properties: { flavor: m1, networks: [{ port: { get_resource: VDU1_CP1 } }] } }
  VDU1_CP1: { type: OS::Neutron::Port, properties: { network: net } }
  plain-1: { type: OS::Neutron::Port, properties: { network: net } }
`
	nestingTemplate = `heat_template_version: 2013-05-23
resources:
  VDU1: { type: VDU1.yaml }
  plain-1: { type: OS::Neutron::Port, properties: { network: net } }
`
)

// TestConnectionPoints: a port is the connection point of its name in every form of template, whatever the copies of it are called.
func TestConnectionPoints(t *testing.T) {
	t.Parallel()
	const port, plain = "OS::Neutron::Port", "a1"
	flavour := &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "VDU1", Name: "VDU1", MaxInstances: 3, Compute: &vnfm.Compute{FlavorName: "m1"}, SWImages: []vnfm.SWImage{{ID: "image", Name: "image"}}}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "VDU1_CP1", VDUID: "VDU1"}},
	}
	for form, tt := range map[string]struct {
		files fstest.MapFS
		// at is the name of the port, in the stack of that id.
		at, stack string
	}{
		"flat":       {fstest.MapFS{"BaseHOT/simple/top.yaml": {Data: []byte(flatTemplate)}}, "VDU1_CP1-0", "top"},
		"nested":     {fstest.MapFS{"BaseHOT/simple/top.yaml": {Data: []byte(nestingTemplate)}, "BaseHOT/simple/nested/VDU1.yaml": {Data: []byte(flatTemplate)}}, "VDU1_CP1", "nested"},
		"translated": {fstest.MapFS{}, "VDU1_CP1", "nested"},
	} {
		source, problems := hot.Load(budget.New(t.Context(), budget.Limits{}), &vnfm.Package{Content: tt.files}, flavour)
		require.NoError(t, problems.Err(), form)
		require.Equal(t, form == "translated", source.Translated, form)
		l := &live{stack: &openstack.Stack{ID: "top"}}
		text := `[{"resource_name": "` + tt.at + `", "resource_type": "` + port + `", "physical_resource_id": "p1",
			"links": [{"rel": "stack", "href": "https://heat/v1/t/stacks/x/` + tt.stack + `"}]},
			{"resource_name": "plain-1", "resource_type": "` + port + `", "physical_resource_id": "` + plain + `", "links": [{"rel": "stack", "href": "https://heat/v1/t/stacks/x/top"}]}]`
		require.NoError(t, json.Unmarshal([]byte(text), &l.resources))
		got := l.connectionPoints(map[string]*openstack.Port{"p1": {ID: "p1", Device: "s1"}, plain: {ID: plain, Device: "s1"}}, source)
		require.Equal(t, map[string]map[string][]string{"s1": {"VDU1_CP1": {}, "plain-1": {}}}, got, form)
	}
}
