package render

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/translate"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readVDUMapping reads {vdu id: {kind, name}}. Requests for Tacker also have helmreleasename, which must be the release of the
// instance.
func readVDUMapping(t *vnfm.Target, value any, chart *chartParams, ps *vnfm.Problems) map[string]translate.WorkloadRef {
	entries, ok := value.(map[string]any)
	if !ok {
		//findings:says write a map; a variable for it needs a type, such as any or map(any)
		badParam(ps, translate.ParamVDUMapping, "must map VDU ids to { kind, name }", notMap(value))
		return nil
	}
	out := make(map[string]translate.WorkloadRef, len(entries))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if !hasVDU(t.Flavour, translate.ParamVDUMapping, id, ps) {
			continue
		}
		if t.Part.IsForeign(id) {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("names VDU %q, which is not on a Kubernetes VIM", id), "remove it, or place the VDU on one in vim_connections")
			continue
		}
		fields, ok := entries[id].(map[string]any)
		if !ok {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("must be { kind, name } for VDU %q", id), "")
			continue
		}
		valid := true
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			switch {
			case field == "kind" || field == "name" || field == "helmreleasename" && chart.refused:
			case field == "helmreleasename" && chart.release != "":
				if fields[field] != chart.release {
					badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("maps VDU %q to a workload of release %q, but the release of this instance is %q", id, fields[field], chart.release),
						"move the entry to the instance that has that release")
					valid = false
				}
			default:
				detail := "only kind and name are known"
				if field == "helmreleasename" {
					detail += "; the name of the release is " + ParamReleaseName
				}
				badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("has an unknown field %q for VDU %q", field, id), detail)
				valid = false
			}
		}
		kind, _ := fields["kind"].(string)
		name, _ := fields["name"].(string)
		if kind == "" || name == "" {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("must give kind and name for VDU %q", id), "")
			valid = false
		}
		if right := vnfm.ManifestKind(kind); valid && kind != right {
			badParam(ps, translate.ParamVDUMapping, fmt.Sprintf("names the kind %q for VDU %q", kind, id), fmt.Sprintf("it is written as in manifests: %q", right))
			valid = false
		}
		if valid {
			out[id] = translate.WorkloadRef{Kind: kind, Name: name}
		}
	}
	return out
}
