package openstack

import "github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"

// volumesFolder is the folder of volumes in the data of a lab, see config/python/lab_volume.py.
const volumesFolder = "volumes"

// cinder is one of Cinder's programs; Debian has them in packages that bring servers of disks too.
func cinder(command string) func(layout.OpenStackPorts, string) []string {
	return module("cinder", command)
}

// volumeBackend is what cinder-volume has with config/cinder.conf.
const volumeBackend = "lab@lab"

// volumeReports are those of Cinder's processes. cinder-volume is asked what it can do, and
// the scheduler whether it knows: until then a volume that is asked for is an error at once.
var volumeReports = &reports{
	path: "/v3/os-services", programs: []string{"cinder-scheduler", "cinder-volume"},
	answered: []question{{"/v3/capabilities/" + volumeBackend, volumeBackend}, {"/v3/scheduler-stats/get_pools", volumeBackend}},
}
