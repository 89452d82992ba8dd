package provider_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	fwprovider "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/provider"
)

// The names that a rule of adr/0038 is about.
var (
	durationName = regexp.MustCompile(`(^|_)(timeout|ttl|wait)$`)
	instantName  = regexp.MustCompile(`_at$|(^|_)not_after$|^rollout_after$`)
	triggerName  = regexp.MustCompile(`(^|_)trigger$`)
	// actionName begins names of what is done once: these are triggers.
	actionName = regexp.MustCompile(`^(rotat|regenerat|renew)`)
	// deploymentFlavour are the names that have ETSI's word; Nova's machine size is a flavor.
	deploymentFlavour = []string{"flavours", "flavour_id", "default_flavour_id"}
	// fixedDefault is a default that a description gives as one literal.
	fixedDefault = regexp.MustCompile("Defaults to `([a-zA-Z0-9_-]+)`[.,;:]")
)

// walked is an attribute of a schema, at any depth.
type walked struct {
	// path begins with the kind, which is provider, resource, data or ephemeral, and the type.
	path, name string
	kind       string
	typed      attr.Type
	schema     *tfprotov6.SchemaAttribute
}

func (w walked) settable() bool { return w.schema.Optional || w.schema.Required }

// walkSchemas calls visit for each attribute of each schema. Parameters and results of
// functions are not walked.
func walkSchemas(t *testing.T, visit func(walked, map[string]*tfprotov6.SchemaAttribute)) {
	t.Helper()
	resp, typed := getSchema(t), frameworkTypes(t)
	var walk func(kind, path string, attributes []*tfprotov6.SchemaAttribute, types map[string]attr.Type)
	walk = func(kind, path string, attributes []*tfprotov6.SchemaAttribute, types map[string]attr.Type) {
		siblings := map[string]*tfprotov6.SchemaAttribute{}
		for _, a := range attributes {
			siblings[a.Name] = a
		}
		for _, a := range attributes {
			w := walked{path: path + "." + a.Name, name: a.Name, kind: kind, typed: types[a.Name], schema: a}
			if w.typed == nil {
				t.Fatalf("%s has no type", w.path)
			}
			visit(w, siblings)
			if a.NestedType != nil {
				walk(kind, w.path, a.NestedType.Attributes, attributeTypes(w.typed))
			}
		}
	}
	walk("provider", "provider", resp.Provider.Block.Attributes, attributeTypes(typed["provider"]))
	for kind, schemas := range map[string]map[string]*tfprotov6.Schema{
		"resource": resp.ResourceSchemas, "data": resp.DataSourceSchemas, "ephemeral": resp.EphemeralResourceSchemas,
	} {
		for name, s := range schemas {
			path := kind + "." + name
			walk(kind, path, s.Block.Attributes, attributeTypes(typed[path]))
		}
	}
}

// attributeTypes are the types of the attributes of an object, or of the objects in a collection.
func attributeTypes(t attr.Type) map[string]attr.Type {
	switch t := t.(type) {
	case attr.TypeWithAttributeTypes:
		return t.AttributeTypes()
	case attr.TypeWithElementType:
		return attributeTypes(t.ElementType())
	default:
		return nil
	}
}

// frameworkTypes are the types of all schemas, which unlike those of the protocol show custom
// types.
func frameworkTypes(t *testing.T) map[string]attr.Type {
	t.Helper()
	ctx, out := t.Context(), map[string]attr.Type{}
	p := provider.New("test")()
	var s fwprovider.SchemaResponse
	p.Schema(ctx, fwprovider.SchemaRequest{}, &s)
	out["provider"] = s.Schema.Type()
	for _, newResource := range p.Resources(ctx) {
		var meta resource.MetadataResponse
		var s resource.SchemaResponse
		r := newResource()
		r.Metadata(ctx, resource.MetadataRequest{ProviderTypeName: "vnf"}, &meta)
		r.Schema(ctx, resource.SchemaRequest{}, &s)
		out["resource."+meta.TypeName] = s.Schema.Type()
	}
	for _, newDataSource := range p.DataSources(ctx) {
		var meta datasource.MetadataResponse
		var s datasource.SchemaResponse
		d := newDataSource()
		d.Metadata(ctx, datasource.MetadataRequest{ProviderTypeName: "vnf"}, &meta)
		d.Schema(ctx, datasource.SchemaRequest{}, &s)
		out["data."+meta.TypeName] = s.Schema.Type()
	}
	ephemerals, ok := p.(fwprovider.ProviderWithEphemeralResources)
	if !ok {
		t.Fatal("the provider has no ephemeral resources")
	}
	for _, newEphemeral := range ephemerals.EphemeralResources(ctx) {
		var meta ephemeral.MetadataResponse
		var s ephemeral.SchemaResponse
		e := newEphemeral()
		e.Metadata(ctx, ephemeral.MetadataRequest{ProviderTypeName: "vnf"}, &meta)
		e.Schema(ctx, ephemeral.SchemaRequest{}, &s)
		out["ephemeral."+meta.TypeName] = s.Schema.Type()
	}
	return out
}

// TestSchemaFollowsRules holds rules 1, 2, 5, 9 and 12 of adr/0038 as far as a schema shows
// them.
func TestSchemaFollowsRules(t *testing.T) {
	t.Parallel()
	count := 0
	walkSchemas(t, func(w walked, siblings map[string]*tfprotov6.SchemaAttribute) {
		count++
		for _, broken := range slices.Concat(brokenTimes(w), brokenTriggers(w), brokenSecrets(w, siblings), brokenDefaults(w)) {
			t.Errorf("%s %s (adr/0038)", w.path, broken)
		}
		if strings.Contains(w.name, "flavour") && !slices.Contains(deploymentFlavour, w.name) {
			t.Errorf("%s: a deployment flavour is flavour_id, a machine size of Nova is a flavor (adr/0038)", w.path)
		}
	})
	if count < 300 {
		t.Errorf("%d attributes were walked", count)
	}
}

