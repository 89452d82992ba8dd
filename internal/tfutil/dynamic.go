package tfutil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ErrUnknown is returned when a value that is converted to Go is not known yet,
// or holds such a value anywhere inside.
var ErrUnknown = errors.New("value is not known yet")

// numberPrecision is the mantissa that Terraform reads numbers with, in bits. A
// number of another precision would not equal the one in the configuration.
const numberPrecision = 512

// FullyKnown reports whether a value and everything inside it is known.
func FullyKnown(ctx context.Context, v attr.Value) bool {
	if v == nil {
		return true
	}
	tv, err := v.ToTerraformValue(ctx)
	return err == nil && tv.IsFullyKnown()
}

// toGo converts a value to nil, bool, string, int64, float64, []any or
// map[string]any. Numbers that are whole and fit become int64. It returns
// ErrUnknown when anything inside is unknown.
func toGo(v attr.Value) (any, error) { return (&converter{}).toGo(v) }

// converter converts values. A lenient one takes what is unknown for null, and notes that
// it has met some.
type converter struct{ lenient, lacks bool }

func (c *converter) toGo(v attr.Value) (any, error) {
	switch {
	case v == nil || v.IsNull():
		return nil, nil
	case v.IsUnknown() && c.lenient:
		c.lacks = true
		return nil, nil
	case v.IsUnknown():
		return nil, ErrUnknown
	}
	switch v := v.(type) {
	case types.Dynamic:
		return c.toGo(v.UnderlyingValue())
	case types.String:
		return v.ValueString(), nil
	case types.Bool:
		return v.ValueBool(), nil
	case types.Int64:
		return v.ValueInt64(), nil
	case types.Int32:
		return int64(v.ValueInt32()), nil
	case types.Float64:
		return v.ValueFloat64(), nil
	case types.Number:
		return numberToGo(v.ValueBigFloat())
	case types.Object:
		return c.mapToGo(v.Attributes())
	case types.Map:
		return c.mapToGo(v.Elements())
	case types.List:
		return c.listToGo(v.Elements())
	case types.Tuple:
		return c.listToGo(v.Elements())
	case types.Set:
		return c.listToGo(v.Elements())
	default:
		return nil, fmt.Errorf("values of type %T cannot be converted", v)
	}
}

// MapToGo converts an object or map, also inside a dynamic value, to a Go map. A
// null value gives a nil map; anything else is an error.
func MapToGo(v attr.Value) (map[string]any, error) {
	converted, err := toGo(v)
	if err != nil || converted == nil {
		return nil, err
	}
	m, ok := converted.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an object is expected, not %s", goKind(converted))
	}
	return m, nil
}

