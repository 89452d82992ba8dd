package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Values composes the values that are laid over those of the chart. A key with a
// dot or an index is a path as `helm --set` takes it; below it keys are as they are
// written. Paths win over what nested maps say, the more so the later they are in
// the alphabet. Numbers of paths are integers, as `helm --set` makes them, all others are
// as FileValues has them.
func Values(params map[string]any) (map[string]any, error) {
	out := map[string]any{}
	var paths []string
	for key, value := range params {
		if isPath(key) {
			paths = append(paths, key)
			continue
		}
		out[key] = fileValue(value)
	}
	slices.Sort(paths)
	for _, key := range paths {
		if err := Set(out, key, params[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadValues reads values as YAML or JSON, as a file of values has them.
func ReadValues(text string) (map[string]any, error) {
	read, err := common.ReadValues([]byte(text))
	if err != nil {
		return nil, err
	}
	out, _ := plain(map[string]any(read)).(map[string]any)
	return out, nil
}

func isPath(key string) bool { return strings.ContainsAny(key, ".[") }

// valuePathForm is what Set takes. Helm's parser also takes "a..b" and "a[", and sets nothing.
var valuePathForm = lazyregexp.New(`^(?s:(?:[^.\[\]\\=,{}]|\\[^=,{}])+(\[\d+\])*(\.(?:[^.\[\]\\=,{}]|\\[^=,{}])+(\[\d+\])*)*)$`)

// Set sets the value at a path in the notation of `helm --set`: "a.b[0].c", with
// "\." for a dot that is part of a key.
func Set(values map[string]any, path string, value any) error {
	if !valuePathForm.MatchString(path) {
		return fmt.Errorf("%q is not a path of values such as a.b[0].c", path)
	}
	// The parser of `helm --set-file` takes values of any type.
	given := func([]rune) (any, error) { return plain(value), nil }
	if err := strvals.ParseIntoFile(path+"=x", values, given); err != nil {
		return fmt.Errorf("%q is not a path of values such as a.b[0].c: %w", path, err)
	}
	return nil
}

// ParseSetting sets a value as `helm --set` takes it: "a.b=1". The error quotes nothing of it.
func ParseSetting(values map[string]any, setting string) error {
	if !strings.Contains(setting, "=") || strvals.ParseInto(setting, values) != nil {
		return errors.New("the setting is not as helm --set takes it")
	}
	return nil
}

// FileValues copies values with their numbers as a file of values gives them to templates (helm -f): floating-point numbers, whole ones
// too. Charts compare them with 0.0 and convert them with int.
func FileValues(values map[string]any) map[string]any {
	out, _ := fileValue(values).(map[string]any)
	if out == nil {
		return map[string]any{}
	}
	return out
}

func fileValue(value any) any {
	return document.Map(value, func(v any) any {
		switch v := v.(type) {
		case int:
			return float64(v)
		case int64:
			return float64(v)
		case json.Number:
			if f, err := v.Float64(); err == nil {
				return f
			}
		}
		return v
	})
}

// sent writes values as JSON in which whole floating-point numbers have an exponent, by which received tells them from integers.
func sent(values map[string]any) ([]byte, error) {
	return json.Marshal(document.Map(values, func(v any) any {
		if f, ok := v.(float64); ok && f == math.Trunc(f) && !math.IsInf(f, 0) {
			return json.Number(strconv.FormatFloat(f, 'e', -1, 64))
		}
		return v
	}))
}

// received reads what sent has written.
func received(text []byte) (map[string]any, error) {
	values, err := decoded[map[string]any](text)
	out, _ := document.Numbers(values).(map[string]any)
	return out, err
}

// plain copies a value. Whole numbers are integers, wherever they come from, so that two values that are equal are the same.
func plain(value any) any {
	return document.Map(value, func(v any) any {
		switch v := v.(type) {
		case float64:
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				return int64(v)
			}
		case int:
			return int64(v)
		case json.Number:
			if i, err := v.Int64(); err == nil {
				return i
			}
			if f, err := v.Float64(); err == nil {
				return f
			}
		}
		return v
	})
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
