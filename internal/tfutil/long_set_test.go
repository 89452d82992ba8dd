package tfutil_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

type longModel struct {
	Texts tfutil.LongSet `tfsdk:"texts"`
}

func longSchema() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"texts": schema.SetAttribute{Computed: true, CustomType: tfutil.LongSetType{SetType: types.SetType{ElemType: types.StringType}}},
	}}
}

// TestLongSet is a set of Terraform's like another one, which means the same as an equal one.
func TestLongSet(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	unknown, null := tfutil.LongSet{Set: types.SetUnknown(types.StringType)}, tfutil.LongSet{Set: types.SetNull(types.StringType)}
	for _, want := range []tfutil.LongSet{tfutil.NewLongSet([]string{"a", "b"}), tfutil.NewLongSet(nil), unknown, null} {
		state := tfsdk.State{Schema: longSchema()}
		require.Empty(t, state.Set(ctx, &longModel{want}))
		var read longModel
		require.Empty(t, state.Get(ctx, &read))
		assert.True(t, read.Texts.Equal(want), "%s, want %s", read.Texts, want)
		typ := want.Type(ctx)
		assert.True(t, typ.Equal(longSchema().Attributes["texts"].GetType()))
		assert.False(t, typ.Equal(types.SetType{ElemType: types.StringType}))
		assert.True(t, typ.TerraformType(ctx).Equal(types.SetType{ElemType: types.StringType}.TerraformType(ctx)))
	}
	ab := tfutil.NewLongSet([]string{"b", "a", "b"})
	assert.Len(t, ab.Elements(), 2)
	for _, c := range []struct {
		other basetypes.SetValuable
		want  bool
	}{{tfutil.NewLongSet([]string{"a", "b"}), true}, {tfutil.NewLongSet([]string{"a", "c"}), false}, {unknown, false}, {ab.Set, false}} {
		same, diags := ab.SetSemanticEquals(ctx, c.other)
		require.Empty(t, diags)
		assert.Equal(t, c.want, same, c.other)
	}
}

// TestLongSetTakesLinearTime reads and writes many elements without a comparison of all with all.
func TestLongSetTakesLinearTime(t *testing.T) { //nolint:paralleltest // Allocations of other tests would be counted.
	allocations := func(n int) float64 {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf("group-%d.example/v1", i)
		}
		state, m := tfsdk.State{Schema: longSchema()}, longModel{tfutil.NewLongSet(texts)}
		return testing.AllocsPerRun(1, func() {
			assert.Empty(t, state.Set(t.Context(), &m))
			assert.Empty(t, state.Get(t.Context(), &m))
		})
	}
	assert.Less(t, allocations(400), 6*allocations(100))
}
