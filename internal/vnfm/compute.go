package vnfm

// Compute is what a VNFD says of the server of a VDU (Vdu.Compute) besides its CPUs,
// its memory and its storages.
type Compute struct {
	// FlavorName is the flavor of the VIM that the VNFD names, as OpenStack Tacker
	// reads it from requested_additional_capabilities; empty leaves the choice open.
	FlavorName string
	// DiskBytes is the sum of virtual_local_storage.
	DiskBytes int64
	// PinnedCPUs asks for CPUs of its own (policy static), NUMA for memory near them.
	PinnedCPUs bool
	NUMA       bool
	HugePages  []HugePages
	// Requirements are demands in the platform's own words: of CPUs, memory, logical
	// nodes, and the parameters of additional capabilities.
	Requirements map[string]string
	// BootOrder are the storages that can be booted from, the first one first.
	BootOrder []string
	// BootData may hold secrets: it is never part of a record in clear.
	BootData *BootData `json:"-"`
	// Problems are what is wrong with the description. They matter to users of it,
	// and not to a package that has templates or manifests instead.
	Problems Problems
}

// BootData is what a server finds when it boots (boot_data).
type BootData struct {
	// Content is the text, File the file of the package that holds it; one is empty.
	// A text without more may be either: it is a file if the package has one by that name.
	Content string
	File    string
	// Values are keys and values.
	Values map[string]string
	Place  Place
}

// Subnet is a layer 3 protocol of a virtual link.
type Subnet struct {
	Name string
	CIDR string
	IPv6 bool
	// Gateway is empty for the network's own choice.
	Gateway string
	// DHCP is nil when the VNFD does not say.
	DHCP  *bool
	Pools []AddressRange
	// IPv6Mode is slaac, dhcpv6-stateful or dhcpv6-stateless; empty for none.
	IPv6Mode string
}

// AddressRange are addresses from Start to End.
type AddressRange struct{ Start, End string }

// SecurityGroupRule is a SecurityGroupRule policy (SOL001 6.10.12): what may pass the
// connection points that it targets.
type SecurityGroupRule struct {
	ID          string
	Description string
	// Egress is what leaves a connection point; else it is what enters.
	Egress   bool
	IPv6     bool
	Protocol string
	// PortMin and PortMax count for protocols that have ports.
	PortMin int
	PortMax int
	Targets []string
	Place   Place
}
