package multivim

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// mixed is the flavour of a VNF of servers, whose containers a chart has.
func mixed() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "FW"}, {ID: "watcher"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "FW_CP", VDUID: "FW", VirtualLinkID: "inside"}, {ID: "pod_CP", VDUID: "watcher", VirtualLinkID: "pods"}, {ID: "ext"}},
		VirtualLinks:     []vnfm.VirtualLink{{ID: "inside"}, {ID: "pods"}},
	}
}

// on drives an instance whose own VIM is one driver's, with VIM connections to others.
func on(t *testing.T, own *single, connections map[string]vnfm.Connection, further map[string]*single) (*multiVIMDriver, *vnfm.Target) {
	t.Helper()
	target := &vnfm.Target{Package: &vnfm.Package{}, Flavour: mixed(), Instance: &vnfm.Instance{
		Connections: connections,
		Links: vnfm.Links{
			External: map[string]vnfm.ExtVirtualLink{"out": {ResourceID: "n", ExtCPs: map[string]vnfm.ExtCP{"FW_CP": {}, "ext": {}}}},
			Managed:  map[string]string{"inside": "m"},
		},
	}}
	d, err := New(t.Context(), own, target, func(_ context.Context, id string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error) {
		return further[id], &vnfm.VIM{ID: id}, nil, nil
	})
	require.NoError(t, err)
	m, ok := d.(*multiVIMDriver)
	require.True(t, ok)
	return m, target
}

func kinds() (servers, containers *single, order *[]string) {
	order = &[]string{}
	return &single{kind: "servers", links: true, order: order}, &single{kind: "containers", namespaceParam: "namespace", manifests: true, order: order}, order
}

// The only VIM of a kind has all that the package has for its kind, and is told what is elsewhere; networks go to servers alone.
func TestPartsOfKinds(t *testing.T) {
	for name, own := range map[string]string{"servers at home": "servers", "containers at home": "containers"} {
		t.Run(name, func(t *testing.T) {
			servers, containers, _ := kinds()
			home, other, vdu := servers, containers, "watcher"
			if own == "containers" {
				home, other, vdu = containers, servers, "FW"
			}
			m, target := on(t, home, map[string]vnfm.Connection{"far": {VIMID: "2", VDUIDs: []string{vdu}}}, map[string]*single{"2": other})
			require.NoError(t, m.Apply(t.Context(), target, &inventory{}))
			for _, side := range []struct {
				driver *single
				gone   string
				links  vnfm.Links
			}{{servers, "watcher", target.Instance.Links}, {containers, "FW", vnfm.Links{}}} {
				want := &vnfm.Part{Rest: true, VDUIDs: []string{side.gone}, Alone: true, Foreign: []string{side.gone}}
				require.Equal(t, want, side.driver.target.Part, "the part of %s", side.driver.kind)
				require.Equal(t, side.links, side.driver.target.Instance.Links, "the links of %s", side.driver.kind)
			}
		})
	}
}

// A VIM connection that was taken out of the configuration is no second VIM of its kind, and has nothing.
func TestPartThatLeaves(t *testing.T) {
	servers, containers, order := kinds()
	left := &single{kind: "containers", order: order}
	m, target := on(t, servers, map[string]vnfm.Connection{"new": {VIMID: "2", VDUIDs: []string{"watcher"}}, "old": {VIMID: "3"}}, map[string]*single{"2": containers, "3": left})
	require.NoError(t, m.Apply(t.Context(), target, &inventory{}))
	require.True(t, containers.target.Part.Alone)
	require.True(t, left.target.Part.Empty())
	require.False(t, left.target.Part.Has("watcher"))
}

// The own VIM, where the instance is found, is the last to go, and stays as long as another one has something.
func TestTerminationInTurn(t *testing.T) {
	servers, containers, order := kinds()
	connections := map[string]vnfm.Connection{"far": {VIMID: "2", VDUIDs: []string{"watcher"}}}
	containers.err = errors.New("a finalizer")
	m, target := on(t, servers, connections, map[string]*single{"2": containers})
	target.Instance.Inventory = []vnfm.InventoryItem{{Key: "stack"}, {Key: "pods", Connection: "far"}}
	var kept inventory
	require.EqualError(t, m.Terminate(t.Context(), target, vnfm.TerminateSpec{}, &kept), `VIM connection "far": a finalizer`)
	require.Equal(t, []string{"containers"}, *order)
	require.Equal(t, []vnfm.InventoryItem{{Key: "stack"}}, kept.items)
	containers.err = nil
	require.NoError(t, m.Terminate(t.Context(), target, vnfm.TerminateSpec{}, &kept))
	require.Equal(t, []string{"containers", "containers", "servers"}, *order)
	require.Empty(t, kept.items)
}

