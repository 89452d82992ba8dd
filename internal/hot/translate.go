package hot

import (
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// templateVersion is that of translated templates: the first that has all they use is
// older, and Heat has known it since 2018.
const templateVersion = "2018-08-31"

// translate makes the templates of a flavour without BaseHOT: one for the server of each
// VDU with its ports and volumes, and over them the networks, server groups and security
// groups. They are in the style of Tacker's Standard class, so that all that comes after
// knows one form. Names are those of the VNFD.
func translate(b *budget.Budget, p *vnfm.Package, f *vnfm.Flavour) (*Source, vnfm.Problems) {
	tr := &translation{p: p, f: f, resources: map[string]any{}, at: map[string]vnfm.Place{}}
	tr.networks()
	tr.securityGroups()
	tr.serverGroups()
	s := &Source{Translated: true, Files: map[string]string{}, VDUs: map[string]VDU{}, nested: map[string]*template{}, work: b.Steps, values: b.Values}
	for i := range f.VDUs {
		v := &f.VDUs[i]
		file := v.ID + ".yaml"
		text := tr.server(v, file)
		s.Files[file] = text
		s.nested[file] = parse(b, file, []byte(text), &tr.problems)
	}
	s.Top = map[string]any{
		"heat_template_version": templateVersion,
		"description":           "Deployment flavour " + f.ID,
		"parameters":            map[string]any{nfv: map[string]any{"type": "json"}},
		"resources":             tr.resources,
	}
	s.top = &template{file: tr.file(), body: s.Top, resources: tr.at}
	if tr.problems.HasErrors() {
		return nil, tr.problems
	}
	s.findVDUs(f, nil, &tr.problems)
	s.findCopies(f, &tr.problems)
	return s, tr.problems
}

// without is a flavour without some of its VDUs and what is for them alone: their connection points, the virtual links that connect
// no others, and what the policies say of both.
func without(f *vnfm.Flavour, vdus []string) *vnfm.Flavour {
	if len(vdus) == 0 {
		return f
	}
	out := *f
	out.VDUs = slices.DeleteFunc(slices.Clone(f.VDUs), func(v vnfm.VDU) bool { return slices.Contains(vdus, v.ID) })
	var gone []string
	kept, left := map[string]bool{}, map[string]bool{}
	out.ConnectionPoints = nil
	for _, cp := range f.ConnectionPoints {
		if slices.Contains(vdus, cp.VDUID) {
			gone, left[cp.VirtualLinkID] = append(gone, cp.ID), true
			continue
		}
		kept[cp.VirtualLinkID] = true
		out.ConnectionPoints = append(out.ConnectionPoints, cp)
	}
	out.VirtualLinks = slices.DeleteFunc(slices.Clone(f.VirtualLinks), func(vl vnfm.VirtualLink) bool { return left[vl.ID] && !kept[vl.ID] })
	out.SecurityGroupRules = nil
	for _, rule := range f.SecurityGroupRules {
		targets := slices.DeleteFunc(slices.Clone(rule.Targets), func(cp string) bool { return slices.Contains(gone, cp) })
		if len(targets) > 0 || len(rule.Targets) == 0 {
			rule.Targets = targets
			out.SecurityGroupRules = append(out.SecurityGroupRules, rule)
		}
	}
	return &out
}

// translation is one under way.
type translation struct {
	p *vnfm.Package
	f *vnfm.Flavour
	// resources are those of the top-level template, at is where the VNFD has what they
	// come from.
	resources map[string]any
	at        map[string]vnfm.Place
	// groups are the server groups by VDU, guards the security groups by connection
	// point, subnets the resources by virtual link.
	groups   map[string]string
	guards   map[string][]string
	subnets  map[string][]string
	problems vnfm.Problems
}

// file is the file of the VNFD that the flavour is in.
func (tr *translation) file() string {
	for _, v := range tr.f.VDUs {
		if v.Place.File != "" {
			return v.Place.File
		}
	}
	return ""
}

// add makes a resource of the top-level template.
func (tr *translation) add(name, typ string, properties map[string]any, at vnfm.Place) map[string]any {
	if _, taken := tr.resources[name]; taken {
		errorAt(&tr.problems, at, "%s is the name of two resources of the stack; give one of the nodes and policies of the VNFD another name", name)
	}
	resource := map[string]any{"type": typ}
	if len(properties) > 0 {
		resource["properties"] = properties
	}
	tr.resources[name], tr.at[name] = resource, at
	return resource
}

// unit is the nested template of a VDU as it grows. Each parameter is given by a
// property of the resource in the top-level template.
type unit struct {
	parameters, properties, resources, conditions map[string]any
}

// parameter declares one and gives its value; it returns the call that reads it.
func (u *unit) parameter(name, typ string, value any) map[string]any {
	u.parameters[name] = map[string]any{"type": typ}
	u.properties[name] = value
	return map[string]any{fnParam: name}
}

// ask is the call for a leaf of the parameter nfv.
func ask(section, name, key string) map[string]any {
	return map[string]any{fnParam: []any{nfv, section, name, key}}
}

// server makes the nested template of a VDU.
func (tr *translation) server(v *vnfm.VDU, file string) string {
	if v.OfContainers() {
		errorAt(&tr.problems, v.Place, "the VDU %s consists of containers, which OpenStack cannot run; deploy the package on Kubernetes", v.ID)
	}
	u := &unit{map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}}
	server := map[string]any{
		"name": u.parameter("name", "string", map[string]any{"list_join": []any{"-", []any{map[string]any{fnParam: "OS::stack_name"}, ask("VDU", v.ID, "name")}}}),
		// Nova takes an empty zone for none.
		"availability_zone": u.parameter("zone", "string", ask("VDU", v.ID, "locationConstraints")),
		"flavor":            u.parameter("flavor", "string", ask("VDU", v.ID, "computeFlavourId")),
	}
	needs := tr.ports(u, v, server)
	tr.disks(u, v, server)
	tr.boot(v, server)
	if group := tr.groups[v.ID]; group != "" {
		server["scheduler_hints"] = map[string]any{"group": u.parameter("group", "string", map[string]any{fnResource: group})}
	}
	u.resources[v.ID] = map[string]any{"type": serverType, "properties": server}
	if resource := tr.add(v.ID, file, u.properties, v.Place); len(needs) > 0 {
		resource["depends_on"] = listOf(needs)
	}
	body := map[string]any{
		"heat_template_version": templateVersion, "description": "VDU " + v.ID,
		"parameters": u.parameters, "resources": u.resources,
	}
	if len(u.conditions) > 0 {
		body["conditions"] = u.conditions
	}
	text, err := yaml.Marshal(body)
	if err != nil {
		//findings:says replace what the reason names by a value that YAML has
		errorAt(&tr.problems, v.Place, "the VDU %s cannot be written as a template: %v", v.ID, err)
	}
	return string(text)
}

