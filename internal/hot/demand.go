package hot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The leaves that an asset of the VIM is for: those of Tacker's API version 2, and of
// version 1.
func asksFlavor(l *leaf) bool {
	return l.section() == "VDU" && (l.key() == "computeFlavourId" || l.key() == "flavor")
}

func asksImage(l *leaf) bool {
	return l.section() == "VDU" && (l.key() == "vcImageId" || l.key() == "image")
}

// Demands lists what the templates ask the VIM for and the request does not give. A
// demand for an image alone says nothing of CPUs, memory and flavor.
func (s *Source) Demands(r Request) map[DemandKey]Demand {
	out := map[DemandKey]Demand{}
	for _, l := range s.leaves() {
		flavor, image := asksFlavor(&l), asksImage(&l)
		if _, given := lookUp(r.NFV, l.path); given || !flavor && !image {
			continue
		}
		key, ok := demandKey(r.Flavour, l.name)
		if !ok {
			continue
		}
		wanted := demandOf(r.Flavour, key)
		d, seen := out[key]
		if !seen {
			d = Demand{VDUID: key.VDUID, Storage: key.Storage}
		}
		switch {
		case image:
			d.Image = wanted.Image
		case key.Storage == "":
			wanted.Image = d.Image
			d = wanted
		}
		out[key] = d
	}
	return out
}

// demandKey finds the VDU or the storage that a leaf names.
func demandKey(f *vnfm.Flavour, name string) (DemandKey, bool) {
	if v := vduNamed(f, name); v != nil {
		return DemandKey{VDUID: v.ID}, true
	}
	if f.Storage(name) != nil {
		return DemandKey{VDUID: owner(f, name), Storage: name}, true
	}
	return DemandKey{}, false
}

// vduNamed finds a VDU by its id, or else its name.
func vduNamed(f *vnfm.Flavour, name string) *vnfm.VDU {
	if v := f.VDU(name); v != nil {
		return v
	}
	for i := range f.VDUs {
		if f.VDUs[i].Name == name {
			return &f.VDUs[i]
		}
	}
	return nil
}

// demandOf is all that the VNFD demands for a VDU or a storage.
func demandOf(f *vnfm.Flavour, key DemandKey) Demand {
	d := Demand{VDUID: key.VDUID, Storage: key.Storage}
	if key.Storage != "" {
		d.Image = firstImage(f.Storage(key.Storage).SWImages)
		return d
	}
	v := f.VDU(key.VDUID)
	d.Image = firstImage(v.SWImages)
	d.CPUs, d.MemoryBytes = int(math.Ceil(v.CPUs)), v.MemoryBytes
	if v.Compute != nil {
		d.FlavorName, d.StorageBytes = v.Compute.FlavorName, v.Compute.DiskBytes
		d.ExtraSpecs = extraSpecs(v.Compute)
	}
	// A server that boots from a volume has its system there.
	if d.Image != nil && len(bootIndex(f, v)) == 0 {
		d.MemoryBytes = max(d.MemoryBytes, d.Image.MinRAMBytes)
		d.StorageBytes = max(d.StorageBytes, d.Image.MinDiskBytes)
	}
	return d
}

// specWords are demands in the words that VNFDs have for extra specs of flavors.
var specWords = []string{
	"cpu_cores", "cpu_policy", "cpu_sockets", "cpu_thread_policy", "cpu_threads", "emulator_threads_policy",
	"mem_page_size", "numa_nodes", "pci_numa_affinity_policy",
}

// extraSpecs are the demands that flavors of Nova meet by extra specs.
func extraSpecs(c *vnfm.Compute) map[string]string {
	specs := map[string]string{}
	if c.PinnedCPUs {
		specs["hw:cpu_policy"] = "dedicated"
	}
	if c.NUMA {
		specs["hw:numa_nodes"] = "1"
	}
	if len(c.HugePages) > 0 {
		specs["hw:mem_page_size"] = strconv.FormatInt(units(c.HugePages[0].PageSize, 1<<10), 10)
	}
	for key, value := range c.Requirements {
		switch {
		case strings.Contains(key, ":"):
			specs[key] = value
		case slices.Contains(specWords, key):
			specs["hw:"+key] = value
		}
	}
	if len(specs) == 0 {
		return nil
	}
	return specs
}

// unknownDemands are those that no extra spec is known for.
func unknownDemands(c *vnfm.Compute) []string {
	return slices.DeleteFunc(sorted(c.Requirements), func(key string) bool {
		return strings.Contains(key, ":") || slices.Contains(specWords, key)
	})
}

func firstImage(images []vnfm.SWImage) *vnfm.SWImage {
	if len(images) == 0 {
		return nil
	}
	return &images[0]
}

// The units in which Nova counts memory and disks.
const mib, gib = 1 << 20, 1 << 30

// flavorText stands for the flavor while the VIM was not asked.
func (d *Demand) flavorText() string {
	parts := []string{"a flavor"}
	if d.FlavorName != "" {
		parts = []string{"flavor " + d.FlavorName}
	} else {
		for _, p := range []struct {
			n    int64
			text string
		}{{int64(d.CPUs), "vCPU"}, {units(d.MemoryBytes, mib), "MiB of memory"}, {units(d.StorageBytes, gib), "GiB of disk"}} {
			if p.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", p.n, p.text))
			}
		}
	}
	for _, key := range sorted(d.ExtraSpecs) {
		parts = append(parts, key+"="+d.ExtraSpecs[key])
	}
	return strings.Join(parts, ", ")
}

// imageText stands for the image while the VIM was not asked.
func (d *Demand) imageText() string {
	text := "image " + d.Image.Name
	if d.Image.Name == "" {
		text += d.Image.ID
	}
	if d.Image.Version != "" {
		text += ", version " + d.Image.Version
	}
	if d.Image.ChecksumHash != "" {
		text += ", " + d.Image.ChecksumAlgo + " " + d.Image.ChecksumHash
	}
	return text
}