// A heal leaves a further VIM alone that has nothing of what is healed.
func TestHealOfOneKind(t *testing.T) {
	for name, tt := range map[string]struct {
		heal vnfm.HealSpec
		far  bool
	}{
		"VDU at home":     {vnfm.HealSpec{VDUIDs: []string{"FW"}}, false},
		"VDU elsewhere":   {vnfm.HealSpec{VDUIDs: []string{"watcher"}}, true},
		"VNFC at home":    {vnfm.HealSpec{VNFCIDs: []string{"FW-1"}}, false},
		"VNFC elsewhere":  {vnfm.HealSpec{VNFCIDs: []string{"watcher-1"}}, true},
		"entire instance": {vnfm.HealSpec{}, true},
	} {
		servers, containers, _ := kinds()
		m, target := on(t, servers, map[string]vnfm.Connection{"far": {VIMID: "2", VDUIDs: []string{"watcher"}}}, map[string]*single{"2": containers})
		require.NoError(t, m.Heal(t.Context(), target, tt.heal, &inventory{}), name)
		require.NotNil(t, servers.target, name)
		require.Equal(t, tt.far, containers.target != nil, name)
	}
}

// What a kind of VIM cannot have is reported with the argument that gives it.
func TestCheckKinds(t *testing.T) {
	servers, containers, _ := kinds()
	d := Drivers{Own: containers, Further: map[string]vnfm.InfraDriver{"cloud": servers}}
	spec := vnfm.InstanceSpec{
		Connections: map[string]vnfm.Connection{"cloud": {VIMID: "2", Namespace: "a", VDUIDs: []string{"FW"}, Manifests: []string{"a.yaml"}}},
		Links: vnfm.Links{
			External: map[string]vnfm.ExtVirtualLink{"out": {ExtCPs: map[string]vnfm.ExtCP{"FW_CP": {}, "pod_CP": {}, "ext": {}}}},
			Managed:  map[string]string{"inside": "m", "pods": "p"},
		},
	}
	var got []string
	for _, p := range CheckKinds(d, mixed(), spec) {
		got = append(got, fmt.Sprintf("%s[%s].%s %s", p.Attribute, p.Key, p.Field, p))
	}
	want := []string{
		`vim_connections[cloud].namespace the VIM of VIM connection "cloud" has no namespaces: remove the argument: the part is in the project of the VIM`,
		`vim_connections[cloud].manifests manifests cannot be placed on the VIM of VIM connection "cloud": servers applies none; remove the argument, and place the manifests on a Kubernetes VIM`,
		`ext_virtual_links[out]. connection point "pod_CP" is of VDU "watcher", which containers connects to no network that is given: ` +
			`pods are connected to further networks by network attachments of the package; remove it from ext_cps`,
		`ext_managed_virtual_links[pods]. virtual link "pods" connects only VDUs on VIMs without networks that can be given: ` +
			`pods are connected to further networks by network attachments of the package; remove it`,
	}
	require.Equal(t, want, got)
	// Without a VIM that takes networks, the driver says so itself.
	require.Empty(t, CheckKinds(Drivers{Own: containers}, mixed(), vnfm.InstanceSpec{Links: spec.Links}))
}

// Of two clusters beside servers none has the rest: what is of no VDU has to be named.
func TestObjectsOnNoVIM(t *testing.T) {
	servers, one, _ := kinds()
	two := &single{kind: "containers"}
	objects := func(own string) func(*vnfm.Target) map[string]string {
		return func(t *vnfm.Target) map[string]string {
			if t.Part.Rest {
				return map[string]string{"Deployment a": "", "Deployment b": "", "Role r": ""}
			}
			return map[string]string{own: ""}
		}
	}
	one.objects, two.objects = objects("Deployment a"), objects("Deployment b")
	connections := map[string]vnfm.Connection{"a": {VIMID: "2", VDUIDs: []string{"watcher"}}, "b": {VIMID: "3", VDUIDs: []string{"FW"}}}
	m, target := on(t, servers, connections, map[string]*single{"2": one, "3": two})
	_, problems := m.Preview(t.Context(), target)
	require.Len(t, problems, 1)
	require.Equal(t, `objects of the package are on no VIM: "Role r": of several VIMs of a kind none has what is not named; `+
		"give their files in manifests of one of the VIM connections", problems[0].String())
	two.objects = func(*vnfm.Target) map[string]string { return map[string]string{"Deployment b": "", "Role r": ""} }
	preview, problems := m.Preview(t.Context(), target)
	require.Empty(t, problems)
	require.Len(t, preview.Objects, 3)
}
