package tfutil

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// OptionalString returns a null value for the empty string: an argument that was
// left out must read back as left out.
func OptionalString(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

// Set reports whether a value is neither null nor unknown.
func Set(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }

// StringList returns a list value; nil gives an empty list.
func StringList(texts []string) types.List {
	values := make([]attr.Value, 0, len(texts))
	for _, s := range texts {
		values = append(values, types.StringValue(s))
	}
	return types.ListValueMust(types.StringType, values)
}

// StringSet returns a set value without duplicates; nil gives an empty set.
func StringSet(texts []string) types.Set {
	return types.SetValueMust(types.StringType, StringList(slices.Compact(slices.Sorted(slices.Values(texts)))).Elements())
}

// Version renders the version of a program without the leading "v"; an empty one is null.
// Versions of an API group, such as v1beta2, keep theirs and are not for this function.
func Version(v string) types.String {
	if rest, ok := strings.CutPrefix(v, "v"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		v = rest
	}
	return OptionalString(v)
}

// StringLists returns a map of lists; nil gives an empty map.
func StringLists(m map[string][]string) types.Map {
	values := make(map[string]attr.Value, len(m))
	for key, texts := range m {
		values[key] = StringList(texts)
	}
	return types.MapValueMust(types.ListType{ElemType: types.StringType}, values)
}

// StringMap returns a map value; nil gives an empty map.
func StringMap(m map[string]string) types.Map {
	values := make(map[string]attr.Value, len(m))
	for key, text := range m {
		values[key] = types.StringValue(text)
	}
	return types.MapValueMust(types.StringType, values)
}

// Texts reads a map of texts; one without entries is nil.
func Texts(m types.Map) map[string]string {
	if len(m.Elements()) == 0 {
		return nil
	}
	out := make(map[string]string, len(m.Elements()))
	for key, v := range m.Elements() {
		if text, ok := v.(types.String); ok {
			out[key] = text.ValueString()
		}
	}
	return out
}

// Int64Map returns a map value; nil gives an empty map.
func Int64Map(m map[string]int) types.Map {
	values := make(map[string]attr.Value, len(m))
	for key, n := range m {
		values[key] = types.Int64Value(int64(n))
	}
	return types.MapValueMust(types.Int64Type, values)
}

// OptionalInt64 returns a null value for nil.
func OptionalInt64(n *int) types.Int64 {
	if n == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*n))
}

// Merged are the entries of several maps, of which later ones win.
func Merged[V any](parts ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}
