package addons

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// WantedCluster is the description of a workload cluster that is changed to a spec: with the
// add-ons of the spec and, marked as unwanted, those that still have objects. They keep their
// description, since hooks of their charts may run when they are removed.
func WantedCluster(i *vnfm.Instance, spec *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	if spec == nil {
		return nil
	}
	unwanted := map[string]vnfm.Addon{}
	for _, item := range i.Inventory {
		name := item.Addon
		if name == "" {
			continue
		}
		unwanted[name] = vnfm.Addon{}
		if i.Cluster != nil {
			unwanted[name] = i.Cluster.Addons[name]
		}
	}
	return withUnwanted(spec, Wanted(spec.Addons), unwanted)
}

// AnnouncedCluster is the description of a workload cluster before a change: the present one
// with the new add-ons marked as unwanted. A process that resumes or reverts the change needs
// them to find what was installed.
func AnnouncedCluster(now, next *vnfm.ClusterSpec) *vnfm.ClusterSpec {
	if now == nil || next == nil {
		return now
	}
	return withUnwanted(now, now.Addons, next.Addons)
}

// withUnwanted is a description with add-ons, and with the former ones that are not among
// them as unwanted.
func withUnwanted(spec *vnfm.ClusterSpec, addons, former map[string]vnfm.Addon) *vnfm.ClusterSpec {
	out := *spec
	out.Addons = maps.Clone(addons)
	for name, a := range former {
		if _, known := out.Addons[name]; known {
			continue
		}
		if out.Addons == nil {
			out.Addons = map[string]vnfm.Addon{}
		}
		a.Unwanted = true
		out.Addons[name] = a
	}
	return &out
}

// Wanted are the add-ons that a workload cluster is described with.
func Wanted(all map[string]vnfm.Addon) map[string]vnfm.Addon {
	var out map[string]vnfm.Addon
	for name, a := range all {
		if a.Unwanted {
			continue
		}
		if out == nil {
			out = make(map[string]vnfm.Addon, len(all))
		}
		out[name] = a
	}
	return out
}

// Same reports whether a workload cluster has the add-ons that a spec says.
func Same(i *vnfm.Instance, spec vnfm.InstanceSpec) bool {
	if i.Cluster == nil || spec.Cluster == nil {
		return true
	}
	for name := range WantedCluster(i, spec.Cluster).Addons {
		if _, kept := spec.Cluster.Addons[name]; !kept {
			return false
		}
	}
	return encode(Wanted(i.Cluster.Addons)) == encode(Wanted(spec.Cluster.Addons))
}

// Regenerates reports whether results of random functions of an add-on are to be made again. Those of a paused cluster wait.
func Regenerates(i *vnfm.Instance, spec *vnfm.ClusterSpec) bool {
	if spec == nil || spec.IsPaused() {
		return false
	}
	for name, a := range spec.Addons {
		if a.Regenerate != nil && a.Regenerate.Trigger != i.AddonTriggers[name] {
			return true
		}
	}
	return false
}

// Triggers are the AddonTriggers of an instance whose add-ons were applied as a spec says, given those of before.
func Triggers(before map[string]string, spec *vnfm.ClusterSpec) map[string]string {
	if spec.IsPaused() {
		return before
	}
	var out map[string]string
	for name, a := range Wanted(spec.Addons) {
		trigger := before[name]
		if a.Regenerate != nil {
			trigger = a.Regenerate.Trigger
		}
		if trigger == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = trigger
	}
	return out
}

// encode returns what a record would hold of add-ons.
func encode(all map[string]vnfm.Addon) string {
	// Values from a record or a configuration can always be written as JSON.
	text, _ := json.Marshal(all)
	return string(text)
}

// hasAddons reports whether an inventory has something of an add-on.
func hasAddons(inventory []vnfm.InventoryItem) bool {
	return slices.ContainsFunc(inventory, func(item vnfm.InventoryItem) bool { return item.Addon != "" })
}
