package vnfm

// ExtVirtualLink is a network of the VIM that external connection points of an instance
// are connected to (ExtVirtualLinkData of SOL003).
type ExtVirtualLink struct {
	// ResourceID is that of the network on the VIM.
	ResourceID string `json:"resource_id"`
	// ExtCPs are the external connection points that are connected to it, by cpdId.
	ExtCPs map[string]ExtCP `json:"ext_cps"`
}

// ExtCP says how an external connection point is connected (VnfExtCpConfig of SOL003).
// Empty leaves everything to the VIM.
type ExtCP struct {
	// IPAddresses are the addresses of each port, in order: IPv4 and IPv6, or several subnets.
	IPAddresses []IPAddress `json:"ip_addresses,omitempty"`
	// MACAddress and LinkPortID, an existing port of the network, are for one VNFC.
	MACAddress string `json:"mac_address,omitempty"`
	LinkPortID string `json:"link_port_id,omitempty"`
}

// IPAddress is one address of each port of a connection point (ipAddresses of SOL003). It
// has a subnet, fixed addresses, or both.
type IPAddress struct {
	SubnetID string `json:"subnet_id,omitempty"`
	// FixedAddresses, all of one family, are given to the VNFCs in turn; empty lets the VIM choose.
	FixedAddresses []string `json:"fixed_addresses,omitempty"`
}

// Links are the networks that an instance is given instead of making its own.
type Links struct {
	// External are by a name that the user gives, Managed by the id of the internal virtual
	// link that the network is: the id of a network on the VIM.
	External map[string]ExtVirtualLink `json:"external,omitempty"`
	Managed  map[string]string         `json:"managed,omitempty"`
}

// IsZero reports whether the instance is given none, also as maps that are empty.
func (l Links) IsZero() bool { return len(l.External)+len(l.Managed) == 0 }
