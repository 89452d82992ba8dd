package vnfd

import (
	"cmp"
	"maps"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// tackerCapability is the name under which VNFDs of Tacker have the capability that
// names a flavor, and tackerFiller what they have for its parameters.
const (
	tackerCapability = "properties"
	tackerFiller     = "entry_schema"
)

// readCompute reads what a VDU says of its server; nil when that is nothing.
func (r *reader) readCompute(v *vnfm.VDU, n *node) *vnfm.Compute {
	c, found := &vnfm.Compute{}, false
	c.Problems = r.aside(func() { found = readServer(c, v, n) })
	if !found && len(c.Problems) == 0 {
		return nil
	}
	return c
}

// readServer fills in what there is, and tells whether there is something.
func readServer(c *vnfm.Compute, v *vnfm.VDU, n *node) bool {
	compute := n.at("capabilities", "virtual_compute", "properties")
	cpu, memory := compute.get("virtual_cpu"), compute.get("virtual_memory")
	for _, local := range compute.get("virtual_local_storage").items() {
		c.DiskBytes += local.get("size_of_storage").bytes()
	}
	c.PinnedCPUs = readPinning(cpu.get("virtual_cpu_pinning"))
	c.NUMA = memory.get("numa_enabled").ok() && memory.get("numa_enabled").flag()
	c.HugePages = readHugePages(memory.get("huge_pages_requirements"))

	wanted := map[string]string{}
	for _, texts := range []value{
		cpu.get("vdu_cpu_requirements"), memory.get("vdu_mem_requirements"), compute.get("compute_requirements"),
	} {
		maps.Copy(wanted, readTexts(texts))
	}
	for _, e := range compute.get("logical_node").entries() {
		maps.Copy(wanted, readTexts(e.get("logical_node_requirements")))
	}
	for _, e := range compute.get("requested_additional_capabilities").entries() {
		readCapability(c, e, wanted)
	}
	if len(wanted) > 0 {
		c.Requirements = wanted
	}
	c.BootOrder = readBootOrder(v, n.property("boot_order"))
	c.BootData = readBootData(n.property("boot_data"))
	return c.FlavorName != "" || c.DiskBytes > 0 || c.PinnedCPUs || c.NUMA || len(c.HugePages) > 0 ||
		len(c.Requirements) > 0 || len(c.BootOrder) > 0 || c.BootData != nil
}

// readCapability reads an additional capability. One with parameters asks for these;
// one that is but a name names a flavor of the VIM, and so does Tacker's.
func readCapability(c *vnfm.Compute, e entry, wanted map[string]string) {
	parameters := readTexts(e.get("target_performance_parameters"))
	delete(parameters, tackerFiller)
	maps.Copy(wanted, parameters)
	if name := e.get("requested_additional_capability_name").str(); c.FlavorName == "" && (len(parameters) == 0 || e.name == tackerCapability) {
		c.FlavorName = name
	}
}

// readBootOrder reads boot_order: a list of storages, or from v2.7.1 on whether the
// order of the required storages is that of booting.
func readBootOrder(v *vnfm.VDU, order value) []string {
	if order.isText() {
		switch strings.ToLower(order.str()) {
		case "true", "yes", "on":
			return v.StorageIDs
		case "false", "no", "off":
			return nil
		}
	}
	return order.texts()
}

// readBootData reads boot_data: a text or the name of a file, and from v3.3.1 on a mapping
// with contents or files, or with keys and values.
func readBootData(v value) *vnfm.BootData {
	switch {
	case !v.ok():
		return nil
	case v.isText():
		return &vnfm.BootData{Content: v.str(), Place: v.written()}
	case !v.isMap():
		v.errorf("%s must be a string or a mapping, not %s", v.path, describe(v))
		return nil
	}
	contents := v.get("content_or_file_data")
	b := &vnfm.BootData{
		Content: contents.get("content").str(), File: contents.get("source_path").str(),
		Values: readTexts(contents.get("data")), Place: v.written(),
	}
	if b.Content != "" && b.File != "" {
		//findings:says keep content for a text, or source_path for a file of the package
		contents.errorf("%s has both content and source_path", contents.path)
	}
	if kvp := v.at("kvp_data", "data"); kvp.ok() {
		b.Values = readTexts(kvp)
	}
	return b
}

// readSubnets reads the layer 3 protocols of a virtual link.
func readSubnets(l *vnfm.VirtualLink, n *node) {
	for _, data := range n.property("vl_profile").get("virtual_link_protocol_data").items() {
		l3 := data.get("l3_protocol_data")
		if mtu, ok := data.at("l2_protocol_data", "mtu").count(); ok {
			l.MTU = mtu
		}
		cidr := l3.get("cidr").str()
		if cidr == "" {
			continue
		}
		l.CIDR = cmp.Or(l.CIDR, cidr)
		s := vnfm.Subnet{
			Name: l3.get("name").str(), CIDR: cidr, Gateway: l3.get("gateway_ip").str(), IPv6Mode: l3.get("ipv6_address_mode").str(),
			IPv6: strings.EqualFold(l3.get("ip_version").str(), "ipv6") || strings.Contains(cidr, ":"),
		}
		if dhcp := l3.get("dhcp_enabled"); dhcp.ok() {
			on := dhcp.flag()
			s.DHCP = &on
		}
		for _, pool := range l3.get("ip_allocation_pools").items() {
			s.Pools = append(s.Pools, vnfm.AddressRange{Start: pool.get("start_ip_address").str(), End: pool.get("end_ip_address").str()})
		}
		l.Subnets = append(l.Subnets, s)
	}
}

// readSecurityRule reads a SecurityGroupRule policy. Missing properties have the
// defaults of SOL001: TCP over IPv4, on the way in, at all ports.
func (r *reader) readSecurityRule(f *indexed, t *template, p policy) {
	rule := vnfm.SecurityGroupRule{
		ID: p.name, Description: p.at("properties", "description").str(), Protocol: "tcp", PortMax: 65535, Place: p.key.written(),
	}
	for _, one := range []struct {
		name string
		to   *bool
		no   string
		yes  string
	}{{"direction", &rule.Egress, "ingress", "egress"}, {"ether_type", &rule.IPv6, "ipv4", "ipv6"}} {
		switch v := p.at("properties", one.name); strings.ToLower(v.str()) {
		case "", one.no:
		case one.yes:
			*one.to = true
		default:
			v.errorf("%s must be %s or %s, not %q", v.path, one.no, one.yes, v.str())
		}
	}
	if protocol := p.at("properties", "protocol").str(); protocol != "" {
		rule.Protocol = strings.ToLower(protocol)
	}
	low, high := p.at("properties", "port_range_min"), p.at("properties", "port_range_max")
	if n, ok := low.count(); ok {
		rule.PortMin = n
	}
	if n, ok := high.count(); ok {
		rule.PortMax = n
	}
	switch {
	case rule.PortMax > 65535:
		high.errorf("%s is %d; the last port is 65535", high.path, rule.PortMax)
	case rule.PortMin > rule.PortMax:
		//findings:says lower port_range_min, or raise port_range_max
		low.errorf("the policy %s has ports from %d (port_range_min) to %d (port_range_max)", p.name, rule.PortMin, rule.PortMax)
	}
	for _, target := range t.expand(p.get("targets")) {
		if f.point(target.name) == nil {
			//findings:says name a VduCp or VnfExtCp of the flavour in targets
			target.at.warnf("the policy %s targets %q, which is not a connection point of the flavour", p.name, target.name)
			continue
		}
		rule.Targets = append(rule.Targets, target.name)
	}
	f.SecurityGroupRules = append(f.SecurityGroupRules, rule)
}
