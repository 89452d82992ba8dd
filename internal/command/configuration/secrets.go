package configuration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Part parts values into those that may be in a plan and those that go by the name of a secret, and names the latter by their paths. A
// list is one value.
func Part(values map[string]any) (shown, secret map[string]any, names []string) {
	return part(values, "")
}

func part(values map[string]any, at string) (shown, secret map[string]any, names []string) {
	shown, secret = map[string]any{}, map[string]any{}
	for key, value := range values {
		name := strings.TrimPrefix(at+"."+key, ".")
		if fields, ok := value.(map[string]any); ok && len(fields) > 0 {
			s, h, n := part(fields, name)
			if names = append(names, n...); len(s) > 0 {
				shown[key] = s
			}
			if len(h) > 0 {
				secret[key] = h
			}
			continue
		}
		found := secretsIn(name, value)
		if names = append(names, found...); len(found) > 0 {
			secret[key] = value
		} else {
			shown[key] = value
		}
	}
	slices.Sort(names)
	return shown, secret, names
}

// secretsIn are the paths of secrets in a value at a path.
func secretsIn(at string, value any) []string {
	switch v := value.(type) {
	case json.Number, float64, int, int64:
		if vnfm.NamesSecret(at[strings.LastIndexByte(at, '.')+1:]) {
			return []string{at}
		}
		return nil
	default:
		return vnfm.ShownSecrets(at, v)
	}
}

// Hide replaces the secrets in values, which the function names by their paths, by what it returns for them.
func Hide(values map[string]any, instead func(path string) any) map[string]any {
	out, _ := hide(values, "", instead).(map[string]any)
	return out
}

func hide(value any, at string, instead func(path string) any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		// In order, since each secret may become a variable.
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = hide(v[key], strings.TrimPrefix(at+"."+key, "."), instead)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for n, item := range v {
			out = append(out, hide(item, fmt.Sprintf("%s[%d]", at, n), instead))
		}
		return out
	default:
		if len(secretsIn(at, value)) > 0 {
			return instead(at)
		}
		return value
	}
}
