package multivim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// CheckConnections finds placements that the package does not allow.
func CheckConnections(p *vnfm.Package, f *vnfm.Flavour, connections map[string]vnfm.Connection, problems *vnfm.Problems) {
	vdus := f.VDUIDs()
	placed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(connections)) {
		refuse := func(summary, detail string) {
			*problems = append(*problems, vnfm.Problem{Attribute: vnfm.AttributeConnections, Key: name, Summary: summary, Detail: detail})
		}
		for _, id := range connections[name].VDUIDs {
			if !slices.Contains(vdus, id) {
				refuse("deployment flavour "+strconv.Quote(f.ID)+" has no VDU "+strconv.Quote(id), "its VDUs are "+vnfm.QuotedNames(vdus))
			}
			if other, twice := placed[id]; twice {
				refuse("VDU "+strconv.Quote(id)+" is placed twice", "VIM connection "+strconv.Quote(other)+" has it too")
			}
			placed[id] = name
		}
		for _, file := range connections[name].Manifests {
			if !slices.Contains(p.KubernetesFiles, file) {
				refuse("the package lists no Kubernetes manifest "+strconv.Quote(file), "its manifests are "+vnfm.QuotedNames(p.KubernetesFiles))
			}
		}
	}
}

// PlannedConnections are the connections of an instance that is led to a spec: those
// of the spec, and without a part those that are not wanted any more and still hold
// something.
func PlannedConnections(i *vnfm.Instance, spec vnfm.InstanceSpec) map[string]vnfm.Connection {
	out := maps.Clone(spec.Connections)
	if spec.Cluster != nil {
		// The parts of a workload cluster are its add-ons.
		return out
	}
	for _, item := range i.Inventory {
		if _, wanted := out[item.Connection]; wanted || item.Connection == "" {
			continue
		}
		if out == nil {
			out = map[string]vnfm.Connection{}
		}
		c := i.Connections[item.Connection]
		out[item.Connection] = vnfm.Connection{VIMID: c.VIMID, Namespace: c.Namespace}
	}
	return out
}

// SameConnections reports whether an instance is placed as a spec says.
func SameConnections(i *vnfm.Instance, spec vnfm.InstanceSpec) bool {
	want := PlannedConnections(i, spec)
	return len(i.Connections) == len(want) && (len(want) == 0 || reflect.DeepEqual(i.Connections, want))
}

// CheckConnectionsStay checks that no connection keeps its name and moves to another VIM or
// namespace: the objects in the old one would be lost. vim names a VIM in the error.
func CheckConnectionsStay(i *vnfm.Instance, spec vnfm.InstanceSpec, vim func(id string) string) error {
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		old, there := i.Connections[name]
		if c := spec.Connections[name]; there && (old.VIMID != c.VIMID || old.Namespace != c.Namespace) {
			return fmt.Errorf("VIM connection %q of VNF instance %q is namespace %q of VIM %q and cannot move to namespace %q of VIM %q: give the new location another name",
				name, i.Name, old.Namespace, vim(old.VIMID), c.Namespace, vim(c.VIMID))
		}
	}
	return nil
}

// links are the networks for what the VIM has of an instance: those of connection points of its VDUs. Links of no VDU, such as an
// internal virtual link, are for every VIM that has one without containers.
func (v *vimTarget) links(f *vnfm.Flavour, all vnfm.Links) vnfm.Links {
	part := &v.part
	if v.unlinked {
		return vnfm.Links{}
	}
	machines := slices.ContainsFunc(f.VDUs, func(v vnfm.VDU) bool { return v.Workload == nil && part.Has(v.ID) })
	vdus := map[string]string{}
	foreign := map[string]bool{}
	for _, cp := range f.ConnectionPoints {
		vdus[cp.ID] = cp.VDUID
		if known, seen := foreign[cp.VirtualLinkID]; !seen || known {
			foreign[cp.VirtualLinkID] = part.IsForeign(cp.VDUID)
		}
	}
	var out vnfm.Links
	for name, link := range all.External {
		here := vnfm.ExtVirtualLink{ResourceID: link.ResourceID, ExtCPs: map[string]vnfm.ExtCP{}}
		for id, cp := range link.ExtCPs {
			if vdu := vdus[id]; vdu == "" && machines || vdu != "" && part.Has(vdu) {
				here.ExtCPs[id] = cp
			}
		}
		if len(here.ExtCPs) > 0 {
			if out.External == nil {
				out.External = map[string]vnfm.ExtVirtualLink{}
			}
			out.External[name] = here
		}
	}
	for id, network := range all.Managed {
		if machines && !foreign[id] {
			if out.Managed == nil {
				out.Managed = map[string]string{}
			}
			out.Managed[id] = network
		}
	}
	return out
}
