package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// units are the VDUs and Jobs of a rendering, with the parts that determine their pods. The list replaced has the keys of objects
// that may be deleted and recreated.
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
		// The pods of the new workload are created before the former workload is deleted.
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

// fixed is the immutable selector of a workload. Its change interrupts the VDU, because the new object does not adopt the former
// pods. Unless the object may be replaced, the change is an error.
func fixed(o *Object, replaced []string) vnfm.UnitPart {
	effect := vnfm.Effect{Rank: 2, Text: "deleted and made again, interrupted"}
	if !slices.Contains(replaced, o.Key) {
		effect.Rank = -1
	}
	return vnfm.UnitPart{Name: "fixed", Value: o.Field("spec", "selector"), Effect: effect}
}

// rollout describes how a workload with this number of pods replaces them, with Kubernetes' defaults for missing fields. It is empty
// for kinds whose behaviour is unknown.
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

// number writes a field, or its default, as a number of pods. It rounds a percentage up or down like Kubernetes.
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
