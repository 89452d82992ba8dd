package functions

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// NewParseCSARManifest returns the function parse_csar_manifest.
func NewParseCSARManifest() function.Function {
	return parser{name: "parse_csar_manifest", parse: readManifest, definition: function.Definition{
		Summary:     "Parse the manifest of a VNF package",
		Description: "Returns the content of a manifest file (.mf, ETSI GS NFV-SOL 004): metadata, sources, non_mano and signed.",
		MarkdownDescription: "Returns the content of a manifest file (`.mf`, ETSI GS NFV-SOL 004): `metadata`, a map by lower-case key; `sources`, the listed files in the order of the manifest " +
			"with `path`, `algorithm`, `hash`, `content_type` and `external`; `non_mano`, the files of each non-MANO artifact set; and `signed`.\n\n" +
			"The function verifies neither digests nor the signature: `vnf_package` does.",
		Parameters: []function.Parameter{function.StringParameter{
			Name:                "content",
			Description:         "Content of the manifest.",
			MarkdownDescription: "Content of the manifest.",
		}},
		Return: function.ObjectReturn{AttributeTypes: manifestTypes},
	}}
}

var (
	sourceTypes = map[string]attr.Type{
		"path":         types.StringType,
		"algorithm":    types.StringType,
		"hash":         types.StringType,
		"content_type": types.StringType,
		"external":     types.BoolType,
	}
	manifestTypes = map[string]attr.Type{
		"metadata": types.MapType{ElemType: types.StringType},
		"sources":  types.ListType{ElemType: types.ObjectType{AttrTypes: sourceTypes}},
		"non_mano": types.MapType{ElemType: types.ListType{ElemType: types.ObjectType{AttrTypes: sourceTypes}}},
		"signed":   types.BoolType,
	}
)

func readManifest(_ context.Context, content string, _ []string) (types.Object, diag.Diagnostics, *function.FuncError) {
	m, problems := csar.ParseManifest("line", []byte(content))
	if problems.HasErrors() {
		return types.Object{}, nil, function.NewArgumentFuncError(0, problemText("Cannot read the manifest", problems))
	}
	value, diags := manifestValue(m)
	return value, diags, nil
}

func manifestValue(m *csar.Manifest) (types.Object, diag.Diagnostics) {
	metadata := make(map[string]attr.Value, len(m.Metadata))
	for key, text := range m.Metadata {
		metadata[key] = types.StringValue(text)
	}
	sets := map[string][]csar.Source{}
	for _, id := range m.Sets {
		sets[id] = nil
	}
	for _, s := range m.NonMANO {
		sets[s.Set] = append(sets[s.Set], s)
	}
	nonMANO := make(map[string]attr.Value, len(sets))
	for id, sources := range sets {
		nonMANO[id] = sourcesValue(sources)
	}
	return types.ObjectValue(manifestTypes, map[string]attr.Value{
		"metadata": types.MapValueMust(types.StringType, metadata),
		"sources":  sourcesValue(m.Sources),
		"non_mano": types.MapValueMust(types.ListType{ElemType: types.ObjectType{AttrTypes: sourceTypes}}, nonMANO),
		"signed":   types.BoolValue(m.CMS != nil),
	})
}

func sourcesValue(sources []csar.Source) types.List {
	values := make([]attr.Value, 0, len(sources))
	for _, s := range sources {
		values = append(values, types.ObjectValueMust(sourceTypes, map[string]attr.Value{
			"path":         types.StringValue(s.Path),
			"algorithm":    tfutil.OptionalString(s.Algorithm),
			"hash":         tfutil.OptionalString(s.Hash),
			"content_type": tfutil.OptionalString(s.ContentType),
			"external":     types.BoolValue(s.External),
		}))
	}
	return types.ListValueMust(types.ObjectType{AttrTypes: sourceTypes}, values)
}