// KnownMapToGo is MapToGo of what is known: unknown are the keys of the map that hold
// something that is not, which is null in the result.
func KnownMapToGo(v attr.Value) (known map[string]any, unknown []string, err error) {
	if dynamic, ok := v.(types.Dynamic); ok && !v.IsNull() && !v.IsUnknown() {
		v = dynamic.UnderlyingValue()
	}
	var elements map[string]attr.Value
	switch m := v.(type) {
	case types.Object:
		elements = m.Attributes()
	case types.Map:
		elements = m.Elements()
	default:
		known, err = MapToGo(v)
		return known, nil, err
	}
	if v.IsNull() || v.IsUnknown() {
		known, err = MapToGo(v)
		return known, nil, err
	}
	known = make(map[string]any, len(elements))
	for key, e := range elements {
		c := &converter{lenient: true}
		if known[key], err = c.toGo(e); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		if c.lacks {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return known, unknown, nil
}

func goKind(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "a bool"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	default:
		return fmt.Sprintf("%T", v)
	}
}

func numberToGo(f *big.Float) (any, error) {
	if f.IsInt() {
		if i, accuracy := f.Int64(); accuracy == big.Exact {
			return i, nil
		}
	}
	converted, _ := f.Float64()
	if math.IsInf(converted, 0) {
		return nil, fmt.Errorf("number %s is too large", f.Text('g', 10))
	}
	return converted, nil
}

func (c *converter) mapToGo(elements map[string]attr.Value) (map[string]any, error) {
	out := make(map[string]any, len(elements))
	for key, e := range elements {
		converted, err := c.toGo(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = converted
	}
	return out, nil
}

func (c *converter) listToGo(elements []attr.Value) ([]any, error) {
	out := make([]any, 0, len(elements))
	for i, e := range elements {
		converted, err := c.toGo(e)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out = append(out, converted)
	}
	return out, nil
}

// DynamicFromGo converts a Go value as decoders of JSON and YAML give it to a
// dynamic value. Maps become objects, slices tuples; nil becomes a null value.
func DynamicFromGo(ctx context.Context, v any) (types.Dynamic, error) {
	converted, err := fromGo(ctx, v)
	if err != nil {
		return types.DynamicNull(), err
	}
	if converted.IsNull() {
		return types.DynamicNull(), nil
	}
	return types.DynamicValue(converted), nil
}

func fromGo(ctx context.Context, v any) (attr.Value, error) {
	switch v := v.(type) {
	case nil:
		return types.DynamicNull(), nil
	case string:
		return types.StringValue(v), nil
	case bool:
		return types.BoolValue(v), nil
	case int:
		return numberFromInt(int64(v)), nil
	case int32:
		return numberFromInt(int64(v)), nil
	case int64:
		return numberFromInt(v), nil
	case uint64:
		return types.NumberValue(new(big.Float).SetPrec(numberPrecision).SetUint64(v)), nil
	case float64:
		return numberFromFloat(v)
	case map[string]any:
		return objectFromGo(ctx, v)
	case map[string]string:
		m := make(map[string]any, len(v))
		for key, text := range v {
			m[key] = text
		}
		return objectFromGo(ctx, m)
	case []any:
		return tupleFromGo(ctx, v)
	case []string:
		l := make([]any, 0, len(v))
		for _, text := range v {
			l = append(l, text)
		}
		return tupleFromGo(ctx, l)
	default:
		return nil, fmt.Errorf("values of Go type %T cannot be converted", v)
	}
}

func numberFromInt(i int64) attr.Value {
	return types.NumberValue(new(big.Float).SetPrec(numberPrecision).SetInt64(i))
}

// numberFromFloat goes through the shortest decimal text: 0.1 must equal the 0.1
// that Terraform reads from a configuration, not the nearest binary fraction.
func numberFromFloat(f float64) (attr.Value, error) {
	n, _, err := big.ParseFloat(strconv.FormatFloat(f, 'g', -1, 64), 10, numberPrecision, big.ToNearestEven)
	if err != nil || n.IsInf() {
		return nil, fmt.Errorf("number %v cannot be converted", f)
	}
	return types.NumberValue(n), nil
}

func objectFromGo(ctx context.Context, m map[string]any) (attr.Value, error) {
	attrTypes := make(map[string]attr.Type, len(m))
	values := make(map[string]attr.Value, len(m))
	for key, e := range m {
		converted, err := fromGo(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		attrTypes[key] = converted.Type(ctx)
		values[key] = converted
	}
	object, diags := types.ObjectValue(attrTypes, values)
	if diags.HasError() {
		return nil, errors.New(diags[0].Detail())
	}
	return object, nil
}

func tupleFromGo(ctx context.Context, l []any) (attr.Value, error) {
	elementTypes := make([]attr.Type, 0, len(l))
	values := make([]attr.Value, 0, len(l))
	for i, e := range l {
		converted, err := fromGo(ctx, e)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		elementTypes = append(elementTypes, converted.Type(ctx))
		values = append(values, converted)
	}
	tuple, diags := types.TupleValue(elementTypes, values)
	if diags.HasError() {
		return nil, errors.New(diags[0].Detail())
	}
	return tuple, nil
}
