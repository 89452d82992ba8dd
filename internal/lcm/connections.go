package lcm

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const attributeConnections = "vim_connections"

// checkConnections finds placements that the package does not allow.
func checkConnections(p *vnfm.Package, f *vnfm.Flavour, connections map[string]vnfm.Connection, problems *vnfm.Problems) {
	placed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(connections)) {
		refuse := func(summary, detail string) {
			*problems = append(*problems, vnfm.Problem{Attribute: attributeConnections, Key: name, Summary: summary, Detail: detail})
		}
		for _, id := range connections[name].VDUIDs {
			if f.VDU(id) == nil {
				refuse("deployment flavour "+quote(f.ID)+" has no VDU "+quote(id), "its VDUs are "+listOf(f.VDUIDs()))
			}
			if other, twice := placed[id]; twice {
				refuse("VDU "+quote(id)+" is placed twice", "VIM connection "+quote(other)+" has it too")
			}
			placed[id] = name
		}
		for _, file := range connections[name].Manifests {
			if !slices.Contains(p.KubernetesFiles, file) {
				refuse("the package lists no Kubernetes manifest "+quote(file), "its manifests are "+listOf(p.KubernetesFiles))
			}
		}
	}
}

// settleConnections fills the namespaces that were left out: an instance that is
// there keeps those that it has, else the VIM's default is taken. Two parts of an
// instance must not be in one place, where they would take each other's objects away.
func (e *Engine) settleConnections(ctx context.Context, spec *vnfm.InstanceSpec, present map[string]vnfm.Connection) error {
	if len(spec.Connections) == 0 {
		return nil
	}
	settled := make(map[string]vnfm.Connection, len(spec.Connections))
	places := map[string]string{spec.VIMID + "/" + spec.Namespace: "the instance's own"}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		c := spec.Connections[name]
		if c.Namespace == "" && present[name].VIMID == c.VIMID {
			c.Namespace = present[name].Namespace
		}
		vim, _, err := e.vimWithCredentials(ctx, c.VIMID)
		if err != nil {
			return fmt.Errorf("VIM connection %q: %w", name, err)
		}
		c.Namespace = namespaceOf(vnfm.InstanceSpec{Namespace: c.Namespace}, vim)
		place := c.VIMID + "/" + c.Namespace
		if other, twice := places[place]; twice {
			return &vnfm.InvalidError{Problems: vnfm.Problems{{
				Attribute: attributeConnections, Key: name,
				Summary: "namespace " + quote(c.Namespace) + " of VIM " + quote(vim.Name) + " is " + other + " place already",
				Detail:  "give the VIM connection another VIM or namespace",
			}}}
		}
		places[place] = "VIM connection " + quote(name) + "'s"
		settled[name] = c
	}
	spec.Connections = settled
	return nil
}

// wantedConnections are the connections of an instance that is led to a spec: those
// of the spec, and without a part those that are not wanted any more and still hold
// something.
func wantedConnections(i *vnfm.Instance, spec vnfm.InstanceSpec) map[string]vnfm.Connection {
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

// sameConnections reports whether an instance is placed as a spec says.
func sameConnections(i *vnfm.Instance, spec vnfm.InstanceSpec) bool {
	want := wantedConnections(i, spec)
	return len(i.Connections) == len(want) && (len(want) == 0 || reflect.DeepEqual(i.Connections, want))
}

// onVIM reports whether a part of an instance is on a VIM, or made with its credentials.
func onVIM(i *vnfm.Instance, vimID string) bool {
	if i.Cluster != nil && i.Cluster.OpenStack != nil && i.Cluster.OpenStack.VIMID == vimID {
		return true
	}
	return i.VIMID == vimID || slices.ContainsFunc(slices.Collect(maps.Values(i.Connections)), func(c vnfm.Connection) bool { return c.VIMID == vimID })
}

// instancesOn returns the instances that are, or have a part, on a VIM.
func instancesOn(ctx context.Context, s store.Store, vimID string) ([]*entry[vnfm.Instance], error) {
	all, err := list[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
	return slices.DeleteFunc(all, func(en *entry[vnfm.Instance]) bool { return !onVIM(&en.value, vimID) }), err
}

// unmovable checks that no connection leads to another place under the same name:
// what is in the old one would be lost sight of.
func unmovable(i *vnfm.Instance, spec vnfm.InstanceSpec) error {
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		old, there := i.Connections[name]
		if c := spec.Connections[name]; there && (old.VIMID != c.VIMID || old.Namespace != c.Namespace) {
			return fmt.Errorf("VIM connection %q of VNF instance %q is namespace %q of VIM %q and cannot move to namespace %q of VIM %q: give the new place another name",
				name, i.Name, old.Namespace, old.VIMID, c.Namespace, c.VIMID)
		}
	}
	return nil
}
