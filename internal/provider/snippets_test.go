package provider_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// metaArguments and metaBlocks are Terraform's own in each block.
var (
	metaArguments = []string{"count", "for_each", "depends_on", "provider", "providers", "alias", "version"}
	metaBlocks    = []string{"lifecycle", "provisioner", "connection"}
	snippet       = regexp.MustCompile("(?ms)^```(?:terraform|hcl)\n(.*?)^```")
	// leftOut marks what a reader fills in.
	leftOut = regexp.MustCompile(`(?m)^\s*# (…|\.\.\.)$`)
)

// snippets validates the configurations in texts with the provider itself, in this process.
type snippets struct {
	t      *testing.T
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
	// open has each block validated again with each null argument unknown.
	open bool
	// blocks counts the blocks of the provider that were validated.
	blocks int
	// problems are what was found.
	problems []string
}

func (s *snippets) report(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// unknownContext has an unknown value for each variable and function of expressions.
func unknownContext(expressions ...hclsyntax.Node) *hcl.EvalContext {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: map[string]function.Function{}}
	unknown := function.New(&function.Spec{
		VarParam: &function.Parameter{Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
	})
	for _, e := range expressions {
		_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
			switch n := n.(type) {
			case *hclsyntax.ScopeTraversalExpr:
				ctx.Variables[n.Traversal.RootName()] = cty.DynamicVal
			case *hclsyntax.FunctionCallExpr:
				ctx.Functions[n.Name] = unknown
			}
			return nil
		})
	}
	return ctx
}

// kind is the type of an attribute, in whose objects attributes may be left out.
func (s *snippets) kind(a *tfprotov6.SchemaAttribute) cty.Type {
	if a.NestedType == nil {
		text, err := a.Type.MarshalJSON() //nolint:staticcheck // the form that Terraform receives
		require.NoError(s.t, err)
		kind, err := ctyjson.UnmarshalType(text)
		require.NoError(s.t, err)
		return kind
	}
	object := s.object(a.NestedType.Attributes)
	switch a.NestedType.Nesting {
	case tfprotov6.SchemaObjectNestingModeList:
		return cty.List(object)
	case tfprotov6.SchemaObjectNestingModeSet:
		return cty.Set(object)
	case tfprotov6.SchemaObjectNestingModeMap:
		return cty.Map(object)
	default:
		return object
	}
}

func (s *snippets) object(attributes []*tfprotov6.SchemaAttribute) cty.Type {
	kinds, optional := map[string]cty.Type{}, []string(nil)
	for _, a := range attributes {
		kinds[a.Name] = s.kind(a)
		if !a.Required {
			optional = append(optional, a.Name)
		}
	}
	return cty.ObjectWithOptionalAttrs(kinds, optional)
}

// names reports names of objects that the schema does not have; a conversion would drop them.
func (s *snippets) names(where string, v cty.Value, a *tfprotov6.SchemaAttribute) {
	if a.NestedType == nil || v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return
	}
	if a.NestedType.Nesting != tfprotov6.SchemaObjectNestingModeSingle {
		single := &tfprotov6.SchemaAttribute{Name: a.Name, NestedType: &tfprotov6.SchemaObject{Attributes: a.NestedType.Attributes, Nesting: tfprotov6.SchemaObjectNestingModeSingle}}
		for it := v.ElementIterator(); it.Next(); {
			_, element := it.Element()
			s.names(where, element, single)
		}
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		i := slices.IndexFunc(a.NestedType.Attributes, func(inner *tfprotov6.SchemaAttribute) bool { return inner.Name == key.AsString() })
		if i < 0 {
			s.report("%s: %s has no argument %q", where, a.Name, key.AsString())
			continue
		}
		s.names(where+"."+key.AsString(), element, a.NestedType.Attributes[i])
	}
}

