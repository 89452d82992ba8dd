package vnfm

// Place is where a part of a VNFD is written: a file of the package, with line and
// column counted from 1.
type Place struct {
	File   string
	Line   int
	Column int
}

// Workload is what a VNFD says of a VDU that consists of OS containers, as far as
// it says it itself and leaves it to no manifest and no chart.
type Workload struct {
	// Kind is the kind of object that realizes the VDU (mcio_identification_data);
	// empty when the VNFD leaves that open.
	Kind string
	// Namespace is the one that the VNFD names; empty for none.
	Namespace  string
	Labels     map[string]string
	Containers []Container
	Services   []Service
	// Networks are the network attachments that the VDU has besides the network of
	// the cluster, in the order of its connection points.
	Networks []string
	// NodeLabels must be those of a node that the VDU runs on. Capabilities are
	// labels that such a node must, or should, have with whatever value.
	NodeLabels   map[string]string
	Capabilities []NodeCapability
	// Autoscaling is set when the load decides on the number of VNFCs.
	Autoscaling *Autoscaling
	// Problems are what is wrong with the description. They concern packages
	// that are instantiated from the description, not those with manifests or charts.
	Problems Problems
}

// Container is one OS container: a Vdu.OsContainer node (SOL001 6.8.12), the image
// of a Vdu.Compute node, or an entry of vnfcs in a VNFD of Tacker's legacy form.
type Container struct {
	ID   string
	Name string
	// Image is the reference of the image in a registry; empty when the VNFD gives none.
	Image   string
	Command []string
	Args    []string
	Ports   []Port
	// Config are settings that the container gets as environment variables.
	Config    map[string]string
	Resources Resources
	Place     Place
}

// Resources are what a container asks for. Zero asks for nothing.
type Resources struct {
	// CPURequest and CPULimit count thousandths of a CPU, the others bytes.
	CPURequest     int64
	CPULimit       int64
	MemoryRequest  int64
	MemoryLimit    int64
	StorageRequest int64
	StorageLimit   int64
	HugePages      []HugePages
	// Extended maps the names of extended resources, devices for example, to
	// their amount.
	Extended map[string]int64
	// PinnedCPUs asks for CPUs of its own (policy static), NUMA for memory near them.
	PinnedCPUs bool
	NUMA       bool
}

// HugePages is an amount of memory in pages of one size, both in bytes.
type HugePages struct {
	PageSize int64
	Size     int64
}

// Port is a port that a container listens on or a service offers.
type Port struct {
	Name string
	// Protocol is TCP, UDP or SCTP.
	Protocol string
	Number   int
	// Target is the port of the container that a service's port leads to.
	Target int
}

// Service is an address for all VNFCs of a VDU.
type Service struct {
	// Name is that of the connection point; empty for the VDU's own.
	Name string
	// Type is the type of a Kubernetes Service; empty for the default.
	Type  string
	Ports []Port
	Place Place
}

// NodeCapability is an entry of requested_additional_capabilities.
type NodeCapability struct {
	Name      string
	Mandatory bool
}

// Autoscaling lets the load decide on the number of VNFCs.
type Autoscaling struct {
	Min int
	Max int
	// CPUPercent is the wanted mean load of the CPUs that are requested.
	CPUPercent int
	Place      Place
}
