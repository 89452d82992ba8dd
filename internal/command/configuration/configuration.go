// Package configuration writes configurations of Terraform.
package configuration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Expression is written as it is.
type Expression string

// Field is an argument, or an element of an object whose elements keep their order.
type Field struct {
	Name  string
	Value any
}

// Fields are the elements of an object in order.
type Fields []Field

// File is a configuration that is being written.
type File struct{ f *hclwrite.File }

// New returns an empty configuration.
func New() *File { return &File{hclwrite.NewEmptyFile()} }

// Block appends a block. Arguments without a value are left out.
func (f *File) Block(kind string, labels []string, arguments Fields) {
	body := f.f.Body()
	if len(body.Blocks()) > 0 {
		body.AppendNewline()
	}
	inside := body.AppendNewBlock(kind, labels).Body()
	for _, a := range arguments {
		if !empty(a.Value) {
			inside.SetAttributeRaw(a.Name, tokens(a.Value))
		}
	}
}

// Terraform appends the block that says which provider is needed.
func (f *File) Terraform() {
	body := f.f.Body().AppendNewBlock("terraform", nil).Body()
	body.SetAttributeValue("required_version", cty.StringVal(">= 1.11"))
	body.AppendNewBlock("required_providers", nil).Body().SetAttributeRaw("vnf", tokens(Fields{{"source", "nfv-iac/vnf"}}))
}

// Comment appends a line of comment.
func (f *File) Comment(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		f.f.Body().AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + strings.TrimRight(line, "\n") + "\n")}})
	}
}

// Bytes is the text, formatted as terraform fmt does.
func (f *File) Bytes() []byte { return hclwrite.Format(f.f.Bytes()) }

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case Expression:
		return v == ""
	case Fields:
		return !slices.ContainsFunc(v, func(f Field) bool { return !empty(f.Value) })
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return false
	}
}

// tokens writes a value as it decodes from JSON or YAML.
func tokens(v any) hclwrite.Tokens {
	switch v := v.(type) {
	case Expression:
		return hclwrite.Tokens{{Type: hclsyntax.TokenIdent, Bytes: []byte(v)}}
	case Fields:
		var out []hclwrite.ObjectAttrTokens
		for _, f := range v {
			if !empty(f.Value) {
				out = append(out, element(f.Name, f.Value))
			}
		}
		return hclwrite.TokensForObject(out)
	case map[string]any:
		out := make([]hclwrite.ObjectAttrTokens, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, element(key, v[key]))
		}
		return hclwrite.TokensForObject(out)
	case []any:
		out := make([]hclwrite.Tokens, 0, len(v))
		for _, item := range v {
			out = append(out, tokens(item))
		}
		return hclwrite.TokensForTuple(out)
	default:
		return hclwrite.TokensForValue(scalar(v))
	}
}

func element(name string, value any) hclwrite.ObjectAttrTokens {
	key := hclwrite.TokensForValue(cty.StringVal(name))
	// What begins with for is another expression.
	if hclsyntax.ValidIdentifier(name) && name != "for" {
		key = hclwrite.TokensForIdentifier(name)
	}
	return hclwrite.ObjectAttrTokens{Name: key, Value: tokens(value)}
}

func scalar(v any) cty.Value {
	switch v := v.(type) {
	case nil:
		return cty.NullVal(cty.DynamicPseudoType)
	case bool:
		return cty.BoolVal(v)
	case string:
		return cty.StringVal(v)
	default:
		if n, err := cty.ParseNumberVal(fmt.Sprint(v)); err == nil {
			return n
		}
		return cty.StringVal(fmt.Sprint(v))
	}
}

// Name makes a name of a block, a variable or an output of a text.
func Name(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	out := b.String()
	if !hclsyntax.ValidIdentifier(out) {
		out = "_" + out
	}
	return out
}

// Quote writes a text inside an expression.
func Quote(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}
