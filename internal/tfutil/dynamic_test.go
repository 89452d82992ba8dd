package tfutil_test

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

func number(t *testing.T, text string) types.Number {
	t.Helper()
	f, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	require.NoError(t, err)
	return types.NumberValue(f)
}

func TestDynamicRoundTrip(t *testing.T) {
	t.Parallel()
	value := types.DynamicValue(types.ObjectValueMust(
		map[string]attr.Type{"s": types.StringType, "i": types.NumberType, "f": types.NumberType, "big": types.NumberType, "b": types.BoolType,
			"l": types.TupleType{ElemTypes: []attr.Type{types.NumberType, types.StringType}}, "o": types.ObjectType{AttrTypes: map[string]attr.Type{}}},
		map[string]attr.Value{
			"s": types.StringValue("x"), "i": number(t, "3"), "f": number(t, "0.1"), "big": number(t, "1e30"), "b": types.BoolValue(true),
			"l": types.TupleValueMust([]attr.Type{types.NumberType, types.StringType}, []attr.Value{number(t, "-2"), types.StringValue("y")}),
			"o": types.ObjectValueMust(map[string]attr.Type{}, map[string]attr.Value{}),
		},
	))
	got, err := tfutil.MapToGo(value)
	require.NoError(t, err)
	want := map[string]any{"s": "x", "i": int64(3), "f": 0.1, "big": 1e30, "b": true, "l": []any{int64(-2), "y"}, "o": map[string]any{}}
	require.Equal(t, want, got)
	back, err := tfutil.DynamicFromGo(t.Context(), got)
	require.NoError(t, err)
	require.True(t, back.Equal(value), "round trip gives")
}

func TestToGo(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value attr.Value
		want  any
	}{
		"null":         {types.StringNull(), nil},
		"null dynamic": {types.DynamicNull(), nil},
		"null inside":  {types.DynamicValue(types.MapValueMust(types.StringType, map[string]attr.Value{"a": types.StringNull()})), map[string]any{"a": nil}},
		"list":         {types.ListValueMust(types.StringType, []attr.Value{types.StringValue("a")}), []any{"a"}},
		"set":          {types.SetValueMust(types.Int64Type, []attr.Value{types.Int64Value(1)}), []any{int64(1)}},
		"int32":        {types.Int32Value(4), int64(4)},
		"float":        {types.Float64Value(2.5), 2.5},
		"max int64":    {types.NumberValue(new(big.Float).SetPrec(512).SetInt64(math.MaxInt64)), int64(math.MaxInt64)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tfutil.ToGo(tt.value)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	if _, err := tfutil.ToGo(number(t, "1e400")); err == nil {
		t.Error("a number beyond float64 is accepted")
	}
	if _, err := tfutil.MapToGo(types.DynamicValue(types.StringValue("x"))); err == nil || err.Error() != "an object is expected, not a string" {
		t.Errorf("a string as map: error %v", err)
	}
	if _, err := tfutil.DynamicFromGo(t.Context(), map[string]any{"a": struct{}{}}); err == nil {
		t.Error("a struct is converted")
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	deep := types.DynamicValue(types.ObjectValueMust(
		map[string]attr.Type{"l": types.ListType{ElemType: types.StringType}},
		map[string]attr.Value{"l": types.ListValueMust(types.StringType, []attr.Value{types.StringUnknown()})},
	))
	for name, v := range map[string]attr.Value{"deep": deep, "dynamic": types.DynamicUnknown(), "string": types.StringUnknown()} {
		require.False(t, tfutil.FullyKnown(t.Context(), v), "%s: an unknown value is taken for known", name)
		if _, err := tfutil.ToGo(v); !errors.Is(err, tfutil.ErrUnknown) {
			t.Errorf("%s: error %v is not ErrUnknown", name, err)
		}
	}
	require.True(t, tfutil.FullyKnown(t.Context(), types.DynamicNull()), "null is taken for unknown")
	require.True(t, tfutil.FullyKnown(t.Context(), nil), "null is taken for unknown")
}

func TestKnownMapToGo(t *testing.T) {
	inner := types.ObjectValueMust(map[string]attr.Type{"a": types.StringType, "b": types.StringType}, map[string]attr.Value{"a": types.StringValue("x"), "b": types.StringUnknown()})
	outer := types.ObjectValueMust(map[string]attr.Type{"part": inner.Type(t.Context()), "whole": types.Int64Type},
		map[string]attr.Value{"part": inner, "whole": types.Int64Value(3)})
	known, unknown, err := tfutil.KnownMapToGo(types.DynamicValue(outer))
	want := map[string]any{"part": map[string]any{"a": "x", "b": nil}, "whole": int64(3)}
	if err != nil || !reflect.DeepEqual(known, want) || !slices.Equal(unknown, []string{"part"}) {
		t.Errorf("got %v, %v, %v", known, unknown, err)
	}
	if known, unknown, err := tfutil.KnownMapToGo(types.DynamicNull()); known != nil || unknown != nil || err != nil {
		t.Errorf("of null: %v, %v, %v", known, unknown, err)
	}
	if _, _, err := tfutil.KnownMapToGo(types.DynamicValue(types.StringValue("x"))); err == nil {
		t.Error("a text is no map")
	}
}
