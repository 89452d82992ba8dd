package tfutil_test

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// fullModel has a field of each kind, two of them in models that are part of it.
type fullModel struct {
	nameModel
	Limit   timetypes.GoDuration `tfsdk:"limit"`
	Names   types.List           `tfsdk:"names"`
	Set     types.Set            `tfsdk:"set"`
	Object  types.Object         `tfsdk:"object"`
	Dynamic types.Dynamic        `tfsdk:"dynamic"`
	Note    string               `tfsdk:"-"`
}

type nameModel struct {
	idModel
	Name types.String `tfsdk:"name"`
}

type idModel struct {
	ID types.Int64 `tfsdk:"id"`
}

// plainModel has fields of Go, which the framework fills.
type plainModel struct {
	ID    int64    `tfsdk:"id"`
	Names []string `tfsdk:"names"`
}

type wrongModel struct {
	ID types.String `tfsdk:"id"`
}

// wrongObject has the fields of objectTypes.
type wrongObject struct {
	ID   types.Int64 `tfsdk:"id"`
	Name types.Int64 `tfsdk:"name"`
}

var objectTypes = map[string]attr.Type{"id": types.Int64Type, "name": types.StringType}

func fullSchema() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"id": schema.Int64Attribute{Optional: true}, "name": schema.StringAttribute{Optional: true},
		"limit": schema.StringAttribute{Optional: true, CustomType: timetypes.GoDurationType{}},
		"names": schema.ListAttribute{Optional: true, ElementType: types.StringType}, "set": schema.SetAttribute{Optional: true, ElementType: types.StringType},
		"object":  schema.ObjectAttribute{Optional: true, AttributeTypes: objectTypes},
		"dynamic": schema.DynamicAttribute{Optional: true},
	}}
}

func full() *fullModel {
	m := &fullModel{
		Limit: timetypes.NewGoDurationValueFromStringMust("1m"), Names: tfutil.StringList([]string{"a", "b"}), Set: types.SetUnknown(types.StringType),
		Object:  types.ObjectValueMust(objectTypes, map[string]attr.Value{"id": types.Int64Value(2), "name": types.StringUnknown()}),
		Dynamic: types.DynamicValue(types.StringValue("any")),
	}
	m.ID, m.Name = types.Int64Value(1), types.StringValue("name")
	return m
}

// TestReadAndWrite: models are read and written as the framework does it.
func TestReadAndWrite(t *testing.T) {
	t.Parallel()
	empty := &fullModel{Limit: timetypes.NewGoDurationNull(), Names: types.ListNull(types.StringType), Set: types.SetNull(types.StringType), Object: types.ObjectNull(objectTypes)}
	for name, m := range map[string]*fullModel{"full": full(), "empty": empty} {
		ours, theirs := tfsdk.Plan{Schema: fullSchema()}, tfsdk.Plan{Schema: fullSchema()}
		require.Empty(t, theirs.Set(t.Context(), m), name)
		require.Empty(t, tfutil.Write(t.Context(), &ours, m), name)
		assert.True(t, ours.Raw.Equal(theirs.Raw), "%s: %s, want %s", name, ours.Raw, theirs.Raw)
		var read, want fullModel
		require.Empty(t, theirs.Get(t.Context(), &want), name)
		require.Empty(t, tfutil.Read(t.Context(), ours, &read), name)
		assert.Equal(t, want, read, name)
	}
}

// TestReadWhatDoesNotFit has the diagnostics of the framework, and its values.
func TestReadWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.Int64Attribute{}, "names": schema.ListAttribute{ElementType: types.StringType}}}
	good := tfsdk.State{Schema: s}
	require.Empty(t, tfutil.Write(t.Context(), &good, &plainModel{ID: 1, Names: []string{"a"}}))
	null := tfsdk.State{Schema: s, Raw: tftypes.NewValue(s.Type().TerraformType(t.Context()), nil)}
	other := tfsdk.State{Schema: schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.Int64Attribute{}}}}
	require.Empty(t, other.Set(t.Context(), &idModel{ID: types.Int64Value(1)}))

	same := func(name string, ours, theirs diag.Diagnostics) {
		t.Helper()
		assert.Equal(t, theirs, ours, name)
	}
	var m plainModel
	require.Empty(t, tfutil.Read(t.Context(), good, &m))
	assert.Equal(t, plainModel{ID: 1, Names: []string{"a"}}, m)
	same("null", tfutil.Read(t.Context(), null, &idModel{}), null.Get(t.Context(), &idModel{}))
	same("missing field", tfutil.Read(t.Context(), good, &idModel{}), good.Get(t.Context(), &idModel{}))
	same("other type", tfutil.Read(t.Context(), other, &wrongModel{}), other.Get(t.Context(), &wrongModel{}))
	require.True(t, tfutil.Read(t.Context(), other, &wrongModel{}).HasError())

	written := other
	same("wrong value", tfutil.Write(t.Context(), &written, &wrongModel{ID: types.StringValue("a")}), (&tfsdk.State{Schema: other.Schema}).Set(t.Context(), &wrongModel{ID: types.StringValue("a")}))
	assert.True(t, written.Raw.Equal(other.Raw), "a state is changed by what cannot be written")
}

// TestReadValidates: a value that has a form is checked.
func TestReadValidates(t *testing.T) {
	t.Parallel()
	state := tfsdk.State{Schema: fullSchema()}
	require.Empty(t, state.Set(t.Context(), full()))
	var values map[string]tftypes.Value
	require.NoError(t, state.Raw.As(&values))
	values["limit"] = tftypes.NewValue(tftypes.String, "soon")
	state.Raw = tftypes.NewValue(state.Raw.Type(), values)
	ours, theirs := tfutil.Read(t.Context(), state, &fullModel{}), state.Get(t.Context(), &fullModel{})
	require.True(t, ours.HasError())
	assert.Equal(t, theirs, ours)
}

// TestInto reads objects as the framework does it.
func TestInto(t *testing.T) {
	t.Parallel()
	as := func(ctx context.Context, o types.Object, m any) diag.Diagnostics {
		return o.As(ctx, m, basetypes.ObjectAsOptions{})
	}
	object := types.ObjectValueMust(objectTypes, map[string]attr.Value{"id": types.Int64Value(2), "name": types.StringUnknown()})
	var read, want nameModel
	require.Empty(t, tfutil.Into(t.Context(), object, &read))
	require.Empty(t, as(t.Context(), object, &want))
	assert.Equal(t, want, read)
	for name, o := range map[string]types.Object{"null": types.ObjectNull(objectTypes), "unknown": types.ObjectUnknown(objectTypes)} {
		assert.Equal(t, as(t.Context(), o, &want), tfutil.Into(t.Context(), o, &read), name)
	}
	assert.Equal(t, as(t.Context(), object, &idModel{}), tfutil.Into(t.Context(), object, &idModel{}))
	assert.Equal(t, as(t.Context(), object, &wrongModel{}), tfutil.Into(t.Context(), object, &wrongModel{}))
	assert.Equal(t, as(t.Context(), object, &wrongObject{}), tfutil.Into(t.Context(), object, &wrongObject{}))
	assert.Equal(t, nameModel{idModel{types.Int64Value(2)}, types.StringUnknown()}, read)
}

func BenchmarkRead(b *testing.B) {
	state := tfsdk.State{Schema: fullSchema()}
	require.Empty(b, state.Set(b.Context(), full()))
	for b.Loop() {
		var m fullModel
		_ = tfutil.Read(b.Context(), state, &m)
		_ = tfutil.Write(b.Context(), &state, &m)
	}
}
