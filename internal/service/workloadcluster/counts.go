package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The numbers of machines are validated with the configuration, which needs no management cluster, by the rules of vnfm.

// odd validates the number of machines of a control plane.
type odd struct{}

// Description implements validator.Describer.
func (odd) Description(context.Context) string { return "is an odd number" }

// MarkdownDescription implements validator.Describer.
func (v odd) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateInt64 implements validator.Int64.
func (odd) ValidateInt64(_ context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if n := req.ConfigValue; tfutil.Set(n) {
		c := vnfm.ClusterControlPlane{Replicas: n.ValueInt64Pointer()}
		resp.Diagnostics.Append(tfutil.Problems(c.CheckNumber(), req.Path)...)
	}
}

// sizes validates the combination of replicas, min_replicas and max_replicas.
type sizes struct{}

// Description implements validator.Describer.
func (sizes) Description(context.Context) string {
	return "has either replicas, or min_replicas and max_replicas"
}

// MarkdownDescription implements validator.Describer.
func (v sizes) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateObject implements validator.Object.
func (sizes) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if !tfutil.Set(req.ConfigValue) {
		return
	}
	of := func(name string) types.Int64 {
		n, _ := req.ConfigValue.Attributes()[name].(types.Int64)
		return n
	}
	replicas, least, most := of("replicas"), of("min_replicas"), of("max_replicas")
	for _, n := range []attr.Value{replicas, least, most} {
		if n.IsUnknown() {
			// An unknown value may become null. Terraform validates again once all are known.
			return
		}
	}
	group := vnfm.NodeGroup{Replicas: replicas.ValueInt64Pointer(), MinReplicas: least.ValueInt64Pointer(), MaxReplicas: most.ValueInt64Pointer()}
	name, _ := req.Path.Steps()[len(req.Path.Steps())-1].(path.PathStepElementKeyString)
	resp.Diagnostics.Append(tfutil.Problems(group.CheckNumbers(string(name)), req.Path)...)
}
