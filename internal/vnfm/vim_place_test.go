package vnfm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVIMPlace(t *testing.T) {
	kubernetes := func(endpoint string) VIMPlace { return VIMPlace{Type: VIMTypeKubernetes, Endpoint: endpoint} }
	cloud := VIMPlace{Type: VIMTypeOpenStack, Endpoint: "https://keystone.example/identity/v3", ProjectID: "p1", ProjectName: "core", Region: "one"}
	with := func(change func(*VIMPlace)) VIMPlace {
		other := cloud
		change(&other)
		return other
	}
	for name, test := range map[string]struct {
		a, b   VIMPlace
		differ bool
	}{
		"the same":                   {kubernetes("https://a.example:6443"), kubernetes("https://a.example:6443"), false},
		"another spelling":           {kubernetes("https://a.example"), kubernetes("HTTPS://A.example:443/"), false},
		"another host":               {kubernetes("https://a.example"), kubernetes("https://b.example"), true},
		"another port":               {kubernetes("https://a.example:6443"), kubernetes("https://a.example:6444"), true},
		"not known yet":              {kubernetes("https://a.example"), kubernetes(""), false},
		"another type":               {kubernetes("https://a.example"), VIMPlace{Type: VIMTypeOpenStack, Endpoint: "https://a.example"}, true},
		"Keystone with a version":    {cloud, with(func(p *VIMPlace) { p.Endpoint = "https://keystone.example/identity" }), false},
		"another region":             {cloud, with(func(p *VIMPlace) { p.Region = "two" }), true},
		"another project":            {cloud, with(func(p *VIMPlace) { p.ProjectID = "p2" }), true},
		"a project that was renamed": {cloud, with(func(p *VIMPlace) { p.ProjectName = "edge" }), false},
		"a project by its name":      {cloud, with(func(p *VIMPlace) { p.ProjectID, p.ProjectName = "", "edge" }), true},
		"a project that is unknown":  {cloud, with(func(p *VIMPlace) { p.ProjectID, p.ProjectName = "", "" }), false},
	} {
		require.Equal(t, test.differ, test.a.Differs(test.b), name)
		require.Equal(t, test.differ, test.b.Differs(test.a), name)
	}
	require.Equal(t, `https://keystone.example/identity/v3 (project "core", region "one")`, cloud.String())
	v := VIM{Type: VIMTypeOpenStack, OpenStack: &OpenStackConnection{AuthURL: "https://keystone.example/identity/v3", ProjectName: "core"}}
	require.Equal(t, VIMPlace{Type: VIMTypeOpenStack, Endpoint: "https://keystone.example/identity/v3", ProjectName: "core"}, v.Place())
	v.Saw(VIMCheck{Endpoint: "https://keystone.example/identity/v3", Cloud: &OpenStackState{ProjectID: "p1", ProjectName: "core", Region: "one"}})
	require.Equal(t, cloud, v.Place())
}
