package attrs

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// VDUType is the type of one VDU of an instance.
var VDUType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"kind":       types.StringType,
	"name":       types.StringType,
	"replicas":   types.Int64Type,
	"autoscaled": types.BoolType,
}}

// VDUsValue renders the VDUs of an instance, by their id.
func VDUsValue(vdus map[string]vnfm.VDUState) types.Map {
	values := make(map[string]attr.Value, len(vdus))
	for id, v := range vdus {
		values[id] = types.ObjectValueMust(VDUType.AttrTypes, map[string]attr.Value{
			"kind":       tfutil.OptionalString(v.Kind),
			"name":       tfutil.OptionalString(v.Name),
			"replicas":   tfutil.OptionalInt64(v.Replicas),
			"autoscaled": types.BoolValue(v.Autoscaled),
		})
	}
	return types.MapValueMust(VDUType, values)
}

// VNFCCounts renders the number of VNFCs of each VDU, null where it is not the instance that decides.
func VNFCCounts(vdus map[string]vnfm.VDUState) types.Map {
	values := make(map[string]attr.Value, len(vdus))
	for id, v := range vdus {
		values[id] = tfutil.OptionalInt64(v.Replicas)
	}
	return types.MapValueMust(types.Int64Type, values)
}

// VDUsAttribute describes the VDUs of an instance.
func VDUsAttribute() schema.Attribute {
	return schema.MapNestedAttribute{
		MarkdownDescription: "VDUs of the instance by id, known at plan time.",
		Computed:            true,
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"kind": schema.StringAttribute{
				MarkdownDescription: "Kind of the workload object; null if `lcm-kubernetes-def-files` of `additional_params` picks no workload for the VDU.",
				Computed:            true,
			},
			"name": schema.StringAttribute{
				MarkdownDescription: "Name of the workload object; null if the VDU has none.",
				Computed:            true,
			},
			"replicas": schema.Int64Attribute{
				MarkdownDescription: "Number of VNFCs; 0 if the VDU has no workload; null if an autoscaler or the kind itself (DaemonSet) sets it.",
				Computed:            true,
			},
			"autoscaled": schema.BoolAttribute{
				MarkdownDescription: "Whether an autoscaler of the package sets the number of VNFCs.",
				Computed:            true,
			},
		}},
	}
}