// config evaluates the attributes of a body against a schema. It returns nothing for one in which a reader fills something in.
func (s *snippets) config(where string, body *hclsyntax.Body, block *tfprotov6.SchemaBlock, partial bool) (cty.Value, bool) {
	values, sound := map[string]cty.Value{}, true
	fail := func(format string, args ...any) {
		sound = false
		s.report("%s: %s", where, fmt.Sprintf(format, args...))
	}
	for name := range body.Attributes {
		if !slices.Contains(metaArguments, name) && !slices.ContainsFunc(block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == name }) {
			fail("there is no argument %q", name)
		}
	}
	for _, inner := range body.Blocks {
		if !slices.Contains(metaBlocks, inner.Type) {
			fail("there is no block %q", inner.Type)
		}
	}
	for _, a := range block.Attributes {
		kind := s.kind(a)
		values[a.Name] = cty.NullVal(kind.WithoutOptionalAttributesDeep())
		written, set := body.Attributes[a.Name]
		switch {
		case !set && a.Required && !partial:
			fail("the argument %q is missing", a.Name)
		case !set:
		case !a.Required && !a.Optional:
			fail("%q is not an argument", a.Name)
		default:
			value, diags := written.Expr.Value(unknownContext(written.Expr))
			if diags.HasErrors() {
				fail("%s: %v", a.Name, diags)
				continue
			}
			s.names(where, value, a)
			converted, err := convert.Convert(value, kind)
			if err != nil {
				fail("%s: %v", a.Name, err)
				continue
			}
			values[a.Name] = converted
		}
	}
	return cty.ObjectVal(values), sound && !partial
}

// block validates a block of the provider as `terraform validate` does.
func (s *snippets) block(where string, b *hclsyntax.Block, partial bool) {
	var schema *tfprotov6.Schema
	if b.Type == "provider" {
		schema = s.schema.Provider
	} else {
		schema = map[string]map[string]*tfprotov6.Schema{
			"resource": s.schema.ResourceSchemas, "data": s.schema.DataSourceSchemas, "ephemeral": s.schema.EphemeralResourceSchemas,
			"list": s.schema.ListResourceSchemas,
		}[b.Type][b.Labels[0]]
		if action := s.schema.ActionSchemas[b.Labels[0]]; b.Type == "action" && action != nil {
			schema = action.Schema
		}
	}
	if schema == nil {
		s.report("%s: the provider has no %s %s", where, b.Type, b.Labels[0])
		return
	}
	s.blocks++
	where += ": " + strings.Join(append([]string{b.Type}, b.Labels...), " ")
	config, complete := s.config(where, argumentsOf(b), schema.Block, partial)
	if !complete {
		return
	}
	found := s.errors(b, schema.Block, config)
	for _, d := range found {
		s.report("%s: %s: %s", where, d.Summary, d.Detail)
	}
	if len(found) > 0 || !s.open {
		return
	}
	s.opened("", config, schema.Block.Attributes, func(path string, config cty.Value) {
		for _, d := range s.errors(b, schema.Block, config) {
			s.report("%s: an unknown %s, which may become null: %s: %s", where, path, d.Summary, d.Detail)
		}
	})
}

// opened calls visit for each argument of a value that is null, with the value in which it is unknown.
func (s *snippets) opened(path string, v cty.Value, attributes []*tfprotov6.SchemaAttribute, visit func(string, cty.Value)) {
	if v.IsNull() || !v.IsKnown() {
		return
	}
	values := v.AsValueMap()
	replaced := func(name string, by cty.Value) cty.Value {
		out := maps.Clone(values)
		out[name] = by
		return cty.ObjectVal(out)
	}
	for _, a := range attributes {
		at, inner := strings.TrimPrefix(path+"."+a.Name, "."), values[a.Name]
		switch {
		case inner.IsNull() && a.Optional:
			visit(at, replaced(a.Name, cty.UnknownVal(inner.Type())))
		case a.NestedType == nil || inner.IsNull() || !inner.IsKnown():
		case a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			s.opened(at, inner, a.NestedType.Attributes, func(at string, inner cty.Value) { visit(at, replaced(a.Name, inner)) })
		case a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap:
			entries := inner.AsValueMap()
			for key, entry := range entries {
				s.opened(at+"."+key, entry, a.NestedType.Attributes, func(at string, entry cty.Value) {
					other := maps.Clone(entries)
					other[key] = entry
					visit(at, replaced(a.Name, cty.MapVal(other)))
				})
			}
		}
	}
}

