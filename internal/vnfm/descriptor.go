package vnfm

import (
	"iter"
	"slices"
	"strings"
)

// Descriptor is what the engine reads of a VNFD (ETSI GS NFV-SOL 001), over all
// deployment flavours that the package describes.
type Descriptor struct {
	// ID is descriptor_id, the identity of the VNFD.
	ID              string
	Provider        string
	ProductName     string
	SoftwareVersion string
	// Version is descriptor_version.
	Version string
	// VNFMInfo names the VNFMs that the VNFD says it works with (vnfm_info).
	VNFMInfo []string
	// DefaultFlavourID is the flavour used when an instance names none; empty
	// when the VNFD has several flavours and prefers none.
	DefaultFlavourID string
	Flavours         []Flavour
	// PackageChanges are the VnfPackageChange policies (SOL001 6.10.13).
	PackageChanges []PackageChange
}

// Flavour returns the deployment flavour of that id, or nil.
func (d *Descriptor) Flavour(id string) *Flavour {
	for i := range d.Flavours {
		if d.Flavours[i].ID == id {
			return &d.Flavours[i]
		}
	}
	return nil
}

// Flavour is one deployment flavour (SOL001 6.8.1, flavour_id).
type Flavour struct {
	ID               string
	Description      string
	VDUs             []VDU
	ConnectionPoints []ConnectionPoint
	VirtualLinks     []VirtualLink
	Storages         []Storage
	// MCIOPs are the packages of managed container infrastructure objects that
	// the flavour is deployed from.
	MCIOPs  []MCIOP
	Aspects []ScalingAspect
	Levels  []InstantiationLevel
	// DefaultLevelID is the instantiation level used when an instance names
	// none; empty when the flavour has no levels.
	DefaultLevelID string
	// Operations maps the name of a Vnflcm operation or hook
	// (instantiate_start, scale, ...) to the implementation that the VNFD names.
	Operations map[string]Implementation
	// AffinityRules holds both affinity and anti-affinity policies.
	AffinityRules      []AffinityRule
	SecurityGroupRules []SecurityGroupRule
}

// VDU returns the VDU with that node template name, or nil.
func (f *Flavour) VDU(id string) *VDU {
	for i := range f.VDUs {
		if f.VDUs[i].ID == id {
			return &f.VDUs[i]
		}
	}
	return nil
}

// VirtualLink returns the virtual link of that id, or nil.
func (f *Flavour) VirtualLink(id string) *VirtualLink {
	for i := range f.VirtualLinks {
		if f.VirtualLinks[i].ID == id {
			return &f.VirtualLinks[i]
		}
	}
	return nil
}

// Storage returns the storage of that id, or nil.
func (f *Flavour) Storage(id string) *Storage {
	for i := range f.Storages {
		if f.Storages[i].ID == id {
			return &f.Storages[i]
		}
	}
	return nil
}

// Aspect returns the scaling aspect of that id, or nil.
func (f *Flavour) Aspect(id string) *ScalingAspect {
	for i := range f.Aspects {
		if f.Aspects[i].ID == id {
			return &f.Aspects[i]
		}
	}
	return nil
}

// Level returns the instantiation level of that id, or nil.
func (f *Flavour) Level(id string) *InstantiationLevel {
	for i := range f.Levels {
		if f.Levels[i].ID == id {
			return &f.Levels[i]
		}
	}
	return nil
}

// VDUIDs returns the ids of the VDUs in the order of the VNFD.
func (f *Flavour) VDUIDs() []string { return idsOf(f.VDUs, func(v *VDU) string { return v.ID }) }

// AspectIDs returns the ids of the scaling aspects in the order of the VNFD.
func (f *Flavour) AspectIDs() []string {
	return idsOf(f.Aspects, func(a *ScalingAspect) string { return a.ID })
}

// LevelIDs returns the ids of the instantiation levels in the order of the VNFD.
func (f *Flavour) LevelIDs() []string {
	return idsOf(f.Levels, func(l *InstantiationLevel) string { return l.ID })
}

func idsOf[T any](items []T, id func(*T) string) []string {
	ids := make([]string, 0, len(items))
	for i := range items {
		ids = append(ids, id(&items[i]))
	}
	return ids
}

// VDUOf returns the id of the VDU that a VNFC is of; empty when it is of none.
func (f *Flavour) VDUOf(vnfc string) string { return VDUOf(vnfc, slices.Values(f.VDUIDs())) }

// VDUOf returns the one of some VDUs that a VNFC is of, by its id "<vdu>-<resource>": of several VDUs whose ids begin alike
// the one with the longest. It is empty when the VNFC is of none.
func VDUOf(vnfc string, vdus iter.Seq[string]) string {
	found := ""
	for id := range vdus {
		if rest, ok := strings.CutPrefix(vnfc, id+"-"); ok && rest != "" && len(id) > len(found) {
			found = id
		}
	}
	return found
}

