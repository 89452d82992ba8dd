package vnfd

import (
	"maps"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readWorkloads reads what the VDUs of a flavour run, as far as the VNFD says so
// itself. The containers of a VDU that an Mciop stands for are those of its chart.
func (r *reader) readWorkloads(f *indexed, t *template) {
	charted := map[string]bool{}
	for _, n := range t.of(kindMciop) {
		for _, req := range n.required("associatedVdu") {
			charted[req.node] = true
		}
	}
	all := r.containers(t)
	for _, n := range t.of(kindVDU, kindTackerVDU) {
		v := f.VDU(n.name)
		required := r.requiredContainers(all, v, n)
		w := &vnfm.Workload{}
		w.Problems = r.aside(func() {
			switch {
			case n.kind == kindTackerVDU:
				readLegacy(w, v, n)
			case len(required) > 0:
				for _, at := range required {
					c, found := all.get(at)
					w.Containers = append(w.Containers, c)
					r.steps(len(found))
					r.problems = append(r.problems, found...)
				}
			default:
				w.Containers = r.computeContainer(v, n)
			}
			if len(w.Containers) > 0 {
				readKind(w, n)
				readPlacement(w, n)
				readAttachments(w, f, t, n)
			}
		})
		if !charted[n.name] && len(w.Containers)+len(w.Problems) > 0 {
			v.Workload = w
		}
	}
	r.readVirtualCPs(f, t)
}

// aside runs a function and returns the problems that it finds instead of reporting them.
func (r *reader) aside(read func()) vnfm.Problems {
	before := len(r.problems)
	defer func() { r.problems = r.problems[:before] }()
	read()
	return append(vnfm.Problems(nil), r.problems[before:]...)
}

// containerValues is how many values a container counts as for each VDU that requires it.
const containerValues = 8

// requiredContainers finds the containers that a VDU requires and adds up their demands.
func (r *reader) requiredContainers(all *containers, v *vnfm.VDU, n *node) []*node {
	var list []*node
	for _, req := range n.required("container") {
		c, ok := all.nodes[req.node]
		if !ok {
			//findings:says name a node of type tosca.nodes.nfv.Vdu.OsContainer in the requirement
			req.errorf("the VDU %s requires the container %q, which is not an OsContainer of the flavour", n.name, req.node)
			continue
		}
		r.values(containerValues)
		// requested_cpu_resources counts thousandths of a CPU.
		v.CPUs += c.property("requested_cpu_resources").number() / 1000
		v.MemoryBytes += c.property("requested_memory_resources").bytes()
		v.SWImages = append(v.SWImages, r.images(c)...)
		list = append(list, c)
	}
	return list
}

// computeContainer reads a Vdu.Compute whose image is one of a container. A
// server owns its resources, so the container requests its limits.
func (r *reader) computeContainer(v *vnfm.VDU, n *node) []vnfm.Container {
	if len(v.SWImages) != 1 || !strings.EqualFold(v.SWImages[0].ContainerFormat, "docker") {
		return nil
	}
	compute := n.at("capabilities", "virtual_compute", "properties")
	cpus, memory := int64(v.CPUs*1000), v.MemoryBytes
	var disk int64
	for _, local := range compute.get("virtual_local_storage").items() {
		disk += local.get("size_of_storage").bytes()
	}
	return []vnfm.Container{{
		ID: v.ID, Name: v.Name, Image: r.imageOf(n), Place: n.key.written(),
		Resources: vnfm.Resources{
			CPURequest: cpus, CPULimit: cpus, MemoryRequest: memory, MemoryLimit: memory, StorageRequest: disk, StorageLimit: disk,
			HugePages:  readHugePages(compute.at("virtual_memory", "huge_pages_requirements")),
			PinnedCPUs: readPinning(compute.at("virtual_cpu", "virtual_cpu_pinning")),
			NUMA:       compute.at("virtual_memory", "numa_enabled").ok() && compute.at("virtual_memory", "numa_enabled").flag(),
		},
	}}
}

// mcioKinds are the types of mcio_identification_data that a VDU can have, in
// lower case: ETSI itself writes StatefulSet in two ways.
var mcioKinds = map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet", "pod": "Pod"}

// readKind reads which kind of object realizes the VDU.
func readKind(w *vnfm.Workload, n *node) {
	typ := n.property("mcio_identification_data").get("type")
	if s, ok := typ.text(); ok {
		if w.Kind, ok = mcioKinds[strings.ToLower(s)]; !ok {
			typ.errorf("the VDU %s is a %q; its containers can run in a DaemonSet, Deployment, Pod or StatefulSet", n.name, s)
		}
	}
	everywhere := n.property("is_num_of_instances_cluster_based")
	if !everywhere.ok() || !everywhere.flag() {
		return
	}
	if w.Kind != "" && w.Kind != "DaemonSet" {
		everywhere.errorf("the VDU %s runs on every node (is_num_of_instances_cluster_based), which a %s does not; set its mcio_identification_data.type to DaemonSet", n.name, w.Kind)
		return
	}
	w.Kind = "DaemonSet"
}

// readPlacement reads what a VDU demands of the nodes that it runs on.
func readPlacement(w *vnfm.Workload, n *node) {
	compute := n.at("capabilities", "virtual_compute", "properties")
	labels := map[string]string{}
	for _, logical := range []value{n.property("logical_node"), compute.get("logical_node")} {
		for _, e := range logical.entries() {
			maps.Copy(labels, readTexts(e.get("logical_node_requirements")))
		}
	}
	maps.Copy(labels, readLabels(n.property("nfvi_constraints")))
	if len(labels) > 0 {
		w.NodeLabels = labels
	}
	for _, wanted := range []value{n.property("requested_additional_capabilities"), compute.get("requested_additional_capabilities")} {
		for _, e := range wanted.entries() {
			name, ok := e.get("requested_additional_capability_name").text()
			if !ok {
				if !e.get("requested_additional_capability_name").ok() {
					//findings:says add requested_additional_capability_name, or remove the capability
					e.key.errorf("%s has no requested_additional_capability_name", e.path)
				}
				continue
			}
			must := e.get("support_mandatory")
			w.Capabilities = append(w.Capabilities, vnfm.NodeCapability{Name: name, Mandatory: must.ok() && must.flag()})
		}
	}
}

// readTexts reads a mapping of texts.
func readTexts(v value) map[string]string {
	var all map[string]string
	for _, e := range v.entries() {
		if text, ok := e.text(); ok {
			if all == nil {
				all = map[string]string{}
			}
			all[e.name] = text
		}
	}
	return all
}

// The keys of network_interface_requirements that mean something on Kubernetes, as
// Multus and the SR-IOV device plugin write them.
const (
	requiredNetwork  = "k8s.v1.cni.cncf.io/networks"
	requiredResource = "k8s.v1.cni.cncf.io/resourceName"
)

// readAttachments reads the networks that the connection points of a VDU lead to
// besides the network of the cluster, and the devices behind them.
func readAttachments(w *vnfm.Workload, f *indexed, t *template, n *node) {
	for _, cp := range f.pointsOf(n.name) {
		if l := f.VirtualLink(cp.VirtualLinkID); l != nil && l.NetworkName != "" {
			w.Networks = append(w.Networks, l.NetworkName)
		}
		at := t.byName[cp.ID]
		wanted := map[string]string{}
		for _, item := range at.property("virtual_network_interface_requirements").items() {
			maps.Copy(wanted, readTexts(item.get("network_interface_requirements")))
		}
		if network, ok := wanted[requiredNetwork]; ok {
			w.Networks = append(w.Networks, network)
		}
		device, ok := wanted[requiredResource]
		if ok {
			first := &w.Containers[0].Resources
			first.Extended = maps.Clone(first.Extended)
			if first.Extended == nil {
				first.Extended = map[string]int64{}
			}
			first.Extended[device]++
		}
		if vnic := at.property("vnic_type"); !ok && strings.HasPrefix(vnic.str(), "direct") {
			vnic.warnf("the connection point %s needs a device (vnic_type %s) and does not name it: name it by %s in its network_interface_requirements", cp.ID, vnic.str(), requiredResource)
		}
	}
}
