package heat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// TestStrandedPorts: a port is taken from a server that the stack replaces, never from one that it has, nor from one of others.
func TestStrandedPorts(t *testing.T) {
	t.Parallel()
	const own, current, foreign = "b1c0ffae-850b-4088-9acf-3b0bfabee037", "b6cb6197-55ee-4722-aa24-5ad5faec9a7a", "2ba73092-55ee-4722-aa24-5ad5faec9a7a"
	reason := func(id string) string {
		return "FW is CREATE_FAILED: Conflict: resources.FW: Port " + id + " is still in use. (HTTP 409)"
	}
	wanted := portsInUse(&stackError{stack: &openstack.Stack{}, reasons: []string{reason(own), "and 1 more", reason(current), reason(foreign)}})
	require.Equal(t, []string{own, current, foreign}, wanted)
	resources := []openstack.StackResource{
		{Name: "CP1", PhysicalID: own, Status: "CREATE_COMPLETE"}, {Name: "CP2", PhysicalID: current, Status: "UPDATE_COMPLETE"},
		{Name: "FW", Status: "CREATE_FAILED"}, {Name: "TG", PhysicalID: "tg", Status: "CREATE_COMPLETE"},
	}
	ports := map[string]*openstack.Port{own: {ID: own, Device: "old"}, current: {ID: current, Device: "tg"}, foreign: {ID: foreign, Device: "other"}}
	require.Equal(t, []*openstack.Port{ports[own]}, strandedPorts(wanted, resources, ports))
	ports[own].Device = ""
	require.Empty(t, strandedPorts(wanted, resources, ports))
}
