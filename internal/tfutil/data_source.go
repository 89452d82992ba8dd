package tfutil

import (
	"fmt"
	"slices"
	"strings"

	dschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// ComputedAttributes returns the attributes of a resource as computed attributes
// of a data source, at every depth, with their descriptions as far as these are not about
// arguments. Write-only attributes and those named in omit are left out, also inside nested
// ones. It panics on a kind of attribute that it does not know, when the schema is built.
func ComputedAttributes(attributes map[string]rschema.Attribute, omit ...string) map[string]dschema.Attribute {
	out := make(map[string]dschema.Attribute, len(attributes))
	for name, a := range attributes {
		if a.IsWriteOnly() || slices.Contains(omit, name) {
			continue
		}
		out[name] = computed(name, a, omit)
	}
	return out
}

// argumentSentences begin the sentences that are about setting an argument.
var argumentSentences = []string{"Changing ", "Defaults to ", "Set exactly ", "Exactly one ", "Required unless ", "It is required "}

// readDescription returns the sentences of a description that are true of what is read.
func readDescription(description string) string {
	var kept strings.Builder
	for sentence := range strings.SplitAfterSeq(description, ". ") {
		if !slices.ContainsFunc(argumentSentences, func(begin string) bool { return strings.HasPrefix(sentence, begin) }) {
			kept.WriteString(sentence)
		}
	}
	return strings.TrimSpace(kept.String())
}

func computed(name string, a rschema.Attribute, omit []string) dschema.Attribute {
	switch a := a.(type) {
	case rschema.StringAttribute:
		return dschema.StringAttribute{Computed: true, CustomType: a.CustomType, Sensitive: a.Sensitive, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.BoolAttribute:
		return dschema.BoolAttribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.Int64Attribute:
		return dschema.Int64Attribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.Float64Attribute:
		return dschema.Float64Attribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.DynamicAttribute:
		return dschema.DynamicAttribute{Computed: true, Sensitive: a.Sensitive, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.ListAttribute:
		return dschema.ListAttribute{Computed: true, ElementType: a.ElementType, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.SetAttribute:
		return dschema.SetAttribute{Computed: true, CustomType: a.CustomType, ElementType: a.ElementType, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.MapAttribute:
		return dschema.MapAttribute{Computed: true, ElementType: a.ElementType, MarkdownDescription: readDescription(a.MarkdownDescription)}
	case rschema.SingleNestedAttribute:
		return dschema.SingleNestedAttribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription), Attributes: ComputedAttributes(a.Attributes, omit...)}
	case rschema.ListNestedAttribute:
		return dschema.ListNestedAttribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription),
			NestedObject: dschema.NestedAttributeObject{Attributes: ComputedAttributes(a.NestedObject.Attributes, omit...)}}
	case rschema.MapNestedAttribute:
		return dschema.MapNestedAttribute{Computed: true, MarkdownDescription: readDescription(a.MarkdownDescription),
			NestedObject: dschema.NestedAttributeObject{Attributes: ComputedAttributes(a.NestedObject.Attributes, omit...)}}
	default:
		panic(fmt.Sprintf("attribute %q: %T has no data source form", name, a))
	}
}
