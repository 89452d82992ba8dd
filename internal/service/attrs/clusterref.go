package attrs

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ClusterRefType is the type of a reference to a workload cluster.
var ClusterRefType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"management_vim_id": types.StringType, "namespace": types.StringType, "name": types.StringType,
}}

// ClusterRef reads a reference to a workload cluster; nil when it is not set.
func ClusterRef(o types.Object) *vnfm.ClusterRef {
	if !tfutil.Set(o) {
		return nil
	}
	text := func(name string) string {
		s, _ := o.Attributes()[name].(types.String)
		return s.ValueString()
	}
	return &vnfm.ClusterRef{VIMID: text("management_vim_id"), Namespace: text("namespace"), Name: text("name")}
}

// ClusterRefValue renders a reference to a workload cluster; nil is null.
func ClusterRefValue(ref *vnfm.ClusterRef) types.Object {
	if ref == nil {
		return types.ObjectNull(ClusterRefType.AttrTypes)
	}
	return types.ObjectValueMust(ClusterRefType.AttrTypes, map[string]attr.Value{
		"management_vim_id": types.StringValue(ref.VIMID), "namespace": types.StringValue(ref.Namespace), "name": types.StringValue(ref.Name),
	})
}
