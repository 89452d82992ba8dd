package heat

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// mixed is an instance of a server and of pods that a chart or a manifest makes elsewhere.
func mixed(p *vnfm.Package, container vnfm.VDU) *vnfm.Target {
	image := []vnfm.SWImage{{Name: "cirros"}}
	return &vnfm.Target{
		Instance: &vnfm.Instance{ID: "i", Name: "fw", OperationalState: vnfm.Started, AdditionalParams: map[string]any{"colour": "red"}},
		Package:  p, DigestKey: []byte("key"), Counts: map[string]int{"VDU1": 1, container.ID: 2},
		Flavour: &vnfm.Flavour{
			ID: "simple", VDUs: []vnfm.VDU{{ID: "VDU1", Name: "VDU1", SWImages: image, MaxInstances: 2}, container},
			ConnectionPoints: []vnfm.ConnectionPoint{{ID: "CP1", VDUID: "VDU1", VirtualLinkID: "inside"}, {ID: "CP2", VDUID: container.ID, VirtualLinkID: "pods"}},
			VirtualLinks:     []vnfm.VirtualLink{{ID: "inside"}, {ID: "pods"}},
			SecurityGroupRules: []vnfm.SecurityGroupRule{
				{ID: "guard", Protocol: "tcp", PortMax: 80, Targets: []string{"CP1", "CP2"}}, {ID: "pods_guard", Protocol: "tcp", PortMax: 80, Targets: []string{"CP2"}},
			},
			AffinityRules: []vnfm.AffinityRule{{ID: "apart", Anti: true, Scope: "nfvi_node", Targets: []string{container.ID}}},
		},
		Part: &vnfm.Part{Rest: true, VDUIDs: []string{container.ID}, Alone: true, Foreign: []string{container.ID}},
	}
}

// VDUs of manifests and charts on other VIMs are no business of Heat, nor is what is for them alone.
func TestVDUsElsewhere(t *testing.T) {
	for name, container := range map[string]vnfm.VDU{
		"described": {ID: "probe", Name: "probe", Type: "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit", Workload: &vnfm.Workload{}},
		"chart":     {ID: "probe", Name: "probe", Type: "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"},
		"manifest":  {ID: "probe", Name: "probe", Type: "tosca.nodes.nfv.Vdu.Compute"},
	} {
		t.Run(name, func(t *testing.T) {
			target := mixed(&vnfm.Package{}, container)
			delete(target.Instance.AdditionalParams, "colour")
			r, ps := render(budget.New(t.Context(), budget.Limits{}), target)
			require.Empty(t, ps)
			resources, ok := r.stack.Template["resources"].(map[string]any)
			require.True(t, ok)
			require.Equal(t, []string{"VDU1-0", "guard", "inside"}, slices.Sorted(maps.Keys(resources)))
			require.Equal(t, []string{"VDU1"}, slices.Sorted(maps.Keys(r.preview(target).VDUs)))

			templated := mixed(templated(withColour), container)
			r, ps = render(budget.New(t.Context(), budget.Limits{}), templated)
			require.Empty(t, ps)
			require.Equal(t, "red", r.stack.Parameters["colour"])
			require.Equal(t, []string{"VDU1"}, slices.Sorted(maps.Keys(r.preview(templated).VDUs)))
		})
	}
}

// TestContainersOnOpenStack: the error about containers on an OpenStack VIM names the argument that places them.
func TestContainersOnOpenStack(t *testing.T) {
	target := mixed(&vnfm.Package{}, vnfm.VDU{ID: "probe", Type: "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"})
	target.Part = nil
	_, ps := (&Driver{}).Preview(t.Context(), target)
	require.Len(t, ps, 1)
	require.Equal(t, vnfm.AttributeConnections, ps[0].Attribute)
	require.Equal(t, `VDU "probe" consists of containers, which OpenStack cannot run: place it on a Kubernetes VIM: `+
		`vim_connections = { <name> = { vim_id = <id>, vdu_ids = ["probe"] } }`, ps[0].String())
}

// A VIM that nothing belongs on any more has no stack.
func TestPreviewOfNothing(t *testing.T) {
	target := mixed(&vnfm.Package{}, vnfm.VDU{ID: "probe"})
	target.Part = &vnfm.Part{}
	preview, ps := (&Driver{}).Preview(t.Context(), target)
	require.Empty(t, ps)
	require.Empty(t, preview.Objects)
}

// The template of the example of servers and pods has a port with the address that is given, and the parameter that the template declares.
func TestExampleOfServersAndPods(t *testing.T) {
	p := &vnfm.Package{
		Content: os.DirFS("../../../examples/packages/watched-firewall"), Files: []vnfm.PackageFile{{Path: "BaseHOT/simple/watched-firewall.yaml"}},
	}
	target := mixed(p, vnfm.VDU{ID: "watcher", Name: "watcher", Type: "tosca.nodes.nfv.Vdu.OsContainerDeployableUnit"})
	target.Counts["FW"] = 1
	target.Flavour.VDUs[0].ID, target.Flavour.VDUs[0].Name = "FW", "FW"
	target.Flavour.ConnectionPoints = []vnfm.ConnectionPoint{{ID: "FW_CP1", VDUID: "FW", External: true}}
	target.Instance.AdditionalParams = map[string]any{"collector": "198.51.100.5:30514", "helm_parameters": map[string]any{}}
	target.Instance.Links.External = map[string]vnfm.ExtVirtualLink{"outside": {
		ResourceID: "net", ExtCPs: map[string]vnfm.ExtCP{"FW_CP1": {IPAddresses: []vnfm.IPAddress{{FixedAddresses: []string{"192.0.2.10"}}}}},
	}}
	r, ps := render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	require.Equal(t, "198.51.100.5:30514", r.stack.Parameters["collector"])
	require.NotContains(t, r.stack.Parameters, "helm_parameters")
	nfv, ok := r.stack.Parameters["nfv"].(map[string]any)
	require.True(t, ok)
	require.Contains(t, fmt.Sprint(nfv["CP"]), "192.0.2.10")
}
