package lcm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// declaring is an infra driver that declares the packages that it supports; with rest those without manifests and charts.
type declaring struct {
	vnfm.InfraDriver
	supports, rest bool
}

func (declaring) Params() vnfm.InfraParams { return vnfm.InfraParams{} }

func (d declaring) Supports(p *vnfm.Package, f *vnfm.Flavour) bool {
	return d.supports || d.rest && !p.HasContainers(f)
}

// The drivers decide on which VIMs a package can be instantiated; Kubernetes is the default.
func TestTypesOfAPackage(t *testing.T) {
	for _, tt := range []struct {
		kubernetes, openstack bool
		want                  []vnfm.VIMType
	}{
		{true, true, []vnfm.VIMType{vnfm.VIMTypeKubernetes, vnfm.VIMTypeOpenStack}},
		{false, true, []vnfm.VIMType{vnfm.VIMTypeOpenStack}},
		{true, false, []vnfm.VIMType{vnfm.VIMTypeKubernetes}},
		{false, false, []vnfm.VIMType{vnfm.VIMTypeKubernetes}},
	} {
		e := New(Config{Drivers: map[vnfm.VIMType]vnfm.InfraDriver{
			vnfm.VIMTypeKubernetes: declaring{supports: tt.kubernetes}, vnfm.VIMTypeOpenStack: declaring{supports: tt.openstack},
		}})
		require.Equal(t, tt.want, e.typesFor(&resolution{pkg: &vnfm.Package{}, flavour: &vnfm.Flavour{}}, false), "Kubernetes %t, OpenStack %t", tt.kubernetes, tt.openstack)
	}
}

// With VIM connections, what a package has besides manifests and charts may be for another type.
func TestTypesOfAPackageOnSeveralVIMs(t *testing.T) {
	e := New(Config{Drivers: map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeKubernetes: declaring{supports: true}, vnfm.VIMTypeOpenStack: declaring{rest: true}}})
	r := &resolution{pkg: &vnfm.Package{KubernetesFiles: []string{"a.yaml"}}, flavour: &vnfm.Flavour{MCIOPs: []vnfm.MCIOP{{ID: "chart"}}}}
	require.Equal(t, []vnfm.VIMType{vnfm.VIMTypeKubernetes}, e.typesFor(r, false))
	require.Equal(t, []vnfm.VIMType{vnfm.VIMTypeKubernetes, vnfm.VIMTypeOpenStack}, e.typesFor(r, true))
}
