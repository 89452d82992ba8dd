package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// DescribesContainers reports whether the VNFD describes the containers of at least one VDU.
func DescribesContainers(f *vnfm.Flavour) bool {
	return slices.ContainsFunc(f.VDUs, func(v vnfm.VDU) bool { return v.Workload != nil })
}

// Manifests returns the objects of all VDUs of the flavour, and the workload of each VDU. The mapping (vdu_mapping) gives a VDU
// another name or kind, so that one VNFD can be instantiated twice in a namespace.
func Manifests(t *vnfm.Target, mapping map[string]WorkloadRef, ps *vnfm.Problems) ([]Manifest, map[string]WorkloadRef) {
	tr := &translation{target: t, ps: ps, refs: map[string]WorkloadRef{}, hasClaim: map[string]bool{}}
	for i := range t.Flavour.VDUs {
		v := &t.Flavour.VDUs[i]
		if t.Part.IsForeign(v.ID) {
			continue
		}
		if v.Workload == nil {
			// A VDU on another VIM can be a server.
			if t.Part.Has(v.ID) {
				tr.problem(v.Place, fmt.Sprintf("the VNFD describes no container of VDU %q", v.ID),
					fmt.Sprintf("package %q lists no Kubernetes manifest, so that the VNFD must describe every VDU", t.Package.Name))
			}
			continue
		}
		for _, found := range v.Workload.Problems {
			tr.report(found)
		}
		if ref, ok := tr.workloadRef(v, mapping[v.ID]); ok && !v.Workload.Problems.HasErrors() {
			tr.refs[v.ID] = ref
		}
	}
	for i := range t.Flavour.VDUs {
		v := &t.Flavour.VDUs[i]
		if ref, ok := tr.refs[v.ID]; ok {
			tr.vdu(v, ref)
		}
	}
	return tr.made, tr.refs
}

// workloadRef returns the workload of a VDU: from vdu_mapping, else the kind in the VNFD, else a StatefulSet if each VNFC has
// exclusive storage, else a Deployment.
func (tr *translation) workloadRef(v *vnfm.VDU, mapped WorkloadRef) (WorkloadRef, bool) {
	ref := WorkloadRef{Kind: v.Workload.Kind, Name: v.Name}
	switch {
	case ref.Kind != "":
	case tr.hasOwnStorage(v):
		ref.Kind = "StatefulSet"
	default:
		ref.Kind = "Deployment"
	}
	if mapped.Name != "" {
		ref = mapped
	}
	if _, ok := workloadAPI[ref.Kind]; !ok {
		*tr.ps = append(*tr.ps, vnfm.Problem{
			Attribute: vnfm.AttributeParams, Key: ParamVDUMapping,
			Summary: fmt.Sprintf("additional parameter %q gives VDU %q the kind %q", ParamVDUMapping, v.ID, ref.Kind),
			Detail:  "a VDU whose containers the VNFD describes can be a " + strings.Join(slices.Sorted(maps.Keys(workloadAPI)), ", a "),
		})
		return ref, false
	}
	if ref.Kind != "StatefulSet" && tr.hasOwnStorage(v) {
		tr.problem(v.Place, fmt.Sprintf("VDU %q is a %s and has storage for each VNFC", v.ID, ref.Kind),
			"only a StatefulSet gives each VNFC storage of its own; per_vnfc_instance: false makes the storage a shared one")
		return ref, false
	}
	var ok bool
	ref.Name, ok = tr.name(v.Place, "VDU", ref.Name)
	return ref, ok
}

func (tr *translation) vdu(v *vnfm.VDU, ref WorkloadRef) {
	tr.configMaps(v, ref)
	tr.sharedClaims(v)
	tr.services(v, ref)
	tr.add(v.Place, tr.workload(v, ref, tr.podMetadata(v), tr.podSpec(v, ref)))
	tr.autoscaler(v, ref)
}

// workload makes the object that runs the pods, without replicas: those are set when the VDU is bound to its workload.
func (tr *translation) workload(v *vnfm.VDU, ref WorkloadRef, podMeta, podSpec map[string]any) map[string]any {
	meta := tr.metadata(v, ref.Name)
	content := map[string]any{"apiVersion": workloadAPI[ref.Kind], "kind": ref.Kind, "metadata": meta}
	if ref.Kind == "Pod" {
		maps.Copy(meta, podMeta)
		content["spec"] = podSpec
		return content
	}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": selectorOf(ref.Name)},
		"template": map[string]any{"metadata": podMeta, "spec": podSpec},
	}
	switch ref.Kind {
	case "StatefulSet":
		spec["serviceName"] = headlessName(ref.Name)
		if claims := tr.claimTemplates(v); len(claims) > 0 {
			spec["volumeClaimTemplates"] = claims
		}
	case "Deployment":
		if tr.hasAntiAffinity(v) {
			// With anti-affinity there may be no node for a surge pod.
			spec["strategy"] = map[string]any{
				"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)},
			}
		}
	}
	content["spec"] = spec
	return content
}