// VDU is a Vdu.Compute or Vdu.OsContainerDeployableUnit node.
type VDU struct {
	// ID is the name of the node template; Name is properties.name, which on
	// Kubernetes is the name of the workload object.
	ID          string
	Name        string
	Description string
	// Type is the TOSCA node type as written.
	Type string
	// MinInstances and MaxInstances come from vdu_profile.
	// Without a vdu_profile they are 1 and 0; a maximum of 0 means no limit.
	MinInstances int
	MaxInstances int
	// InitialDelta is number_of_instances of the VduInitialDelta policy;
	// nil when no policy targets the VDU.
	InitialDelta *int
	// SWImages are the software images of the VDU, by artifact name.
	SWImages []SWImage
	// CPUs (virtual CPUs), MemoryBytes and StorageIDs are the VDU's demands.
	CPUs        float64
	MemoryBytes int64
	StorageIDs  []string
	// Compute is set when the VNFD says more of the VDU's server.
	Compute *Compute
	// Workload is set when the VNFD itself describes the containers of the VDU. Its
	// settings may be secrets: it is never part of a record in clear.
	Workload *Workload `json:"-"`
	Place    Place
}

// OfContainers reports whether the VNFD says that a VDU consists of containers: its type may be derived under a name of its own.
func (v *VDU) OfContainers() bool {
	return strings.HasSuffix(v.Type, "OsContainerDeployableUnit")
}

// SWImage is a software image (tosca.artifacts.nfv.SwImage).
type SWImage struct {
	// ID is the name of the artifact, or the node's name when the image is
	// declared by the property sw_image_data alone.
	ID              string
	Name            string
	Version         string
	File            string
	ContainerFormat string
	DiskFormat      string
	ChecksumAlgo    string
	ChecksumHash    string
	MinDiskBytes    int64
	MinRAMBytes     int64
	SizeBytes       int64
}

// ConnectionPoint is a VduCp, VipCp, VirtualCp or VnfExtCp node.
type ConnectionPoint struct {
	ID string
	// Type is the TOSCA node type as written.
	Type string
	// VDUID is the VDU that a VduCp is bound to; empty for a VnfExtCp and a VipCp.
	VDUID string
	// VirtualLinkID is the internal virtual link; empty when there is none.
	VirtualLinkID string
	// External is true for a VnfExtCp, and for a VduCp that
	// substitution_mappings offer to the VNF's environment.
	External bool
	// Order is the order of the network interface in its VDU, from 0 on.
	Order     int
	Protocols []string
	// VNICType is vnic_type; empty for the VIM's default.
	VNICType string
}

// VirtualLink is a VnfVirtualLink node.
type VirtualLink struct {
	ID        string
	Protocols []string
	// CIDR is the first layer 3 cidr of the profile; empty when none is given.
	CIDR    string
	Subnets []Subnet
	// MTU is that of the layer 2 protocol; 0 for the VIM's default.
	MTU int
	// NetworkName is the network of the VIM that the link is; empty for a new one.
	NetworkName string
}

// Storage is a Vdu.VirtualBlockStorage, VirtualObjectStorage or VirtualFileStorage node.
type Storage struct {
	ID        string
	Type      string
	SizeBytes int64
	// PerVNFC is per_vnfc_instance: one volume per VNFC (default) or one shared.
	PerVNFC bool
	// SWImages are the images that the storage is filled with, by artifact name.
	SWImages []SWImage
	// Demands are the platform's own words for what the storage has to be
	// (vdu_storage_requirements).
	Demands map[string]string
	Place   Place
}

// MCIOP is an Mciop node (SOL001 6.8.13): a Helm chart that VDUs come from.
type MCIOP struct {
	ID string
	// File is the path of the chart inside the package, an archive or a directory.
	File string
	// VDUIDs are the VDUs that the chart holds, as associatedVdu names them.
	VDUIDs []string
}

// ScalingAspect is one aspect of the ScalingAspects policy with the deltas that
// the VduScalingAspectDeltas policies give it.
type ScalingAspect struct {
	ID          string
	Name        string
	Description string
	MaxLevel    int
	// StepDeltas are delta ids: one (uniform) or MaxLevel of them.
	StepDeltas []string
	// Deltas maps delta id -> VDU id -> number of instances of one step.
	Deltas map[string]map[string]int
}

// InstantiationLevel is one level of the InstantiationLevels policy with the
// counts that the VduInstantiationLevels policies give it.
type InstantiationLevel struct {
	ID          string
	Description string
	// ScaleInfo maps aspect id -> scale level; an absent aspect is at level 0.
	ScaleInfo map[string]int
	// Counts maps VDU id -> number of instances; only VDUs that a
	// VduInstantiationLevels policy targets.
	Counts map[string]int
}

// Implementation is what a VNFD names for a Vnflcm operation or of one of its hooks.
type Implementation struct {
	// Artifact is the name of the artifact that implements the operation, or
	// the implementation string as written; empty for the VNFM's default.
	Artifact string
	// File and Type are those of the artifact when the VNF node declares it.
	File string
	Type string
	// Inputs are additional_parameters as declared.
	Inputs map[string]string
}

// AffinityRule is an AffinityRule or AntiAffinityRule policy.
type AffinityRule struct {
	ID      string
	Anti    bool
	Scope   string
	Targets []string
	// Groups maps each target that is a placement group to its members.
	Groups map[string][]string
	Place  Place
}

// PackageChange is a VnfPackageChange policy.
type PackageChange struct {
	SourceDescriptorIDs     []string
	DestinationDescriptorID string
	SourceFlavourIDs        []string
	DestinationFlavourID    string
	// Mappings say which component of the source became which of the destination.
	Mappings []ComponentMapping
}

// ComponentMapping maps one component of a VNFD to its successor in another.
type ComponentMapping struct {
	// ComponentType is vdu, cp, virtual_link, virtual_storage,
	// instantiation_level or scaling_aspect.
	ComponentType string
	SourceID      string
	DestinationID string
}
