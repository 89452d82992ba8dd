package vnfd

import (
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readWorkloads reads what the VDUs of a flavour run, as far as the VNFD says so
// itself. The containers of a VDU that an Mciop stands for are those of its chart.
func (r *reader) readWorkloads(f *vnfm.Flavour, t *template) {
	charted := map[string]bool{}
	for _, n := range t.of(kindMciop) {
		for _, req := range n.required("associatedVdu") {
			charted[req.node] = true
		}
	}
	all := r.containers(t)
	for _, n := range t.of(kindVDU, kindTackerVDU) {
		v := f.VDU(n.name)
		w := &vnfm.Workload{}
		if n.kind == kindTackerVDU {
			readLegacy(w, v, n)
		} else if w.Containers = r.requiredContainers(all, v, n); len(w.Containers) == 0 {
			w.Containers = r.computeContainer(v, n)
		}
		if len(w.Containers) == 0 || charted[n.name] {
			continue
		}
		v.Workload = w
		readKind(w, n)
		readPlacement(w, n)
		readAttachments(w, f, t, n)
	}
	r.readVirtualCPs(f, t)
}

// requiredContainers reads the containers that a VDU requires and adds up their demands.
func (r *reader) requiredContainers(all *containers, v *vnfm.VDU, n *node) []vnfm.Container {
	var list []vnfm.Container
	for _, req := range n.required("container") {
		c, at, ok := all.get(req.node)
		if !ok {
			req.errorf("the VDU %s requires the container %q, which is no OsContainer of the flavour", n.name, req.node)
			continue
		}
		v.CPUs += float64(c.Resources.CPURequest) / 1000
		v.MemoryBytes += c.Resources.MemoryRequest
		v.SWImages = append(v.SWImages, r.images(at)...)
		list = append(list, c)
	}
	return list
}

// computeContainer reads a Vdu.Compute whose image is one of a container. What a
// server has is all its own, so that it requests what it may use.
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
		everywhere.errorf("the VDU %s runs on every node (is_num_of_instances_cluster_based), which a %s does not; its mcio_identification_data.type is DaemonSet then", n.name, w.Kind)
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
			for key, text := range readTexts(e.get("logical_node_requirements")) {
				labels[key] = text
			}
		}
	}
	if constraints := n.property("nfvi_constraints"); constraints.isMap() {
		for key, text := range readTexts(constraints) {
			labels[key] = text
		}
	}
	if len(labels) > 0 {
		w.NodeLabels = labels
	}
	for _, wanted := range []value{n.property("requested_additional_capabilities"), compute.get("requested_additional_capabilities")} {
		for _, e := range wanted.entries() {
			name, ok := e.get("requested_additional_capability_name").text()
			if !ok {
				if !e.get("requested_additional_capability_name").ok() {
					e.key.errorf("%s has no requested_additional_capability_name", e.path)
				}
				continue
			}
			must := e.get("support_mandatory")
			w.Capabilities = append(w.Capabilities, vnfm.NodeCapability{Name: name, Mandatory: must.ok() && must.flag()})
		}
	}
}

// readTexts reads a map of texts.
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
func readAttachments(w *vnfm.Workload, f *vnfm.Flavour, t *template, n *node) {
	for i := range f.ConnectionPoints {
		cp := &f.ConnectionPoints[i]
		if cp.VDUID != n.name {
			continue
		}
		if l := f.VirtualLink(cp.VirtualLinkID); l != nil && l.NetworkName != "" {
			w.Networks = append(w.Networks, l.NetworkName)
		}
		at := slices.IndexFunc(t.nodes, func(m *node) bool { return m.name == cp.ID })
		for _, item := range t.nodes[at].property("virtual_network_interface_requirements").items() {
			for key, text := range readTexts(item.get("network_interface_requirements")) {
				switch key {
				case requiredNetwork:
					w.Networks = append(w.Networks, text)
				case requiredResource:
					first := &w.Containers[0].Resources
					if first.Extended == nil {
						first.Extended = map[string]int64{}
					}
					first.Extended[text]++
				}
			}
		}
	}
}
