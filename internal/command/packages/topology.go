package packages

import (
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// topology is what "package inspect" tells of a package. Its JSON is documented: fields are added, and not renamed.
type topology struct {
	Digest          string    `json:"digest"`
	SecurityOption  string    `json:"security_option,omitempty"`
	Signer          string    `json:"signer,omitempty"`
	VNFDID          string    `json:"vnfd_id"`
	Provider        string    `json:"provider"`
	ProductName     string    `json:"product_name"`
	SoftwareVersion string    `json:"software_version"`
	VNFDVersion     string    `json:"vnfd_version"`
	VNFMInfo        []string  `json:"vnfm_info,omitempty"`
	DefaultFlavour  string    `json:"default_flavour_id,omitempty"`
	Files           int       `json:"files"`
	KubernetesFiles []string  `json:"kubernetes_files,omitempty"`
	Flavours        []flavour `json:"flavours"`
}

type flavour struct {
	ID               string            `json:"id"`
	Description      string            `json:"description,omitempty"`
	DefaultLevel     string            `json:"default_instantiation_level_id,omitempty"`
	VDUs             []vdu             `json:"vdus"`
	ConnectionPoints []connectionPoint `json:"connection_points,omitempty"`
	VirtualLinks     []virtualLink     `json:"virtual_links,omitempty"`
	Charts           []chart           `json:"charts,omitempty"`
	Aspects          []aspect          `json:"scaling_aspects,omitempty"`
	Levels           []level           `json:"instantiation_levels,omitempty"`
	Operations       []operation       `json:"operations,omitempty"`
}

type vdu struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Kind is the kind of the workload, or else the type of the node.
	Kind     string `json:"kind"`
	Workload string `json:"workload,omitempty"`
	// Min and Max are numbers of instances; a Max of 0 is no limit.
	Min         int      `json:"min_instances"`
	Max         int      `json:"max_instances"`
	CPUs        float64  `json:"cpus,omitempty"`
	MemoryBytes int64    `json:"memory_bytes,omitempty"`
	Images      []string `json:"images,omitempty"`
	Storages    []string `json:"storages,omitempty"`
	Aspects     []string `json:"scaling_aspects,omitempty"`
}

type connectionPoint struct {
	ID          string `json:"id"`
	VDU         string `json:"vdu_id,omitempty"`
	VirtualLink string `json:"virtual_link_id,omitempty"`
	External    bool   `json:"external"`
	Order       int    `json:"order"`
}

type virtualLink struct {
	ID   string `json:"id"`
	CIDR string `json:"cidr,omitempty"`
}

type chart struct {
	ID   string   `json:"id"`
	File string   `json:"file"`
	VDUs []string `json:"vdu_ids"`
}

type aspect struct {
	ID       string `json:"id"`
	MaxLevel int    `json:"max_scale_level"`
	// Steps are the instances by VDU that a step to the next level adds: one entry for all steps, or one for each.
	Steps []map[string]int `json:"steps"`
}

type level struct {
	ID          string         `json:"id"`
	ScaleLevels map[string]int `json:"scale_levels,omitempty"`
	Instances   map[string]int `json:"instances"`
}

type operation struct {
	Name           string `json:"name"`
	Implementation string `json:"implementation"`
	File           string `json:"file,omitempty"`
}

// newTopology tells of a package.
func newTopology(p *vnfm.Package) *topology {
	d := p.Descriptor
	t := &topology{
		Digest: p.Digest, SecurityOption: p.SecurityOption, Signer: p.Signer, VNFDID: d.ID, Provider: d.Provider, ProductName: d.ProductName,
		SoftwareVersion: d.SoftwareVersion, VNFDVersion: d.Version, VNFMInfo: d.VNFMInfo, DefaultFlavour: d.DefaultFlavourID,
		Files: len(p.Files), KubernetesFiles: p.KubernetesFiles, Flavours: []flavour{},
	}
	for i := range d.Flavours {
		t.Flavours = append(t.Flavours, newFlavour(&d.Flavours[i]))
	}
	return t
}

func newFlavour(f *vnfm.Flavour) flavour {
	out := flavour{ID: f.ID, Description: f.Description, DefaultLevel: f.DefaultLevelID, VDUs: []vdu{}}
	for i := range f.VDUs {
		out.VDUs = append(out.VDUs, newVDU(f, &f.VDUs[i]))
	}
	for _, c := range f.ConnectionPoints {
		out.ConnectionPoints = append(out.ConnectionPoints, connectionPoint{ID: c.ID, VDU: c.VDUID, VirtualLink: c.VirtualLinkID, External: c.External, Order: c.Order})
	}
	for _, l := range f.VirtualLinks {
		out.VirtualLinks = append(out.VirtualLinks, virtualLink{ID: l.ID, CIDR: l.CIDR})
	}
	for _, m := range f.MCIOPs {
		out.Charts = append(out.Charts, chart{ID: m.ID, File: m.File, VDUs: m.VDUIDs})
	}
	for _, a := range f.Aspects {
		out.Aspects = append(out.Aspects, aspect{ID: a.ID, MaxLevel: a.MaxLevel, Steps: steps(a)})
	}
	for _, l := range f.Levels {
		// A fault of a level was a problem of the package already.
		counts, _ := vnfd.Counts(f, l.ID, nil)
		out.Levels = append(out.Levels, level{ID: l.ID, ScaleLevels: l.ScaleInfo, Instances: counts})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Operations)) {
		o := f.Operations[name]
		out.Operations = append(out.Operations, operation{Name: name, Implementation: o.Artifact, File: o.File})
	}
	return out
}

func newVDU(f *vnfm.Flavour, v *vnfm.VDU) vdu {
	out := vdu{ID: v.ID, Name: v.Name, Kind: kindOf(v), Min: v.MinInstances, Max: v.MaxInstances, CPUs: v.CPUs, MemoryBytes: v.MemoryBytes, Storages: v.StorageIDs}
	images := func(name string) {
		if name != "" && !slices.Contains(out.Images, name) {
			out.Images = append(out.Images, name)
		}
	}
	for _, image := range v.SWImages {
		images(image.Name)
	}
	if v.Workload != nil {
		for _, c := range v.Workload.Containers {
			images(c.Image)
		}
	}
	for _, a := range f.Aspects {
		if slices.ContainsFunc(steps(a), func(step map[string]int) bool { return step[v.ID] > 0 }) {
			out.Aspects = append(out.Aspects, a.ID)
		}
	}
	return out
}

// kindOf is what a VDU becomes, as far as the VNFD alone tells.
func kindOf(v *vnfm.VDU) string {
	switch {
	case v.Workload != nil && v.Workload.Kind != "":
		return v.Workload.Kind
	case v.Workload != nil:
		return "containers"
	default:
		return strings.TrimPrefix(v.Type, "tosca.nodes.nfv.")
	}
}

// steps returns what the steps of an aspect add: one entry for all of them, or one for each.
func steps(a vnfm.ScalingAspect) []map[string]int {
	out := make([]map[string]int, 0, len(a.StepDeltas))
	for _, delta := range a.StepDeltas {
		out = append(out, a.Deltas[delta])
	}
	return out
}
