package attrs

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parts of a deployment flavour as Terraform sees them.
var (
	aspectTypes = map[string]attr.Type{
		"name":        types.StringType,
		"description": types.StringType,
		"max_level":   types.Int64Type,
	}
	levelTypes = map[string]attr.Type{
		"description":  types.StringType,
		"scale_levels": types.MapType{ElemType: types.Int64Type},
	}
	vduTypes = map[string]attr.Type{
		"name":              types.StringType,
		"description":       types.StringType,
		"type":              types.StringType,
		"min_instances":     types.Int64Type,
		"max_instances":     types.Int64Type,
		"initial_instances": types.Int64Type,
	}
	flavourTypes = map[string]attr.Type{
		"description":                    types.StringType,
		"default_instantiation_level_id": types.StringType,
		"scaling_aspects":                types.MapType{ElemType: types.ObjectType{AttrTypes: aspectTypes}},
		"instantiation_levels":           types.MapType{ElemType: types.ObjectType{AttrTypes: levelTypes}},
		"vdus":                           types.MapType{ElemType: types.ObjectType{AttrTypes: vduTypes}},
	}
)

// FlavoursType is the type of the deployment flavours of a VNFD: a map by flavour id.
func FlavoursType() types.MapType {
	return types.MapType{ElemType: types.ObjectType{AttrTypes: flavourTypes}}
}

// FlavoursValue renders the deployment flavours of a VNFD.
func FlavoursValue(flavours []vnfm.Flavour) types.Map {
	values := make(map[string]attr.Value, len(flavours))
	for i := range flavours {
		values[flavours[i].ID] = flavourValue(&flavours[i])
	}
	return types.MapValueMust(types.ObjectType{AttrTypes: flavourTypes}, values)
}

func flavourValue(f *vnfm.Flavour) attr.Value {
	aspects := make(map[string]attr.Value, len(f.Aspects))
	for _, a := range f.Aspects {
		aspects[a.ID] = types.ObjectValueMust(aspectTypes, map[string]attr.Value{
			"name":        tfutil.OptionalString(a.Name),
			"description": tfutil.OptionalString(a.Description),
			"max_level":   types.Int64Value(int64(a.MaxLevel)),
		})
	}
	levels := make(map[string]attr.Value, len(f.Levels))
	for _, l := range f.Levels {
		levels[l.ID] = types.ObjectValueMust(levelTypes, map[string]attr.Value{
			"description":  tfutil.OptionalString(l.Description),
			"scale_levels": tfutil.Int64Map(l.ScaleInfo),
		})
	}
	vdus := make(map[string]attr.Value, len(f.VDUs))
	for _, v := range f.VDUs {
		vdus[v.ID] = types.ObjectValueMust(vduTypes, map[string]attr.Value{
			"name":              tfutil.OptionalString(v.Name),
			"description":       tfutil.OptionalString(v.Description),
			"type":              types.StringValue(v.Type),
			"min_instances":     types.Int64Value(int64(v.MinInstances)),
			"max_instances":     types.Int64Value(int64(v.MaxInstances)),
			"initial_instances": tfutil.OptionalInt64(v.InitialDelta),
		})
	}
	return types.ObjectValueMust(flavourTypes, map[string]attr.Value{
		"description":                    tfutil.OptionalString(f.Description),
		"default_instantiation_level_id": tfutil.OptionalString(f.DefaultLevelID),
		"scaling_aspects":                types.MapValueMust(types.ObjectType{AttrTypes: aspectTypes}, aspects),
		"instantiation_levels":           types.MapValueMust(types.ObjectType{AttrTypes: levelTypes}, levels),
		"vdus":                           types.MapValueMust(types.ObjectType{AttrTypes: vduTypes}, vdus),
	})
}

// FlavoursAttribute is the computed attribute that holds a FlavoursValue.
func FlavoursAttribute() schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	number := func(description string) schema.Attribute {
		return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
	}
	nested := func(description string, attributes map[string]schema.Attribute) schema.Attribute {
		return schema.MapNestedAttribute{Computed: true, MarkdownDescription: description, NestedObject: schema.NestedAttributeObject{Attributes: attributes}}
	}
	return nested("Deployment flavours of the VNFD, by flavour id.", map[string]schema.Attribute{
		"description":                    text("Description of the flavour."),
		"default_instantiation_level_id": text("Default instantiation level. Null if the flavour has no levels."),
		"scaling_aspects": nested("Scaling aspects of the flavour, by aspect id.", map[string]schema.Attribute{
			"name":        text("Name of the aspect."),
			"description": text("Description of the aspect."),
			"max_level":   number("Highest scale level; the lowest is 0."),
		}),
		"instantiation_levels": nested("Instantiation levels of the flavour, by level id.", map[string]schema.Attribute{
			"description": text("Description of the level."),
			"scale_levels": schema.MapAttribute{Computed: true, ElementType: types.Int64Type,
				MarkdownDescription: "Scale level of each aspect at this instantiation level. An aspect that is absent is at level 0."},
		}),
		"vdus": nested("VDUs of the flavour, by the name of their node template.", map[string]schema.Attribute{
			"name":              text("Name of the VDU, on Kubernetes that of its workload object."),
			"description":       text("Description of the VDU."),
			"type":              text("TOSCA node type of the VDU."),
			"min_instances":     number("Lowest number of VNFCs of the VDU."),
			"max_instances":     number("Highest number of VNFCs of the VDU."),
			"initial_instances": number("Number of VNFCs at scale level 0 of all aspects. Null if no initial delta names the VDU."),
		}),
	})
}
