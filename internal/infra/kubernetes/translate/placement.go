package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// topologies maps the scopes of affinity rules (SOL001 6.10.10) to the node labels that Kubernetes uses as topology keys. A scope
// without a label is the same for all pods of an instance.
var topologies = map[string]string{
	"nfvi_node":             "kubernetes.io/hostname",
	"cis_node":              "kubernetes.io/hostname",
	"network_link_and_node": "kubernetes.io/hostname",
	"zone":                  "topology.kubernetes.io/zone",
	"zone_group":            "topology.kubernetes.io/region",
	"nfvi_pop":              "",
	"container_namespace":   "",
}

func (tr *translation) affinity(v *vnfm.VDU) map[string]any {
	together, apart := tr.podTerms(v)
	out := map[string]any{}
	if len(together) > 0 {
		out["podAffinity"] = map[string]any{requiredTerm: together}
	}
	if len(apart) > 0 {
		out["podAntiAffinity"] = map[string]any{requiredTerm: apart}
	}
	if nodes := tr.nodeAffinity(v); len(nodes) > 0 {
		out["nodeAffinity"] = nodes
	}
	return out
}

const (
	requiredTerm  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerm = "preferredDuringSchedulingIgnoredDuringExecution"
)

// podTerms returns a term for each rule about the VDU. A rule about a VDU concerns the VDU's own VNFCs, a rule about a placement
// group its members.
func (tr *translation) podTerms(v *vnfm.VDU) (together, apart []any) {
	for i := range tr.target.Flavour.AffinityRules {
		rule := &tr.target.Flavour.AffinityRules[i]
		for _, target := range rule.Targets {
			names := tr.affinityWorkloads(rule, target, v)
			if len(names) == 0 {
				continue
			}
			key, known := topologies[rule.Scope]
			switch {
			case !known:
				tr.problem(rule.Place, fmt.Sprintf("the policy %q has the scope %q", rule.ID, rule.Scope),
					"a placement on Kubernetes has one of the scopes "+strings.Join(slices.Sorted(maps.Keys(topologies)), ", "))
				continue
			case key == "" && rule.Anti:
				tr.problem(rule.Place, fmt.Sprintf("the policy %q cannot be satisfied: all VNFCs of an instance have the same %s", rule.ID, rule.Scope), "remove the policy, or give it another scope")
				continue
			case key == "":
				continue
			}
			term := map[string]any{
				"topologyKey": key,
				"labelSelector": map[string]any{"matchExpressions": []any{
					map[string]any{"key": labelName, "operator": "In", "values": jsonList(names)},
				}},
			}
			if rule.Anti {
				apart = append(apart, term)
			} else {
				together = append(together, term)
			}
		}
	}
	return together, apart
}

// affinityWorkloads returns the workloads that a VDU must share a node or zone with, or must not. An affinity includes the VDU
// itself, because otherwise the first pod would wait forever for a pod of another workload.
func (tr *translation) affinityWorkloads(rule *vnfm.AffinityRule, target string, v *vnfm.VDU) []string {
	members, group := rule.Groups[target]
	if !group {
		members = []string{target}
	}
	if !slices.Contains(members, v.ID) {
		return nil
	}
	var names []string
	for _, id := range members {
		ref, ok := tr.refs[id]
		if ok && (id != v.ID || !group || !rule.Anti) {
			names = append(names, ref.Name)
		}
	}
	if group && !rule.Anti && len(names) == 1 {
		return nil
	}
	slices.Sort(names)
	return names
}

// hasAntiAffinity reports whether the VNFCs of a VDU must not share a node or a zone.
func (tr *translation) hasAntiAffinity(v *vnfm.VDU) bool {
	return slices.ContainsFunc(tr.target.Flavour.AffinityRules, func(r vnfm.AffinityRule) bool {
		return r.Anti && topologies[r.Scope] != "" && slices.Contains(r.Targets, v.ID)
	})
}

// nodeAffinity selects nodes with the labels that Node Feature Discovery sets for the capabilities, whatever their values.
func (tr *translation) nodeAffinity(v *vnfm.VDU) map[string]any {
	var must, should []any
	for _, c := range v.Workload.Capabilities {
		if faults := validation.IsQualifiedName(c.Name); len(faults) > 0 {
			tr.problem(v.Place, fmt.Sprintf("VDU %q requests the capability %q, which cannot be a label of a node", v.ID, c.Name), strings.Join(faults, "; ")+"; name a label that nodes can have")
			continue
		}
		exists := map[string]any{"key": c.Name, "operator": "Exists"}
		if c.Mandatory {
			must = append(must, exists)
		} else {
			should = append(should, map[string]any{"weight": int64(1), "preference": map[string]any{"matchExpressions": []any{exists}}})
		}
	}
	out := map[string]any{}
	if len(must) > 0 {
		out[requiredTerm] = map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": must}}}
	}
	if len(should) > 0 {
		out[preferredTerm] = should
	}
	return out
}
