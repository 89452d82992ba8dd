package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// otherDefault are ways to write a default besides "Defaults to".
var otherDefault = regexp.MustCompile("(?i)\\bdefaults? (is|are)\\b|\\bdefault `|\\(default\\)|\\bwithout it\\b|when none is given")

// TestDescriptionsAreUniform checks that each argument of a resource, or an argument around
// it, says what changing it does, and that defaults read "Defaults to".
func TestDescriptionsAreUniform(t *testing.T) {
	t.Parallel()
	resp := getSchema(t)
	check := func(kind string, schemas map[string]*tfprotov6.Schema, changes bool) {
		for name, s := range schemas {
			checkWording(t, kind+" "+name, s.Block.Attributes, changes)
		}
	}
	check("resource", resp.ResourceSchemas, true)
	// Data sources and ephemeral resources have no changes: they are read again.
	check("data source", resp.DataSourceSchemas, false)
	check("ephemeral resource", resp.EphemeralResourceSchemas, false)
	check("list resource", resp.ListResourceSchemas, false)
	for name, a := range resp.ActionSchemas {
		checkWording(t, "action "+name, a.Schema.Block.Attributes, false)
	}
}

// checkWording checks attributes and those inside them. Changes says whether arguments have
// to say what changing them does.
func checkWording(t *testing.T, where string, attributes []*tfprotov6.SchemaAttribute, changes bool) {
	t.Helper()
	for _, a := range attributes {
		name := where + "." + a.Name
		saysChange := strings.Contains(a.Description, "Changing this") || strings.Contains(a.Description, "Changing anything here")
		needed := changes && !saysChange && (a.Required || a.Optional)
		if needed {
			t.Errorf("%s does not say what changing it does: %q", name, a.Description)
		}
		if a.Computed && !a.Optional && (saysChange || strings.Contains(a.Description, "Defaults to")) {
			t.Errorf("%s is only read, and speaks of an argument: %q", name, a.Description)
		}
		if found := otherDefault.FindString(a.Description); found != "" {
			t.Errorf("%s writes a default as %q: %q", name, found, a.Description)
		}
		if a.NestedType != nil {
			checkWording(t, name, a.NestedType.Attributes, needed)
		}
	}
}
