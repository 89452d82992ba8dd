//go:build unix

package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// attributes are the schema of a block with these attributes, all of which are required but those that end in a question mark.
func attributes(names ...string) *hcl.BodySchema {
	out := &hcl.BodySchema{}
	for _, name := range names {
		bare, optional := strings.CutSuffix(name, "?")
		out.Attributes = append(out.Attributes, hcl.AttributeSchema{Name: bare, Required: !optional})
	}
	return out
}

// The part of Terragrunt's language that the examples use. Anything else in a file is an error.
var (
	stackSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "locals"}, {Type: "unit", LabelNames: []string{"name"}}, {Type: "stack", LabelNames: []string{"name"}},
	}}
	unitSchema = &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "inputs", Required: true}},
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "include", LabelNames: []string{"name"}}, {Type: "terraform"}, {Type: "dependency", LabelNames: []string{"name"}},
		},
	}
	rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "locals"}, {Type: "remote_state"}, {Type: "generate", LabelNames: []string{"name"}},
	}}
	blockSchemas = map[string]*hcl.BodySchema{
		"unit": attributes("source", "path", "values"), "stack": attributes("source", "path", "values"), "include": attributes("path"),
		"terraform": attributes("source"), "generate": attributes("path", "if_exists", "contents"),
		"remote_state": attributes("backend", "generate", "config"),
		"dependency":   attributes("config_path", "mock_outputs", "mock_outputs_allowed_terraform_commands"),
	}
)

// terragruntFile is a file of Terragrunt and what its expressions can refer to.
type terragruntFile struct {
	path    string
	content *hcl.BodyContent
	ctx     *hcl.EvalContext
}

// openTerragrunt reads a file for the unit or stack in dir, with the variables of Environment that get_env knows.
func openTerragrunt(path, dir string, schema *hcl.BodySchema, environment map[string]string) (*terragruntFile, error) {
	parsed, diags := hclparse.NewParser().ParseHCLFile(path)
	if diags.HasErrors() {
		return nil, diags
	}
	content, diags := parsed.Body.Content(schema)
	if diags.HasErrors() {
		return nil, diags
	}
	f := &terragruntFile{path: path, content: content, ctx: &hcl.EvalContext{
		Variables: map[string]cty.Value{}, Functions: terragruntFunctions(filepath.Dir(path), dir, environment),
	}}
	values, err := attributesOf(filepath.Join(dir, "terragrunt.values.hcl"))
	if err != nil {
		return nil, err
	}
	f.ctx.Variables["values"] = values
	return f, f.evaluateLocals()
}

// evaluateLocals evaluates locals in any order in which each finds those that it refers to.
func (f *terragruntFile) evaluateLocals() error {
	known, pending := map[string]cty.Value{}, hcl.Attributes{}
	for _, block := range f.content.Blocks.OfType("locals") {
		found, diags := block.Body.JustAttributes()
		if diags.HasErrors() {
			return diags
		}
		maps.Copy(pending, found)
	}
	for len(pending) > 0 {
		var failed hcl.Diagnostics
		before := len(pending)
		f.ctx.Variables["local"] = cty.ObjectVal(known)
		for _, name := range slices.Sorted(maps.Keys(pending)) {
			value, diags := pending[name].Expr.Value(f.ctx)
			if diags.HasErrors() {
				failed = append(failed, diags...)
				continue
			}
			known[name] = value
			delete(pending, name)
		}
		if len(pending) == before {
			return failed
		}
	}
	f.ctx.Variables["local"] = cty.ObjectVal(known)
	return nil
}

// block evaluates the attributes of a block.
func (f *terragruntFile) block(block *hcl.Block) (map[string]cty.Value, error) {
	content, diags := block.Body.Content(blockSchemas[block.Type])
	if diags.HasErrors() {
		return nil, diags
	}
	out := map[string]cty.Value{}
	for name, attribute := range content.Attributes {
		if out[name], diags = attribute.Expr.Value(f.ctx); diags.HasErrors() {
			return nil, diags
		}
	}
	return out, nil
}