// disks makes the volumes of a VDU, and says what the server boots from: the storages
// with an image in the boot order, else the VDU's own image, else whatever storage has one.
func (tr *translation) disks(u *unit, v *vnfm.VDU, server map[string]any) {
	index := bootIndex(tr.f, v)
	var devices []any
	before := ""
	for _, id := range v.StorageIDs {
		st := tr.f.Storage(id)
		if st == nil || !tr.isBlock(v, st) {
			continue
		}
		volume := map[string]any{fnResource: id}
		switch {
		case st.PerVNFC:
			u.resources[id] = map[string]any{"type": "OS::Cinder::Volume", "properties": tr.volume(st, func(leaf map[string]any) map[string]any {
				return u.parameter("image-"+id, "string", leaf)
			})}
		default:
			if owner(tr.f, id) == v.ID {
				tr.shared(st)
				tr.add(id, "OS::Cinder::Volume", tr.volume(st, func(leaf map[string]any) map[string]any { return leaf }), st.Place)
			}
			volume = u.parameter("volume-"+id, "string", map[string]any{fnResource: id})
		}
		if at, boots := index[id]; boots {
			devices = append(devices, map[string]any{"volume_id": volume, "boot_index": at})
			continue
		}
		// Not one of the server's block devices: when the server is replaced, an attachment takes the
		// volume along, while Nova refuses a server with a volume that the one before still has.
		attachment := map[string]any{"type": "OS::Cinder::VolumeAttachment", "properties": map[string]any{
			"instance_uuid": map[string]any{fnResource: v.ID}, "volume_id": volume,
		}}
		// One after the other: Nova names the devices in the order in which it is asked.
		if before != "" {
			attachment["depends_on"] = before
		}
		before = "attachment-" + id
		u.resources[before] = attachment
	}
	if len(devices) > 0 {
		server["block_device_mapping_v2"] = devices
	}
	switch {
	case len(index) > 0:
	case len(v.SWImages) > 0:
		server["image"] = u.parameter("image", "string", ask("VDU", v.ID, "vcImageId"))
	default:
		//findings:says add an artifact of type tosca.artifacts.nfv.SwImage to the VDU or to a storage that it requires
		errorAt(&tr.problems, v.Place, "the VDU %s has nothing to boot from: neither it nor one of its storages has a software image", v.ID)
	}
}

