package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// units are the VDUs and Jobs of a rendering, with what their pods are made of. Objects that may be replaced are named by their keys.
func (r *Rendering) units(counts map[string]int, replaced []string) map[string]vnfm.Unit {
	out := make(map[string]vnfm.Unit, len(r.VDUs))
	for vdu, o := range r.VDUs {
		state := r.States[vdu]
		part := vnfm.UnitPart{Name: "template", Value: o.Field("spec", "template"), Effect: vnfm.Effect{Text: rollout(o, counts[vdu])}}
		switch {
		case o.GVK.Kind == "Pod":
			part.Value = o.Content
		case part.Value == nil:
			part.Value, part.Effect.Text = o.Field("spec"), "changed"
		}
		// The pods of another workload come before those of the former one go.
		workload := vnfm.UnitPart{Name: "workload", Value: o.GVK.GroupKind().String() + " " + o.namespace + "/" + o.Name, Effect: vnfm.Effect{Rank: 1, Text: "replaced"}}
		out[vdu] = vnfm.Unit{Object: o.Key, Count: state.Replicas, Parts: []vnfm.UnitPart{part, workload, fixed(o, replaced)}}
	}
	for _, o := range r.Objects {
		if o.GVK.Group == "batch" && o.GVK.Kind == "Job" {
			again := vnfm.UnitPart{Name: "template", Value: o.Field("spec", "template"), Effect: vnfm.Effect{Text: "runs again"}}
			out["Job "+o.Name] = vnfm.Unit{Object: o.Key, Added: "runs", Parts: []vnfm.UnitPart{again}}
		}
	}
	return out
}

// fixed is the part of a workload whose change interrupts its pods, because they do not become those of the new object. Without leave
// to replace the object, the change is an error.
func fixed(o *Object, replaced []string) vnfm.UnitPart {
	effect := vnfm.Effect{Rank: 2, Text: "deleted and made again, interrupted"}
	if !slices.Contains(replaced, o.Key) {
		effect.Rank = -1
	}
	return vnfm.UnitPart{Name: "fixed", Value: o.Field("spec", "selector"), Effect: effect}
}

// rollout says how a workload with so many pods replaces them, by the defaults of Kubernetes where the object says nothing; empty for
// kinds of which it is not known.
func rollout(o *Object, pods int) string {
	strategy, _ := o.Field("spec", "updateStrategy", "type").(string)
	switch {
	case o.GVK.Kind == "Pod":
		return "replaced, interrupted"
	case KeepsPods(o.GVK.GroupKind()):
		return "replaced one at a time"
	case o.GVK.Group != "apps":
		return ""
	case o.GVK.Kind == "Deployment":
		return deploymentRollout(o, pods)
	case strategy == "OnDelete":
		return "replaced one at a time"
	case o.GVK.Kind == "DaemonSet":
		return "rolled, " + number(o.Field("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"), 1, pods, false) + " at a time"
	default:
		if partition, ok := o.Field("spec", "updateStrategy", "rollingUpdate", "partition").(int64); ok && partition > 0 {
			return fmt.Sprintf("rolled from number %d on, one at a time", partition)
		}
		return "rolled, one at a time"
	}
}

// deploymentRollout is rollout for a Deployment.
func deploymentRollout(o *Object, pods int) string {
	if o.Field("spec", "strategy", "type") == "Recreate" {
		return "stopped and started, interrupted"
	}
	unavailable := number(o.Field("spec", "strategy", "rollingUpdate", "maxUnavailable"), "25%", pods, false)
	surge := number(o.Field("spec", "strategy", "rollingUpdate", "maxSurge"), "25%", pods, true)
	if unavailable == "0" {
		return "rolled, " + surge + " more at a time"
	}
	return "rolled, at most " + unavailable + " unavailable"
}

// number is a field that is a number or a percentage of the pods, rounded up or down as Kubernetes does, or its default.
func number(value, usual any, pods int, up bool) string {
	if value == nil {
		value = usual
	}
	text := fmt.Sprint(value)
	percent, isPercent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(percent)
	switch {
	case err != nil || !isPercent:
		return text
	case pods == 0:
		return text
	case up:
		return strconv.Itoa((n*pods + 99) / 100)
	default:
		return strconv.Itoa(n * pods / 100)
	}
}