// one evaluates the only block of that type.
func (f *terragruntFile) one(kind string) (map[string]cty.Value, error) {
	blocks := f.content.Blocks.OfType(kind)
	if len(blocks) != 1 {
		return nil, fmt.Errorf("%s: %d blocks %s, expected one", f.path, len(blocks), kind)
	}
	return f.block(blocks[0])
}

// attributesOf reads a file of plain values; none is an empty object.
func attributesOf(path string) (cty.Value, error) {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return cty.EmptyObjectVal, nil
	}
	parsed, diags := hclparse.NewParser().ParseHCLFile(path)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	found, diags := parsed.Body.JustAttributes()
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	out := map[string]cty.Value{}
	for name, attribute := range found {
		if out[name], diags = attribute.Expr.Value(nil); diags.HasErrors() {
			return cty.NilVal, diags
		}
	}
	return cty.ObjectVal(out), nil
}

// generateStack does what `terragrunt stack generate` does with the file terragrunt.stack.hcl of a directory, and returns the
// directories of the units.
func generateStack(dir string, environment map[string]string) ([]string, error) {
	f, err := openTerragrunt(filepath.Join(dir, "terragrunt.stack.hcl"), dir, stackSchema, environment)
	if err != nil {
		return nil, err
	}
	var units []string
	for _, block := range f.content.Blocks {
		if block.Type == "locals" {
			continue
		}
		b, err := f.block(block)
		if err != nil {
			return nil, err
		}
		target := filepath.Join(dir, ".terragrunt-stack", b["path"].AsString())
		if err := os.CopyFS(target, os.DirFS(b["source"].AsString())); err != nil {
			return nil, err
		}
		file := hclwrite.NewEmptyFile()
		for name, value := range b["values"].AsValueMap() {
			file.Body().SetAttributeValue(name, value)
		}
		if err := os.WriteFile(filepath.Join(target, "terragrunt.values.hcl"), file.Bytes(), 0o600); err != nil {
			return nil, err
		}
		if block.Type == "unit" {
			units = append(units, target)
			continue
		}
		nested, err := generateStack(target, environment)
		if err != nil {
			return nil, err
		}
		units = append(units, nested...)
	}
	return units, nil
}

// terragruntFunctions are the functions of Terragrunt that the examples call. A file in fileDir is evaluated for the unit in dir,
// which includes it or has it.
func terragruntFunctions(fileDir, dir string, environment map[string]string) map[string]function.Function {
	text := func(do func(args []string) (string, error)) function.Function {
		return function.New(&function.Spec{
			VarParam: &function.Parameter{Name: "arguments", Type: cty.String}, Type: function.StaticReturnType(cty.String),
			Impl: func(values []cty.Value, _ cty.Type) (cty.Value, error) {
				args := make([]string, len(values))
				for i, v := range values {
					args[i] = v.AsString()
				}
				out, err := do(args)
				return cty.StringVal(out), err
			},
		})
	}
	return map[string]function.Function{
		"replace": stdlib.ReplaceFunc,
		"dirname": text(func(args []string) (string, error) { return filepath.Dir(args[0]), nil }),
		"file": text(func(args []string) (string, error) {
			data, err := os.ReadFile(args[0])
			return string(data), err
		}),
		"get_env": text(func(args []string) (string, error) {
			if value, ok := environment[args[0]]; ok {
				return value, nil
			}
			if len(args) == 1 {
				return "", fmt.Errorf("the environment variable %s is not set", args[0])
			}
			return args[1], nil
		}),
		"find_in_parent_folders": text(func(args []string) (string, error) {
			for at := filepath.Dir(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
				if _, err := os.Stat(filepath.Join(at, args[0])); err == nil {
					return filepath.Join(at, args[0]), nil
				}
			}
			return "", fmt.Errorf("no %s above %s", args[0], dir)
		}),
		"path_relative_to_include": text(func([]string) (string, error) { return filepath.Rel(fileDir, dir) }),
	}
}
