// Package translate makes Kubernetes objects from a VNFD that describes the containers of its VDUs: workloads with placement rules,
// Services, autoscalers, ConfigMaps and volume claims.
package translate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// labelName identifies the pods of a VDU. Selectors use no other label, because they are immutable, and a new package or another name
// of the instance can change other labels.
const labelName = "app.kubernetes.io/name"

// ParamVDUMapping is the additional parameter that names the workload of a VDU.
const ParamVDUMapping = "vdu_mapping"

// WorkloadRef names the workload of a VDU.
type WorkloadRef struct {
	Kind, Name string
}

// Manifest is an object with its place in the VNFD.
type Manifest struct {
	Place   vnfm.Place
	Content map[string]any
}

// translation makes the objects of one target. Their names depend only on the VNFD and vdu_mapping, so they are equal in every plan.
type translation struct {
	target *vnfm.Target
	ps     *vnfm.Problems
	made   []Manifest
	// refs are the workloads of the VDUs.
	refs map[string]WorkloadRef
	// hasClaim are the shared storages that already have a claim.
	hasClaim map[string]bool
}

func selectorOf(name string) map[string]any { return map[string]any{labelName: name} }

// metadata is the metadata of an object of a VDU.
func (tr *translation) metadata(v *vnfm.VDU, name string) map[string]any {
	meta := map[string]any{"name": name, "labels": tr.labels(v)}
	if v.Workload.Namespace != "" {
		meta["namespace"] = v.Workload.Namespace
	}
	return meta
}

// labels are the labels of the VDU in the VNFD, with labelName.
func (tr *translation) labels(v *vnfm.VDU) map[string]any {
	labels := map[string]any{}
	for key, value := range v.Workload.Labels {
		tr.checkLabel(v.Place, "label", key, value)
		labels[key] = value
	}
	labels[labelName] = tr.refs[v.ID].Name
	return labels
}

// checkLabel rejects an invalid label of Kubernetes; the parameter what is a noun for problems.
func (tr *translation) checkLabel(at vnfm.Place, what, key, value string) {
	if faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(faults) > 0 {
		tr.problem(at, fmt.Sprintf("the %s %s: %s cannot be a label of Kubernetes", what, key, value), strings.Join(faults, "; ")+"; correct it in the VNFD")
	}
}

// name makes the name of an object from a name in the VNFD; false if the result is invalid.
func (tr *translation) name(at vnfm.Place, what, written string) (string, bool) {
	name := kubernetesName(written)
	if faults := validation.IsDNS1035Label(name); len(faults) > 0 {
		tr.problem(at, fmt.Sprintf("the %s %q cannot give a Kubernetes object its name", what, written), strings.Join(faults, "; ")+"; rename it in the VNFD")
		return name, false
	}
	return name, true
}

// qualifiedName returns the name of an object that belongs to a VDU and has its own name in the VNFD. If vdu_mapping renames the
// VDU, the new name becomes a prefix, so that another instance can use the original name.
func (tr *translation) qualifiedName(v *vnfm.VDU, name string) string {
	if own, ok := tr.refs[v.ID]; ok && own.Name != kubernetesName(v.Name) {
		return own.Name + "-" + name
	}
	return name
}

// kubernetesName converts a name in the VNFD into Kubernetes' alphabet.
func kubernetesName(written string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(written))
}

func (tr *translation) problem(at vnfm.Place, summary, detail string) {
	tr.report(vnfm.Problem{File: at.File, Line: at.Line, Column: at.Column, Summary: summary, Detail: detail})
}

// report adds a problem once, even if several objects have it.
func (tr *translation) report(p vnfm.Problem) {
	if !slices.Contains(*tr.ps, p) {
		*tr.ps = append(*tr.ps, p)
	}
}

func (tr *translation) add(at vnfm.Place, content map[string]any) {
	tr.made = append(tr.made, Manifest{Place: at, Content: content})
}

// jsonList converts strings into the list type of decoded JSON.
func jsonList(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

// workloadAPI maps the kinds of workloads to their API.
var workloadAPI = map[string]string{"DaemonSet": "apps/v1", "Deployment": "apps/v1", "Pod": "v1", "StatefulSet": "apps/v1"}
