// Package translate makes Kubernetes objects of the VDUs whose containers a VNFD describes:
// workloads, Services, autoscalers, ConfigMaps, volume claims and placement rules.
package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// labelName identifies the pods of a VDU. Selectors use no other label: they are immutable,
// so that nothing may be in them that a new package or another name of the instance
// changes.
const labelName = "app.kubernetes.io/name"

// ParamVDUMapping is the additional parameter that names the workload of a VDU.
const ParamVDUMapping = "vdu_mapping"

// WorkloadRef names the workload of a VDU.
type WorkloadRef struct {
	Kind, Name string
}

// Manifest is an object that the VNFD asks for, with its place in the VNFD.
type Manifest struct {
	Place   vnfm.Place
	Content map[string]any
}

// translation makes the objects of one target. Their names come from the VNFD alone, so
// that they are the same in every plan.
type translation struct {
	target *vnfm.Target
	ps     *vnfm.Problems
	made   []Manifest
	// refs are the workloads of the VDUs.
	refs map[string]WorkloadRef
	// hasClaim are the shared storages that already have a claim.
	hasClaim map[string]bool
}

// DescribesContainers reports whether the VNFD describes the containers of a VDU.
func DescribesContainers(f *vnfm.Flavour) bool {
	return slices.ContainsFunc(f.VDUs, func(v vnfm.VDU) bool { return v.Workload != nil })
}

// Manifests makes the objects of all VDUs of the flavour and returns the workload of
// each VDU as well. The mapping (vdu_mapping) gives a VDU another name or kind: that way
// one VNFD can be instantiated twice in a namespace.
func Manifests(t *vnfm.Target, mapping map[string]WorkloadRef, ps *vnfm.Problems) ([]Manifest, map[string]WorkloadRef) {
	tr := &translation{target: t, ps: ps, refs: map[string]WorkloadRef{}, hasClaim: map[string]bool{}}
	for i := range t.Flavour.VDUs {
		v := &t.Flavour.VDUs[i]
		if v.Workload == nil {
			// A VDU on another VIM need not consist of containers.
			if t.Part.Has(v.ID) {
				tr.problem(v.Place, fmt.Sprintf("the VNFD describes no container of VDU %q", v.ID),
					fmt.Sprintf("package %q lists no Kubernetes manifest, so that the VNFD has to describe every VDU", t.Package.Name))
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

// workloadRef returns the workload of a VDU: what the instance says, else what the VNFD says, else
// a StatefulSet when each VNFC has storage of its own and a Deployment otherwise.
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

// workloadAPI maps the kinds of workloads to their API.
var workloadAPI = map[string]string{"DaemonSet": "apps/v1", "Deployment": "apps/v1", "Pod": "v1", "StatefulSet": "apps/v1"}

// vdu makes the objects of one VDU.
func (tr *translation) vdu(v *vnfm.VDU, ref WorkloadRef) {
	tr.configMaps(v, ref)
	tr.sharedClaims(v)
	tr.services(v, ref)
	tr.add(v.Place, tr.workload(v, ref, tr.podMetadata(v), tr.podSpec(v, ref)))
	tr.autoscaler(v, ref)
}

// workload makes the object that runs the pods. The replicas are added when the VDU
// is bound to it.
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
			// An additional pod may find no node.
			spec["strategy"] = map[string]any{
				"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)},
			}
		}
	}
	content["spec"] = spec
	return content
}

func selectorOf(name string) map[string]any { return map[string]any{labelName: name} }

// metadata is that of every object of a VDU.
func (tr *translation) metadata(v *vnfm.VDU, name string) map[string]any {
	meta := map[string]any{"name": name, "labels": tr.labels(v)}
	if v.Workload.Namespace != "" {
		meta["namespace"] = v.Workload.Namespace
	}
	return meta
}

// labels are the labels of the VDU in the VNFD, and the driver's.
func (tr *translation) labels(v *vnfm.VDU) map[string]any {
	labels := map[string]any{}
	for key, value := range v.Workload.Labels {
		tr.checkLabel(v.Place, "label", key, value)
		labels[key] = value
	}
	labels[labelName] = tr.refs[v.ID].Name
	return labels
}

// checkLabel rejects what is no label of Kubernetes; what says what the label is for.
func (tr *translation) checkLabel(at vnfm.Place, what, key, value string) {
	if faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(faults) > 0 {
		tr.problem(at, fmt.Sprintf("the %s %s: %s cannot be a label of Kubernetes", what, key, value), strings.Join(faults, "; "))
	}
}

// name makes the name of an object from a name in the VNFD.
func (tr *translation) name(at vnfm.Place, what, written string) (string, bool) {
	name := kubernetesName(written)
	if faults := validation.IsDNS1035Label(name); len(faults) > 0 {
		tr.problem(at, fmt.Sprintf("the %s %q cannot give a Kubernetes object its name", what, written), strings.Join(faults, "; "))
		return name, false
	}
	return name, true
}

// qualifiedName returns the name of an object that belongs to a VDU and has a name of its own in
// the VNFD. It carries the name that the instance gives the VDU, so that another instance
// can use the original one.
func (tr *translation) qualifiedName(v *vnfm.VDU, name string) string {
	if own, ok := tr.refs[v.ID]; ok && own.Name != kubernetesName(v.Name) {
		return own.Name + "-" + name
	}
	return name
}

// kubernetesName turns a name of the VNFD into one for Kubernetes.
func kubernetesName(written string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(written))
}

// problem reports a problem at a place of the VNFD.
func (tr *translation) problem(at vnfm.Place, summary, detail string) {
	tr.report(vnfm.Problem{File: at.File, Line: at.Line, Column: at.Column, Summary: summary, Detail: detail})
}

// report adds a problem once, however many objects have it.
func (tr *translation) report(p vnfm.Problem) {
	if !slices.Contains(*tr.ps, p) {
		*tr.ps = append(*tr.ps, p)
	}
}

// add adds an object with its place in the VNFD.
func (tr *translation) add(at vnfm.Place, content map[string]any) {
	tr.made = append(tr.made, Manifest{Place: at, Content: content})
}