// errors are those that the provider finds in the arguments of a block.
func (s *snippets) errors(b *hclsyntax.Block, block *tfprotov6.SchemaBlock, object cty.Value) []*tfprotov6.Diagnostic {
	ctx := s.t.Context()
	encoded, err := msgpack.Marshal(object, s.object(block.Attributes).WithoutOptionalAttributesDeep())
	require.NoError(s.t, err)
	config := &tfprotov6.DynamicValue{MsgPack: encoded}
	var found []*tfprotov6.Diagnostic
	switch b.Type {
	case "provider":
		var resp *tfprotov6.ValidateProviderConfigResponse
		resp, err = s.server.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})
		require.NoError(s.t, err)
		found = resp.Diagnostics
	case "resource":
		var resp *tfprotov6.ValidateResourceConfigResponse
		resp, err = s.server.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{
			TypeName: b.Labels[0], Config: config, ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
		})
		require.NoError(s.t, err)
		found = resp.Diagnostics
	case "data":
		var resp *tfprotov6.ValidateDataResourceConfigResponse
		resp, err = s.server.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: b.Labels[0], Config: config})
		require.NoError(s.t, err)
		found = resp.Diagnostics
	case "ephemeral":
		var resp *tfprotov6.ValidateEphemeralResourceConfigResponse
		resp, err = s.server.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: b.Labels[0], Config: config})
		require.NoError(s.t, err)
		found = resp.Diagnostics
	}
	return slices.DeleteFunc(found, func(d *tfprotov6.Diagnostic) bool { return d.Severity != tfprotov6.DiagnosticSeverityError })
}

// argumentsOf is where a block has the arguments of the provider: lists and actions have them in a block of their own.
func argumentsOf(b *hclsyntax.Block) *hclsyntax.Body {
	if b.Type != "list" && b.Type != "action" {
		return b.Body
	}
	for _, inner := range b.Body.Blocks {
		if inner.Type == "config" {
			return inner.Body
		}
	}
	return &hclsyntax.Body{SrcRange: b.Body.SrcRange, EndRange: b.Body.EndRange}
}

// arguments validates a snippet that has arguments alone, as those of the object that has all of them.
func (s *snippets) arguments(where string, body *hclsyntax.Body) {
	schemas := []*tfprotov6.Schema{s.schema.Provider}
	for _, all := range []map[string]*tfprotov6.Schema{s.schema.ResourceSchemas, s.schema.DataSourceSchemas} {
		for _, schema := range all {
			schemas = append(schemas, schema)
		}
	}
	before := len(s.problems)
	var problems []string
	for _, schema := range schemas {
		has := true
		for name := range body.Attributes {
			has = has && slices.ContainsFunc(schema.Block.Attributes, func(a *tfprotov6.SchemaAttribute) bool { return a.Name == name })
		}
		if has {
			s.config(where, body, schema.Block, true)
			problems = s.problems[before:]
			s.problems = s.problems[:before]
			if len(problems) == 0 {
				s.blocks++
				return
			}
		}
	}
	s.report("%s: no object of the provider takes these arguments: %s", where, strings.Join(problems, "; "))
}

