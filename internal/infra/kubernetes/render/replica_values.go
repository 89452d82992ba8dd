package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// warnCountValue warns of a value in helm_parameters that the count of a VDU overrides.
func (p *chartParams) warnCountValue(t *vnfm.Target, vdu string, ps *vnfm.Problems) {
	wanted := map[string]any{}
	if t.Instance.OperationalState == vnfm.Stopped || helm.Set(wanted, p.replicas[vdu], t.Counts[vdu]) != nil {
		return
	}
	for _, way := range vnfm.Changed(nil, wanted) {
		if given := valueAt(p.values, way); given != nil && fmt.Sprint(given) != strconv.Itoa(t.Counts[vdu]) {
			warnNoEffect(vdu, way, t.Counts[vdu], ps)
		}
	}
}

// warnReplicas warns of a value in helm_parameters that sets the replicas of a VDU, because the count of the VDU overrides them. The
// value is recognised by its name and number; unless exactly one value of the chart matches, there is no warning.
func (c *ChartRelease) warnReplicas(vdu string, replicas any, count int, ps *vnfm.Problems) {
	if _, named := c.CountValues[vdu]; named || len(c.given) == 0 || replicas == nil || replicas == int64(count) {
		return
	}
	values := vnfm.MergeDeep(c.defaults, c.given)
	ways := slices.DeleteFunc(vnfm.Changed(nil, values), func(way []string) bool {
		return !strings.Contains(strings.ToLower(way[len(way)-1]), "replica") || fmt.Sprint(valueAt(values, way)) != fmt.Sprint(replicas)
	})
	if len(ways) == 1 && valueAt(c.given, ways[0]) != nil {
		warnNoEffect(vdu, ways[0], count, ps)
	}
}

func warnNoEffect(vdu string, way []string, count int, ps *vnfm.Problems) {
	*ps = append(*ps, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams, Key: paramValues,
		Summary: fmt.Sprintf("the value %s in %s has no effect on the count of VDU %q", strings.Join(way, "."), paramValues, vdu),
		Detail:  fmt.Sprintf("the count, %d, follows from scale levels and VNFD; set scale_levels and remove the value", count),
	})
}

// valueAt returns the value at a path of keys and indices; nil if it is missing.
func valueAt(value any, way []string) any {
	for _, step := range way {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(v) {
				value = v[i]
				continue
			}
			return nil
		default:
			return nil
		}
	}
	return value
}
