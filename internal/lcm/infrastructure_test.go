package lcm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// declaring is an infra driver that declares its parameters and the packages that it supports.
type declaring struct {
	vnfm.InfraDriver
	params   vnfm.InfraParams
	supports bool
}

func (d declaring) Params() vnfm.InfraParams { return d.params }

func (d declaring) Supports(*vnfm.Package, *vnfm.Flavour) bool { return d.supports }

// configured is a management driver that declares its parameters.
type configured struct {
	vnfm.ManagementDriver
	params []string
}

func (c configured) Params() []string { return c.params }

// Who takes a parameter follows from what the drivers declare.
func TestParamOwners(t *testing.T) {
	e := New(Config{
		Drivers: map[vnfm.VIMType]vnfm.InfraDriver{
			vnfm.VIMTypeKubernetes: declaring{params: vnfm.InfraParams{Driver: "the Kubernetes driver", Names: []string{"namespace"}}},
			vnfm.VIMTypeOpenStack:  declaring{params: vnfm.InfraParams{Driver: "the OpenStack driver", Names: []string{"nfv"}}},
		},
		Management: map[string]vnfm.ManagementDriver{
			"a": configured{params: []string{"cluster"}}, "b": configured{params: []string{"cluster", "host"}},
		},
	})
	want := vnfm.ParamOwners{
		Infra:      map[string]string{"namespace": "the Kubernetes driver", "nfv": "the OpenStack driver"},
		Management: map[string]string{"cluster": `management driver "a" or "b"`, "host": `management driver "b"`},
	}
	if diff := cmp.Diff(want, e.paramOwners); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
		if got := e.typesFor(&resolution{}); !slices.Equal(got, tt.want) {
			t.Errorf("Kubernetes %t, OpenStack %t: %v, want %v", tt.kubernetes, tt.openstack, got, tt.want)
		}
	}
}
