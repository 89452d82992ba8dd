// Package hot makes Heat stacks of VNF packages: the templates that a package brings
// (BaseHOT), or else those that its VNFD amounts to, with one resource for each VNFC and
// the parameters that they ask for. It is pure: what only the VIM knows is handed in.
//
// A copied resource of the top-level template takes along what is named after the
// connection points and storages of its VDU, and what refers to one of them: each stands
// once for each VNFC, and refers to its own. Others refer to all VNFCs at once, from an
// item of a list, from depends_on or from an output, which becomes a list. Values below
// nfv have the names of copied resources, VDU1-0 and CP1-0; what a user gives under the
// plain name holds for all VNFCs, and over it what is given for one.
package hot

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

// Form says how the VNFCs of a VDU come to be.
type Form int

const (
	// Copied means that the top-level template has one resource by the name of the VDU,
	// which stands once for each VNFC in the stack: VDU1 becomes VDU1-0, VDU1-1.
	Copied Form = iota
	// Grouped means that a group of the top-level template (OS::Heat::AutoScalingGroup,
	// OS::Heat::ResourceGroup) makes as many members as its size says.
	Grouped
	// Kept means that the top-level template has one resource by the name of the VDU, which stands in the stack as it is: the stack was
	// not made of the package.
	Kept
)

// VDU is what a template has of a VDU.
type VDU struct {
	Form Form
	// Resource is the name of the top-level resource: the one that is copied, or the group.
	Resource string
}

// Source is what the stack of a deployment flavour is made of, before it is that of an
// instance.
type Source struct {
	// Top is the top-level template.
	Top map[string]any
	// Files are the nested templates as text, by the name that the template has for them.
	Files map[string]string
	// VDUs are those of the flavour, by id.
	VDUs map[string]VDU
	// Translated is set when the package brings no template and the VNFD was translated.
	Translated bool

	// top and nested are the templates with their places, nested ones by the name that
	// they are referred to by.
	top    *template
	nested map[string]*template
	// copies are the top-level resources that stand once for each VNFC of a VDU.
	copies map[string]string
	// work takes steps of the budget, values those of a stack.
	work, values func(n int64) error
}

// Link is a network of the VIM that takes the place of a virtual link, or that an
// external connection point is connected to.
type Link struct {
	NetworkID string
	// IPs are the addresses of each port, in order; empty lets Neutron choose.
	IPs []vnfm.IPAddress
	// PortID is an existing port (extLinkPort); empty makes a new one.
	PortID string
	MAC    string
}

// Demand is what a VDU or one of its storages asks the VIM for, where its template asks
// for it by a parameter or the VNFD was translated.
type Demand struct {
	VDUID string
	// Storage is the storage that the image is for; empty for the VDU itself.
	Storage string
	// FlavorName is the flavor that the VNFD names; else the smallest is meant that has
	// what the others ask for.
	FlavorName   string
	CPUs         int
	MemoryBytes  int64
	StorageBytes int64
	ExtraSpecs   map[string]string
	// Image is the software image; nil when the VDU has none.
	Image *vnfm.SWImage
}

// Asset is what the VIM has for a demand.
type Asset struct {
	FlavorID string `json:"flavorId,omitempty"`
	ImageID  string `json:"imageId,omitempty"`
}

// Request says what the stack of an instance is to be.
type Request struct {
	Flavour *vnfm.Flavour
	// VNFCs are the numbers of the VNFCs of each copied VDU, in order: [0, 2] is VDU1-0 and
	// VDU1-2. Counts is how many there are of each VDU, in whatever form.
	VNFCs  map[string][]int
	Counts map[string]int
	// InTurn has Heat begin with a VNFC of a copied VDU only when it is done with the one
	// before. A group says that itself (rolling_updates).
	InTurn bool
	// DigestKey keys the digests of objects.
	DigestKey []byte
	// Links are by the id of a connection point or, for managed ones, of a virtual link.
	Links map[string]Link
	// NFV is additional_params.nfv, merged over what is computed (RFC 7396). Parameters are
	// the values of other parameters that the template declares.
	NFV        map[string]any
	Parameters map[string]any
	// Secrets are those of these parameters, by name, that are secrets, with nfv as far as
	// they are below it: what they reach is hidden from readers of the stack.
	Secrets map[string]any
	// Assets are by demand, as Source.Demands has them; nil renders offline.
	Assets map[DemandKey]Asset
	// Zone chooses the availability zone of a place; an empty one, and nil, leave it to Nova.
	Zone func(Place) string
}

// DemandKey names a demand.
type DemandKey struct{ VDUID, Storage string }

// Stack is what Heat is sent.
type Stack struct {
	Template   map[string]any
	Files      map[string]string
	Parameters map[string]any
	// Zones are the availability zones of the places that the templates ask for one for.
	Zones map[Place]Zone `yaml:"-"`
}
