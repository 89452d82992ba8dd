package tfutil

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ArgumentsJSON encodes the arguments in a plan or state as JSON, for SetArguments. Left out are the names in skip, secrets,
// write-only arguments and their versions, arguments of any type, and what is null or unknown.
func ArgumentsJSON(attributes map[string]schema.Attribute, raw tftypes.Value, skip ...string) (json.RawMessage, error) {
	given, err := encodeObject(attributes, raw, skip...)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments: %w", err)
	}
	return json.Marshal(given)
}

// isKept reports whether an attribute is an argument that is encoded.
func isKept(name string, a schema.Attribute) bool {
	_, anything := a.(schema.DynamicAttribute)
	return !anything && (a.IsOptional() || a.IsRequired()) && !a.IsSensitive() && !a.IsWriteOnly() && !strings.HasSuffix(name, WriteOnlyVersionSuffix)
}

func encodeObject(attributes map[string]schema.Attribute, v tftypes.Value, skip ...string) (map[string]any, error) {
	values := map[string]tftypes.Value{}
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, a := range attributes {
		inner := values[name]
		if !isKept(name, a) || slices.Contains(skip, name) || !inner.IsKnown() || inner.IsNull() {
			continue
		}
		encoded, err := encodeArgument(a, inner)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = encoded
	}
	return out, nil
}

// encodeArgument encodes a value that is known and not null.
func encodeArgument(a schema.Attribute, v tftypes.Value) (any, error) {
	object := func(attributes map[string]schema.Attribute) func(tftypes.Value) (any, error) {
		return func(v tftypes.Value) (any, error) {
			if !v.IsKnown() || v.IsNull() {
				return nil, nil
			}
			return encodeObject(attributes, v)
		}
	}
	switch a := a.(type) {
	case schema.SingleNestedAttribute:
		return encodeObject(a.Attributes, v)
	case schema.MapNestedAttribute:
		return encodeElements(v, object(a.NestedObject.Attributes))
	case schema.ListNestedAttribute:
		return encodeElements(v, object(a.NestedObject.Attributes))
	case schema.SetNestedAttribute:
		return encodeElements(v, object(a.NestedObject.Attributes))
	default:
		return encodeValue(v)
	}
}

// encodeElements encodes a collection whose elements are encoded by a function.
func encodeElements(v tftypes.Value, encode func(tftypes.Value) (any, error)) (any, error) {
	var err error
	if v.Type().Is(tftypes.Map{}) || v.Type().Is(tftypes.Object{}) {
		elements, out := map[string]tftypes.Value{}, map[string]any{}
		if err := v.As(&elements); err != nil {
			return nil, err
		}
		for key, e := range elements {
			if out[key], err = encode(e); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		return out, nil
	}
	var elements []tftypes.Value
	if err := v.As(&elements); err != nil {
		return nil, err
	}
	out := make([]any, len(elements))
	for i, e := range elements {
		if out[i], err = encode(e); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return out, nil
}

func encodeValue(v tftypes.Value) (any, error) {
	if !v.IsKnown() || v.IsNull() {
		return nil, nil
	}
	switch t := v.Type(); {
	case t.Is(tftypes.String):
		var text string
		err := v.As(&text)
		return text, err
	case t.Is(tftypes.Bool):
		var on bool
		err := v.As(&on)
		return on, err
	case t.Is(tftypes.Number):
		var n big.Float
		err := v.As(&n)
		return json.Number(n.Text('g', -1)), err
	default:
		return encodeElements(v, encodeValue)
	}
}

// SetArguments sets the arguments of a state that ArgumentsJSON has encoded. One that the schema no longer has, or has with another
// type, is left out.
func SetArguments(ctx context.Context, attributes map[string]schema.Attribute, encoded json.RawMessage, state *tfsdk.State) diag.Diagnostics {
	var diags diag.Diagnostics
	given := map[string]json.RawMessage{}
	if err := json.Unmarshal(encoded, &given); err != nil {
		diags.AddWarning("Unreadable Arguments", fmt.Sprintf("The arguments that were kept cannot be read: %s. The next plan shows them as differences.", err))
		return diags
	}
	ignore := tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		a, ok := attributes[name]
		if !ok || !isKept(name, a) {
			continue
		}
		raw, err := tfprotov6.RawState{JSON: given[name]}.UnmarshalWithOpts(a.GetType().TerraformType(ctx), ignore)
		if err != nil {
			continue
		}
		if value, err := a.GetType().ValueFromTerraform(ctx, raw); err == nil {
			diags.Append(state.SetAttribute(ctx, path.Root(name), value)...)
		}
	}
	return diags
}
