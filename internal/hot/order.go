package hot

import "slices"

// Types of the resources that ports in a network stand on.
const (
	subnetType    = "OS::Neutron::Subnet"
	interfaceType = "OS::Neutron::RouterInterface"
)

// awaitSubnets has each nested template and group wait for the subnets of the networks that it is given, and for the interfaces of
// routers in them. Heat knows by itself that a port needs them, but not when the port is in another template. With it Heat makes new
// networks whole before it changes the VNFCs, and deletes a subnet that is no longer wanted when no VNFC has a port in it any more.
func (s *Source) awaitSubnets(resources map[string]any) {
	for _, name := range sorted(resources) {
		resource := mapOf(resources[name])
		typ := textOf(resource["type"])
		if _, group := groups[typ]; !group && s.nested[typ] == nil {
			continue
		}
		needs := dependsOn(resource)
		have := len(needs)
		given := References(resource["properties"])
		for _, other := range belowNetworks(resources, given) {
			if !slices.Contains(needs, other) && !slices.Contains(given, other) && !reaches(resources, other, name, map[string]bool{}) {
				needs = append(needs, other)
			}
		}
		if len(needs) > have {
			resource["depends_on"] = listOf(needs)
		}
	}
}

// belowNetworks lists the subnets of networks, and the router interfaces in those.
func belowNetworks(resources map[string]any, networks []string) []string {
	find := func(typ string, keys, in []string) (out []string) {
		for _, name := range sorted(resources) {
			resource := mapOf(resources[name])
			properties := mapOf(resource["properties"])
			for _, key := range keys {
				isIn := func(n string) bool { return slices.Contains(in, n) }
				if textOf(resource["type"]) == typ && !slices.Contains(out, name) && slices.ContainsFunc(References(properties[key]), isIn) {
					out = append(out, name)
				}
			}
		}
		return out
	}
	subnets := find(subnetType, []string{"network", "network_id"}, networks)
	return append(subnets, find(interfaceType, []string{"subnet", "subnet_id"}, subnets)...)
}

// reaches reports whether a resource needs another one, directly or by others.
func reaches(resources map[string]any, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	resource := mapOf(resources[from])
	return slices.ContainsFunc(append(dependsOn(resource), References(resource["properties"])...), func(n string) bool {
		return reaches(resources, n, to, seen)
	})
}
