package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ruled are the objects whose schemas TestSchemaRules holds to the rules of ADR 38.
var ruled = []string{"vnf_capi_cluster_template", "vnf_capi_workload_cluster", "vnf_capi_workload_kubeconfig"}

// TestSchemaRules checks rules of ADR 38 that names and types alone can break: durations and
// triggers are strings (1, 2), flavor is Nova's word (5), one name has one type (8), and a
// boolean that can be left out has a default that plan and state show (12).
func TestSchemaRules(t *testing.T) {
	t.Parallel()
	resp := getSchema(t)
	kinds, seen := map[string]map[string]string{}, 0
	var walk func(where string, attributes []*tfprotov6.SchemaAttribute)
	walk = func(where string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			at, kind := where+"."+a.Name, kindOf(a)
			seen++
			if a.Name == "timeouts" {
				continue
			}
			if kinds[a.Name] == nil {
				kinds[a.Name] = map[string]string{}
			}
			kinds[a.Name][kind] = at
			for _, suffix := range []string{"timeout", "ttl", "trigger", "_at", "not_after"} {
				if strings.HasSuffix(a.Name, suffix) && kind != "string" {
					t.Errorf("%s is a %s, not a string (rules 1 and 2)", at, kind)
				}
			}
			if strings.Contains(a.Name, "flavour") {
				t.Errorf("%s is of a machine, and Nova's word is flavor (rule 5)", at)
			}
			if kind == "bool" && a.Optional && !a.Computed {
				t.Errorf("%s has no default in the schema (rule 12)", at)
			}
			if a.NestedType != nil {
				walk(at, a.NestedType.Attributes)
			}
		}
	}
	for _, schemas := range []map[string]*tfprotov6.Schema{resp.ResourceSchemas, resp.DataSourceSchemas, resp.EphemeralResourceSchemas} {
		for _, name := range ruled {
			if s := schemas[name]; s != nil {
				walk(name, s.Block.Attributes)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if len(kinds[name]) > 1 {
			t.Errorf("%s has several types (rule 8): %v", name, kinds[name])
		}
	}
	if seen < 100 {
		t.Errorf("%d attributes were checked", seen)
	}
}

// kindOf is the type of an attribute without those inside it.
func kindOf(a *tfprotov6.SchemaAttribute) string {
	if a.NestedType != nil {
		return map[tfprotov6.SchemaObjectNestingMode]string{
			tfprotov6.SchemaObjectNestingModeSingle: "object", tfprotov6.SchemaObjectNestingModeList: "list",
			tfprotov6.SchemaObjectNestingModeSet: "set", tfprotov6.SchemaObjectNestingModeMap: "map",
		}[a.NestedType.Nesting]
	}
	switch {
	case a.Type.Is(tftypes.String):
		return "string"
	case a.Type.Is(tftypes.Bool):
		return "bool"
	case a.Type.Is(tftypes.Number):
		return "number"
	case a.Type.Is(tftypes.List{}):
		return "list"
	case a.Type.Is(tftypes.Set{}):
		return "set"
	case a.Type.Is(tftypes.Map{}):
		return "map"
	case a.Type.Is(tftypes.Object{}):
		return "object"
	default:
		return "dynamic"
	}
}