// validate validates a text of a configuration.
func (s *snippets) validate(where, text string) {
	file, diags := hclsyntax.ParseConfig([]byte(text), where, hcl.InitialPos)
	if diags.HasErrors() {
		s.report("%s: %v", where, diags)
		return
	}
	body, ok := file.Body.(*hclsyntax.Body)
	require.True(s.t, ok)
	if len(body.Blocks) == 0 && len(body.Attributes) > 0 {
		s.arguments(where, body)
		return
	}
	for _, b := range body.Blocks {
		at := fmt.Sprintf("%s, line %d", where, b.TypeRange.Start.Line)
		switch {
		case len(b.Labels) > 0 && (strings.HasPrefix(b.Labels[0], "vnf_") || b.Type == "provider" && b.Labels[0] == "vnf"):
			s.block(at, b, leftOut.MatchString(text[b.Range().Start.Byte:b.Body.EndRange.End.Byte]))
		case !slices.Contains([]string{
			"terraform", "provider", "resource", "data", "ephemeral", "variable", "output", "locals", "module", "import", "moved", "removed", "check", "provider_installation",
			"run", "mock_provider", "override_resource", "variables", "remote_state", "include", "inputs",
		}, b.Type):
			s.report("%s: there are no blocks %q", at, b.Type)
		}
	}
}

// TestSnippets validates each configuration that a document shows: that it can be read, that the provider has its arguments, that
// their values have the right types, and what the provider itself checks when it validates. Terraform's required_providers are in the
// complete examples; a snippet is a part of a configuration that has them.
func TestSnippets(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	s := &snippets{t: t, server: server, schema: getSchema(t)}
	found := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, at := range snippet.FindAllStringSubmatchIndex(string(text), -1) {
			found++
			line := strings.Count(string(text[:at[2]]), "\n")
			s.validate(fmt.Sprintf("%s:%d", path, line+1), string(text[at[2]:at[3]]))
		}
	}
	for _, problem := range s.problems {
		t.Error(problem)
	}
	if found < 70 || s.blocks < 100 {
		t.Errorf("%d snippets with %d blocks of the provider", found, s.blocks)
	}
}

// pairs are arguments of which one excludes or needs another one, beyond those that the documents show together.
const pairs = `
provider "vnf" {
  store = { local = {} }
  vims = { edge = { kubernetes = { endpoint = "https://192.0.2.1:6443", bearer_token = "t" } }, cloud = { openstack = { from_environment = true } } }
}
resource "vnf_vim" "plain" {
  name       = "edge"
  kubernetes = { kubeconfig = var.kubeconfig }
}
resource "vnf_vim" "token" {
  name       = "edge"
  kubernetes = { endpoint = "https://192.0.2.1:6443", bearer_token_wo = "t" }
}
resource "vnf_package" "folder" {
  name   = "web"
  source = "packages/web"
}
resource "vnf_package" "login" {
  name     = "web"
  source   = "https://packages.example/web.csar"
  username = "u"
  password = "p"
}
resource "vnf_package" "token" {
  name         = "web"
  source       = "https://packages.example/web.csar"
  bearer_token = "t"
}
data "vnf_instance" "id" {
  id = "i"
}
data "vnf_instance" "name" {
  vim_id = "v"
  name   = "n"
}
resource "vnf_capi_workload_cluster" "charts" {
  name              = "c"
  management_vim_id = "v"
  chart             = { name = "openstack" }
  addons = {
    path       = { namespace = "a", chart = { path = "charts/a" } }
    repository = { namespace = "a", chart = { repository = "https://charts.example", name = "a" } }
    oci        = { namespace = "a", chart = { oci = "oci://charts.example/a" } }
  }
}
`

// TestUnknownMayBeNull: an argument that is left out may as well be unknown, as `terraform validate` has it for each variable of a module
// whose default is null. What excludes it is reported once it is known.
func TestUnknownMayBeNull(t *testing.T) {
	t.Parallel()
	server, err := providerserver.NewProtocol6WithError(provider.New("test")())()
	require.NoError(t, err)
	s := &snippets{t: t, server: server, schema: getSchema(t), open: true}
	s.validate("pairs", pairs)
	for _, problem := range s.problems {
		t.Error(problem)
	}
	require.Equal(t, 9, s.blocks)
}
