package vnfd

import (
	"cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// requirement is one requirement of a node template with the node that fulfils it.
type requirement struct {
	entry
	node string
}

// requirements reads the short notation (name: node) and the extended one
// (name: {node: ..., capability: ..., relationship: ...}). A requirement that is
// null, or that only filters nodes, names no node.
func (n *node) requirements() []requirement {
	if n.asked {
		return n.reqs
	}
	n.asked = true
	var list []requirement
	for _, e := range n.get("requirements").entries() {
		n.tmpl.doc.r.values(5)
		req := requirement{entry: e}
		switch {
		case e.isText():
			req.node = e.str()
		case e.isMap():
			req.node = e.get("node").str()
		case e.ok():
			e.errorf("%s must name a node or be a mapping, not %s", e.path, describe(e.value))
		}
		list = append(list, req)
	}
	n.reqs = list
	return list
}

// required returns the nodes that fulfil the requirement of that name.
func (n *node) required(name string) []requirement {
	var list []requirement
	for _, req := range n.requirements() {
		if req.name == name && req.node != "" {
			list = append(list, req)
		}
	}
	return list
}

func (r *reader) readVDUs(f *indexed, t *template) {
	for _, n := range t.of(kindVDU, kindTackerVDU) {
		v := vnfm.VDU{
			ID:          n.name,
			Type:        n.typ,
			Name:        n.property("name").str(),
			Description: n.property("description").str(),
			SWImages:    r.images(n),
			Place:       n.key.written(),
		}
		// The name of the managed container infrastructure object is what the
		// workload is called on Kubernetes (SOL001 v4.2.1, 6.2.71).
		if id := n.property("mcio_identification_data").get("name"); id.isText() {
			v.Name = id.str()
		}
		v.Name = cmp.Or(v.Name, n.name)
		r.places.add(n.key, "flavour", f.ID, "vdu", n.name)
		r.readProfile(&v, f, n)
		n.get("capabilities").wantMaps("virtual_compute")
		n.at("capabilities", "virtual_compute").wantMaps("properties")
		n.at("capabilities", "virtual_compute", "properties").wantMaps("virtual_cpu", "virtual_memory")
		compute := n.at("capabilities", "virtual_compute", "properties")
		v.CPUs = compute.at("virtual_cpu", "num_virtual_cpu").number()
		v.MemoryBytes = compute.at("virtual_memory", "virtual_mem_size").bytes()
		for _, req := range n.required("virtual_storage") {
			v.StorageIDs = append(v.StorageIDs, req.node)
			r.places.add(req.value, "flavour", f.ID, "vdu", n.name, "storage", req.node)
		}
		v.Compute = r.readCompute(&v, n)
		f.VDUs = append(f.VDUs, v)
	}
}

func (r *reader) readProfile(v *vnfm.VDU, f *indexed, n *node) {
	v.MinInstances = 1
	profile := n.property("vdu_profile")
	if !profile.ok() && n.kind == kindTackerVDU {
		// Its limits are those of a scaling policy.
		return
	}
	if !profile.ok() {
		n.key.warnf("the VDU %s has no vdu_profile; it gets at least one instance and has no upper limit", n.name)
		return
	}
	if !profile.isMap() {
		profile.errorf("%s must be a mapping, not %s", profile.path, describe(profile))
		return
	}
	r.places.add(profile, "flavour", f.ID, "vdu", n.name, "profile")
	low, high := profile.get("min_number_of_instances"), profile.get("max_number_of_instances")
	lowest, hasMin := low.count()
	if hasMin {
		v.MinInstances = lowest
	}
	if highest, ok := high.count(); ok {
		v.MaxInstances = highest
		switch {
		case highest == 0:
			//findings:says set max_number_of_instances to 1 or more, or remove the VDU
			high.errorf("the VDU %s can have no instance: max_number_of_instances is 0", n.name)
		case hasMin && lowest > highest:
			low.errorf("the VDU %s needs at least %d instances (min_number_of_instances) but may have %d at most (max_number_of_instances)", n.name, lowest, highest)
		}
	}
}

func (r *reader) readStorages(f *indexed, t *template) {
	for _, n := range t.of(kindStorage) {
		s := vnfm.Storage{
			ID:       n.name,
			Type:     n.typ,
			PerVNFC:  n.property("per_vnfc_instance").flag(),
			SWImages: r.images(n),
			Place:    n.key.written(),
		}
		for _, data := range []string{"virtual_block_storage_data", "virtual_file_storage_data"} {
			if demands := n.property(data).get("vdu_storage_requirements"); demands.ok() {
				s.Demands = readTexts(demands)
			}
		}
		for _, size := range []value{
			n.property("virtual_block_storage_data").get("size_of_storage"),
			n.property("virtual_file_storage_data").get("size_of_storage"),
			n.property("virtual_object_storage_data").get("max_size_of_storage"),
			n.property("size_of_storage"),
		} {
			if size.ok() {
				s.SizeBytes = size.bytes()
				break
			}
		}
		r.places.add(n.key, "flavour", f.ID, "storage", n.name)
		f.Storages = append(f.Storages, s)
	}
}

// images reads the software images of a node: SwImage artifacts, whose
// properties say all from v3.3.1 on, and the property sw_image_data of v2.
func (r *reader) images(n *node) []vnfm.SWImage {
	var list []vnfm.SWImage
	for _, a := range n.get("artifacts").entries() {
		img := vnfm.SWImage{ID: a.name}
		switch {
		case a.isText():
			if a.name != "sw_image" {
				continue
			}
			img.File = a.str()
		case a.isMap():
			if typ := a.get("type").str(); r.types.kindOf(n.doc.scope, typ) != kindSWImage {
				continue
			}
			img.File = a.get("file").str()
			readImage(&img, a.get("properties"))
		default:
			a.errorf("%s must be a file or a mapping, not %s", a.path, describe(a.value))
			continue
		}
		list = append(list, img)
	}
	data := n.property("sw_image_data")
	if !data.ok() {
		return list
	}
	if !data.isMap() {
		data.errorf("%s must be a mapping, not %s", data.path, describe(data))
		return list
	}
	if len(list) == 0 {
		list = append(list, vnfm.SWImage{ID: n.name})
	}
	readImage(&list[0], data)
	return list
}

// readImage sets what the properties say and leaves the rest.
func readImage(img *vnfm.SWImage, props value) {
	for _, p := range []struct {
		v  value
		to *string
	}{
		{props.get("name"), &img.Name},
		{props.get("version"), &img.Version},
		{props.get("container_format"), &img.ContainerFormat},
		{props.get("disk_format"), &img.DiskFormat},
		{props.at("checksum", "algorithm"), &img.ChecksumAlgo},
		{props.at("checksum", "hash"), &img.ChecksumHash},
	} {
		if s, ok := p.v.text(); ok {
			*p.to = s
		}
	}
	for _, p := range []struct {
		name string
		to   *int64
	}{
		{"min_disk", &img.MinDiskBytes},
		{"min_ram", &img.MinRAMBytes},
		{"size", &img.SizeBytes},
	} {
		if v := props.get(p.name); v.ok() {
			*p.to = v.bytes()
		}
	}
}
