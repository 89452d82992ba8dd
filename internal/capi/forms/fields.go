package forms

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func metadata(spec *vnfm.ClusterSpec) map[string]any {
	out := labelled(spec.Labels, spec.Annotations)
	out["name"] = spec.Name
	Set(out, "namespace", spec.Namespace)
	return out
}

func labelled(labels, annotations map[string]string) map[string]any {
	out := map[string]any{}
	Set(out, "labels", texts(labels))
	Set(out, "annotations", texts(annotations))
	return out
}

func texts(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// listed converts strings to values: JSON schemas of charts accept only []any as a list.
func listed(texts []string) []any {
	var out []any
	for _, s := range texts {
		out = append(out, s)
	}
	return out
}

func network(n *vnfm.ClusterNetwork) map[string]any {
	out := map[string]any{}
	if n == nil {
		return out
	}
	for field, blocks := range map[string][]string{"pods": n.PodCIDRs, "services": n.ServiceCIDRs} {
		if len(blocks) > 0 {
			out[field] = map[string]any{"cidrBlocks": listed(blocks)}
		}
	}
	Set(out, "serviceDomain", n.ServiceDomain)
	if n.APIServerPort != 0 {
		out["apiServerPort"] = n.APIServerPort
	}
	return out
}

func variables(m map[string]any) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, map[string]any{"name": name, "value": m[name]})
	}
	return out
}

func overrides(m map[string]any) map[string]any {
	out := map[string]any{}
	Set(out, "overrides", variables(m))
	return out
}

func taints(list []vnfm.NodeTaint) []any {
	var out []any
	for _, t := range list {
		propagation := t.Propagation
		if propagation == "" {
			propagation = "Always"
		}
		entry := map[string]any{"key": t.Key, "effect": t.Effect, "propagation": propagation}
		Set(entry, "value", t.Value)
		out = append(out, entry)
	}
	return out
}

// Set sets a field unless it is empty: version v1beta2 refuses most empty values.
func Set(out map[string]any, field string, value any) {
	switch v := value.(type) {
	case nil:
		return
	case string:
		if v == "" {
			return
		}
	case map[string]any:
		if len(v) == 0 {
			return
		}
	case []any:
		if len(v) == 0 {
			return
		}
	}
	out[field] = value
}

// SetInt sets a field unless the value is nil.
func SetInt(out map[string]any, field string, value *int64) {
	if value != nil {
		out[field] = *value
	}
}

// putSeconds sets a field to a duration in seconds, "90s", unless it is zero.
func putSeconds(out map[string]any, field string, d time.Duration) {
	if d > 0 {
		out[field] = inSeconds(d)
	}
}

// inSeconds writes a duration in seconds, such as "90s", the usual form in manifests and charts of Cluster API.
func inSeconds(d time.Duration) string { return strconv.FormatInt(seconds(d), 10) + "s" }

// seconds counts the seconds of a duration.
func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// intOrPercent converts a number to an integer, and keeps a percentage as a string.
func intOrPercent(text string) any {
	if text == "" {
		return nil
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
		return n
	}
	return text
}
