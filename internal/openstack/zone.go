package openstack

import "context"

// Zone is an availability zone of Nova.
type Zone struct {
	Name  string `json:"zoneName"`
	State struct {
		// Available is false where all hosts of the zone are disabled.
		Available bool `json:"available"`
	} `json:"zoneState"`
}

// AvailabilityZones returns the zones that Nova has for servers.
func (c *Client) AvailabilityZones(ctx context.Context) ([]Zone, error) {
	return list[Zone](ctx, c, call{doing: "listing the availability zones", service: ServiceCompute, path: "/os-availability-zone"}, "availabilityZoneInfo")
}