// bootIndex numbers the storages that a VDU boots from.
func bootIndex(f *vnfm.Flavour, v *vnfm.VDU) map[string]int {
	index := map[string]int{}
	order := v.StorageIDs
	if v.Compute != nil && len(v.Compute.BootOrder) > 0 {
		order = v.Compute.BootOrder
	} else if len(v.SWImages) > 0 {
		return index
	}
	for _, id := range order {
		if st := f.Storage(id); st != nil && len(st.SWImages) > 0 {
			index[id] = len(index)
		}
	}
	return index
}

// shared warns of a volume for several servers that Cinder gives to one.
func (tr *translation) shared(st *vnfm.Storage) {
	if st.Demands[volumeType] == "" {
		tr.problems.Warnf(st.Place.File, st.Place.Line, st.Place.Column,
			"the storage %s is shared (per_vnfc_instance), and Cinder attaches a volume to several servers only if its type allows it; name one by %s in vdu_storage_requirements", st.ID, volumeType)
	}
}

// volumeType is the storage requirement that names a type of volumes.
const volumeType = "volume_type"

func (tr *translation) isBlock(v *vnfm.VDU, st *vnfm.Storage) bool {
	for _, other := range []string{"VirtualFileStorage", "VirtualObjectStorage"} {
		if strings.HasSuffix(st.Type, other) {
			//findings:says use a VirtualBlockStorage for a volume, or remove the storage from the VDU
			tr.problems.Warnf(st.Place.File, st.Place.Line, st.Place.Column, "the storage %s of the VDU %s is a %s, for which no volume is made", st.ID, v.ID, other)
			return false
		}
	}
	return true
}

func (tr *translation) volume(st *vnfm.Storage, image func(map[string]any) map[string]any) map[string]any {
	if st.SizeBytes <= 0 {
		//findings:says add size_of_storage, for example 10 GB
		errorAt(&tr.problems, st.Place, "the storage %s has no size_of_storage", st.ID)
	}
	volume := map[string]any{"size": units(st.SizeBytes, gib)}
	if len(st.SWImages) > 0 {
		volume["image"] = image(ask("VDU", st.ID, "vcImageId"))
	}
	if typ := st.Demands[volumeType]; typ != "" {
		volume[volumeType] = typ
	}
	return volume
}

// boot gives a server its boot data.
func (tr *translation) boot(v *vnfm.VDU, server map[string]any) {
	if v.Compute == nil {
		return
	}
	tr.problems = append(tr.problems, v.Compute.Problems...)
	for _, key := range unknownDemands(v.Compute) {
		tr.problems.Warnf(v.Place.File, v.Place.Line, v.Place.Column, "the VDU %s demands %q, which OpenStack does not know; it must be an extra spec of a flavor, such as hw:mem_page_size", v.ID, key)
	}
	data := v.Compute.BootData
	if data == nil {
		return
	}
	text := data.Content
	if file := tr.inPackage(data); file != "" {
		content, err := fs.ReadFile(tr.p.Content, file)
		if text = string(content); err != nil {
			//findings:says the archive may be damaged: obtain or pack it again
			errorAt(&tr.problems, data.Place, "the boot data of the VDU %s cannot be read from %s: %v", v.ID, file, err)
		}
	} else if data.File != "" {
		//findings:says add the file, or write source_path as its path in the package
		errorAt(&tr.problems, data.Place, "the boot data of the VDU %s are in %s, which is not in the package", v.ID, data.File)
	}
	server["config_drive"] = true
	if text != "" {
		server["user_data_format"], server["user_data"] = "RAW", text
	}
	if len(data.Values) > 0 {
		metadata := map[string]any{}
		for key, value := range data.Values {
			metadata[key] = value
		}
		server["metadata"] = metadata
	}
}
