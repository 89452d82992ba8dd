// Package functions holds the provider functions. They are pure: they open no
// file and reach no network, and give the same result for the same arguments.
package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// parser is a function that reads a text, its first argument, into an object.
type parser struct {
	name       string
	definition function.Definition
	// parse gets the text and the further arguments of a variadic function.
	parse func(ctx context.Context, content string, more []string) (types.Object, diag.Diagnostics, *function.FuncError)
}

var _ function.Function = parser{}

// Metadata implements function.Function.
func (p parser) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = p.name
}

// Definition implements function.Function.
func (p parser) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = p.definition
}

// Run implements function.Function.
func (p parser) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var (
		content string
		more    []string
	)
	arguments := []any{&content}
	if p.definition.VariadicParameter != nil {
		arguments = append(arguments, &more)
	}
	if resp.Error = req.Arguments.Get(ctx, arguments...); resp.Error != nil {
		return
	}
	value, diags, err := p.parse(ctx, content, more)
	if resp.Error = function.ConcatFuncErrors(err, function.FuncErrorFromDiags(ctx, diags)); resp.Error != nil {
		return
	}
	resp.Error = resp.Result.Set(ctx, value)
}
