package openstack

import (
	"context"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// volumesFolder is the folder of volumes in the data of a lab, see config/python/lab_volume.py.
const volumesFolder = "volumes"

// cinder is one of Cinder's programs; Debian has them in packages that bring servers of disks too.
func cinder(command string) func(layout.OpenStackPorts, string) []string {
	return module("cinder", command)
}

// volumeReady tells whether all of Cinder's processes have reported since a moment.
func volumeReady(ctx context.Context, admin *client, state *layout.OpenStack, since time.Time) error {
	return reported(ctx, admin, address(state.Ports, Volume)+"/v3/os-services", since, "cinder-scheduler", "cinder-volume")
}
