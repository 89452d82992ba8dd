package tfutil_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestVersion: versions have no leading v.
func TestVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]types.String{
		"": types.StringNull(), "v1.34.1": types.StringValue("1.34.1"), "1.34.1": types.StringValue("1.34.1"), "v3.14": types.StringValue("3.14"),
		"vanilla": types.StringValue("vanilla"), "v": types.StringValue("v"),
	} {
		assert.Equal(t, want, tfutil.Version(version), version)
	}
}

// TestStringSet: a set has each element once.
func TestStringSet(t *testing.T) {
	t.Parallel()
	assert.Equal(t, tfutil.StringSet([]string{"a", "b"}), tfutil.StringSet([]string{"b", "a", "b"}))
	assert.Equal(t, types.SetValueMust(types.StringType, nil).Elements(), tfutil.StringSet(nil).Elements())
	assert.False(t, tfutil.StringSet(nil).IsNull())
}

// TestSameButEmpty: empty collections stand for null, at any depth.
func TestSameButEmpty(t *testing.T) {
	t.Parallel()
	kinds := map[string]attr.Type{"ids": types.SetType{ElemType: types.StringType}, "name": types.StringType}
	object := func(ids types.Set, name types.String) attr.Value {
		return types.ObjectValueMust(kinds, map[string]attr.Value{"ids": ids, "name": name})
	}
	null, empty := types.SetNull(types.StringType), tfutil.StringSet(nil)
	for name, c := range map[string]struct {
		a, b attr.Value
		want bool
	}{
		"maps":             {types.MapNull(types.StringType), tfutil.StringMap(nil), true},
		"lists":            {types.ListNull(types.StringType), tfutil.StringList(nil), true},
		"sets":             {null, empty, true},
		"inside an object": {object(null, types.StringValue("a")), object(empty, types.StringValue("a")), true},
		"an element":       {null, tfutil.StringSet([]string{"a"}), false},
		"unknown":          {null, types.SetUnknown(types.StringType), false},
		"an empty string":  {object(null, types.StringNull()), object(null, types.StringValue("")), false},
	} {
		assert.Equal(t, c.want, tfutil.SameButEmpty(t.Context(), c.a, c.b), name)
		assert.Equal(t, c.want, tfutil.SameButEmpty(t.Context(), c.b, c.a), name)
	}
}
