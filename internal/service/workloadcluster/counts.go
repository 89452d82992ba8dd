package workloadcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// The numbers of machines are validated with the configuration, which needs no management cluster.
// The forms of a cluster check them again, for specifications that come from elsewhere.

const invalidNumber = "Invalid Number of Machines"

// odd validates the number of machines of a control plane.
type odd struct{}

// Description implements validator.Describer.
func (odd) Description(context.Context) string { return "is an odd number" }

// MarkdownDescription implements validator.Describer.
func (v odd) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateInt64 implements validator.Int64.
func (odd) ValidateInt64(_ context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if n := req.ConfigValue; tfutil.Set(n) && n.ValueInt64()%2 == 0 {
		resp.Diagnostics.AddAttributeError(req.Path, invalidNumber, fmt.Sprintf("A control plane cannot have %d machines: its etcd needs an odd number of members, 1, 3 or 5.", n.ValueInt64()))
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
	limited := !least.IsNull() || !most.IsNull()
	var problem string
	switch {
	case limited && !replicas.IsNull():
		problem = "replicas is the number of machines, and min_replicas and max_replicas leave it to an autoscaler: set one or the other"
	case limited && (least.IsNull() || most.IsNull()):
		problem = "an autoscaler needs both min_replicas and max_replicas"
	case limited && least.ValueInt64() > most.ValueInt64():
		problem = fmt.Sprintf("min_replicas, %d, is above max_replicas, %d", least.ValueInt64(), most.ValueInt64())
	default:
		return
	}
	resp.Diagnostics.AddAttributeError(req.Path, invalidNumber, fmt.Sprintf("%s: %s.", req.Path, problem))
}