// brokenTimes is rule 1: durations and instants have the types of timetypes.
func brokenTimes(w walked) (broken []string) {
	if durationName.MatchString(w.name) && !w.typed.Equal(timetypes.GoDurationType{}) {
		broken = append(broken, "is a duration, but not of the type GoDuration")
	}
	if strings.HasSuffix(w.name, "wait") {
		broken = append(broken, "is a limit: its name ends in _timeout")
	}
	if instantName.MatchString(w.name) && !w.typed.Equal(timetypes.RFC3339Type{}) {
		broken = append(broken, "is an instant, but not of the type RFC3339")
	}
	return broken
}

// brokenTriggers is rule 2: triggers are strings of any content, named for what is done, or
// inside an object with that name.
func brokenTriggers(w walked) (broken []string) {
	if triggerName.MatchString(w.name) && (!w.typed.Equal(basetypes.StringType{}) || w.schema.Computed) {
		broken = append(broken, "is a trigger, but not a string that only the configuration sets")
	}
	object, isObject := w.typed.(basetypes.ObjectType)
	if isObject && object.AttrTypes["trigger"] != nil {
		return broken
	}
	if actionName.MatchString(w.name) && w.settable() && !triggerName.MatchString(w.name) {
		broken = append(broken, "is a trigger: its name ends in _trigger")
	}
	return broken
}

// brokenSecrets is rule 9: a secret argument of a resource has a write-only twin with a
// version.
func brokenSecrets(w walked, siblings map[string]*tfprotov6.SchemaAttribute) (broken []string) {
	if w.kind != "resource" {
		return nil
	}
	if w.schema.Sensitive && w.settable() && !w.schema.WriteOnly {
		if twin := siblings[w.name+"_wo"]; twin == nil || !twin.WriteOnly || !twin.Sensitive {
			broken = append(broken, "is secret, but has no write-only twin "+w.name+"_wo")
		}
	}
	if !w.schema.WriteOnly {
		return broken
	}
	plain, ok := strings.CutSuffix(w.name, "_wo")
	if !ok {
		return append(broken, "is write-only: its name ends in _wo")
	}
	// The parameters in clear are those that are not secret.
	if twin := siblings[plain]; twin == nil || (!twin.Sensitive && plain != "additional_params") {
		broken = append(broken, "is write-only, but has no sensitive twin "+plain)
	}
	if version := siblings[w.name+"_version"]; version == nil || !version.Optional || version.Type == nil || !version.Type.Is(tftypes.Number) {
		broken = append(broken, "is write-only, but has no "+w.name+"_version")
	}
	return broken
}

// brokenDefaults is rule 12: fixed defaults of a resource are in its schema, and what remains
// after a destroy is no boolean.
func brokenDefaults(w walked) (broken []string) {
	if w.kind != "resource" || !w.settable() || w.schema.Required {
		return nil
	}
	boolean := w.schema.Type != nil && w.schema.Type.Is(tftypes.Bool)
	if boolean && strings.HasPrefix(w.name, "keep_") {
		broken = append(broken, "is a boolean: what remains after a destroy is an entry of deletion_policy")
	}
	switch literal := fixedDefault.FindStringSubmatch(w.schema.Description); {
	case w.schema.Computed:
	case boolean && !strings.Contains(w.schema.Description, "If not set, "):
		broken = append(broken, "is a boolean without a default in the schema")
	case literal != nil && w.schema.Type != nil && !isTimeLimit(w):
		broken = append(broken, "has the default "+literal[1]+", but not in the schema")
	}
	return broken
}

// isTimeLimit reports whether an attribute is one of the object timeouts, whose defaults the
// provider knows.
func isTimeLimit(w walked) bool { return strings.Contains(w.path, ".timeouts.") }

// TestOneNameOneType is rule 8 of adr/0038: attributes of one name have one type. Objects of
// one name may have other attributes.
func TestOneNameOneType(t *testing.T) {
	t.Parallel()
	seen := map[string]map[string][]string{}
	walkSchemas(t, func(w walked, _ map[string]*tfprotov6.SchemaAttribute) {
		// Connections by the name of a VIM; those of a data source are records. So are operations that ran; those that are planned are words.
		if isTimeLimit(w) || w.path == "provider.vims" || w.path == "data.vnf_operations.operations" {
			return
		}
		if seen[w.name] == nil {
			seen[w.name] = map[string][]string{}
		}
		shape := shapeOf(w.typed)
		seen[w.name][shape] = append(seen[w.name][shape], w.path)
	})
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if len(seen[name]) == 1 {
			continue
		}
		var shapes []string
		for _, shape := range slices.Sorted(maps.Keys(seen[name])) {
			slices.Sort(seen[name][shape])
			shapes = append(shapes, fmt.Sprintf("%s: %s", shape, strings.Join(seen[name][shape], ", ")))
		}
		t.Errorf("%q has several types (adr/0038)\n%s", name, strings.Join(shapes, "\n"))
	}
}

// shapeOf is a type without the attributes of objects.
func shapeOf(t attr.Type) string {
	element := func() string {
		with, ok := t.(attr.TypeWithElementType)
		if !ok {
			return ""
		}
		return shapeOf(with.ElementType())
	}
	switch t.(type) {
	case basetypes.ListTypable:
		return "list of " + element()
	case basetypes.SetTypable:
		return "set of " + element()
	case basetypes.MapTypable:
		return "map of " + element()
	case basetypes.ObjectTypable:
		return "object"
	case basetypes.StringTypable:
		return "string"
	default:
		return t.String()
	}
}
