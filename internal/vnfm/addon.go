package vnfm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Addon is a Helm chart on a workload cluster that belongs to the cluster: a network
// plugin, a cloud provider. It is installed as soon as the workload API answers, which
// is before the cluster is ready: nodes may be waiting for it.
type Addon struct {
	Source ChartSource `json:"source"`
	// Namespace is where the release is, which has the name of the add-on.
	Namespace string         `json:"namespace"`
	Values    map[string]any `json:"values,omitempty"`
	// After names the add-ons that must be ready before this one is installed. The others
	// are installed at the same time.
	After []string `json:"after,omitempty"`
	// Regenerate has results of random functions of the chart made again, once for each trigger.
	Regenerate *RegenerateSpec `json:"-"`
	// Unwanted is set, in a record, for one that the cluster is not described with and that
	// may hold something: it was taken out, or is on its way in.
	Unwanted bool `json:"unwanted,omitempty"`
}

// AttributeAddons is the argument that the add-ons of a workload cluster are.
const AttributeAddons = "addons"

// ListedAddons is the connection under which add-ons are listed among the objects of their
// cluster, where one entry sums up what an add-on consists of.
const ListedAddons = "add-on"

// AddonKey is how an add-on goes by among the objects of its cluster.
func AddonKey(name string) string { return ConnectionKey(ListedAddons, name) }

// releaseName is what Helm takes for the name of a release, and what a name must be that
// stands in keys and labels.
var releaseName = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$`)

// CheckAddons finds what no add-ons can have: names that no release has, and an order
// that cannot be kept.
func CheckAddons(all map[string]Addon) Problems {
	var ps Problems
	refuse := func(name, summary, detail string) {
		ps = append(ps, Problem{Attribute: AttributeAddons, Key: name, Summary: summary, Detail: detail})
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !releaseName.MatchString(name) {
			refuse(name, fmt.Sprintf("%q is not a valid add-on name", name),
				"the release of its chart has this name: lower case letters, digits and hyphens, 53 at most")
		}
		for _, before := range all[name].After {
			if _, ok := all[before]; !ok {
				refuse(name, fmt.Sprintf("add-on %q comes after %q, which is not an add-on", name, before),
					"the add-ons are "+strings.Join(slices.Sorted(maps.Keys(all)), ", "))
			}
		}
	}
	if _, cycle := AddonOrder(all); len(cycle) > 0 && !ps.HasErrors() {
		refuse(cycle[0], "the order of the add-ons is circular",
			fmt.Sprintf("each of these comes after the next one: %s; remove one of them from after", strings.Join(append(cycle, cycle[0]), ", ")))
	}
	return ps
}

// AddonOrder returns the names so that each comes after those that it names, or, when
// there is no such order, those of a circle. Add-ons that do not exist are not waited for.
func AddonOrder(all map[string]Addon) (order, circle []string) {
	const (
		open = iota + 1
		done
	)
	state := map[string]int{}
	var path []string
	var visit func(name string) bool
	visit = func(name string) bool {
		switch state[name] {
		case done:
			return true
		case open:
			circle = slices.Clone(path[slices.Index(path, name):])
			return false
		}
		state[name] = open
		path = append(path, name)
		for _, before := range slices.Sorted(slices.Values(all[name].After)) {
			if _, ok := all[before]; ok && !visit(before) {
				return false
			}
		}
		path = path[:len(path)-1]
		state[name] = done
		order = append(order, name)
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !visit(name) {
			return nil, circle
		}
	}
	return order, nil
}
