package openstack

import (
	"context"
	"fmt"
	"net/http"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// volumesFolder is the folder of volumes in the data of a lab, see config/python/lab_volume.py.
const volumesFolder = "volumes"

// cinder is one of Cinder's programs; Debian has them in packages that bring servers of disks too.
func cinder(command string) func(layout.OpenStackPorts, string) []string {
	return module("cinder", command)
}

// volumeReady tells whether all of Cinder's processes have reported.
func volumeReady(ctx context.Context, admin *client, state *layout.OpenStack) error {
	var list struct {
		Services []struct {
			Binary string `json:"binary"`
			State  string `json:"state"`
		} `json:"services"`
	}
	if _, err := admin.call(ctx, http.MethodGet, address(state.Ports, Volume)+"/v3/os-services", nil, &list); err != nil {
		return err
	}
	up := map[string]bool{}
	for _, s := range list.Services {
		up[s.Binary] = s.State == "up"
	}
	for _, name := range []string{"cinder-scheduler", "cinder-volume"} {
		if !up[name] {
			return fmt.Errorf("%s has not reported", name)
		}
	}
	return nil
}
