package base

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const defaultLockTimeout = "30s"

// attributes are those of InstanceModel that mean the same in all resources: how operations
// run, and their result. Each resource describes the others.
func (c *Config) attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			MarkdownDescription: c.IDDescription,
			Computed:            true,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"status": schema.StringAttribute{
			MarkdownDescription: "`INSTANTIATED` when the last operation completed; `FAILED_TEMP` when it stopped half-way, `PROCESSING` while it runs or after its process was killed, `UNKNOWN` when the store has lost the record. " +
				"Whatever it is other than `INSTANTIATED`, the next apply continues. A `postcondition` on it makes such an apply fail.",
			Computed: true,
		},
		"on_failure": schema.StringAttribute{
			MarkdownDescription: "What becomes of an operation that fails half-way. `resume` (default) keeps what exists, sets `status` to `FAILED_TEMP`, and the next apply continues. `rollback` restores what was before; after a failed creation everything is removed again.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString(string(vnfm.OnFailureResume)),
			Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.OnFailureResume), string(vnfm.OnFailureRollback))},
		},
		"force_conflicts": switched("Take over fields that another field manager owns. Default `false`: a conflict is an error that names field and manager.", false),
		"adopt_existing":  switched(c.AdoptDescription, false),
		"server_dry_run": switched(fmt.Sprintf("Have the %s try at plan time what the plan adds or changes (server-side dry run), when it is registered and can be reached. "+
			"Objects that the API server would refuse as they are written are errors of the plan; what may be different by the time of the apply (quotas, webhooks, conflicts, a %[1]s that does not answer) is a warning. "+
			"That is one request for each object that is new or changed; a plan without a change asks nothing. Default `true`.", c.VIMNoun), true),
		"lock_timeout": schema.StringAttribute{
			MarkdownDescription: fmt.Sprintf("How long an operation waits for another process that works on the %s before it gives up and names that process. `0s` gives up at once. "+
				"The creation of one that another process is just creating is never waited for. Default `%s`.", c.Noun, defaultLockTimeout),
			Optional:   true,
			Computed:   true,
			Default:    stringdefault.StaticString(defaultLockTimeout),
			CustomType: tfutil.DurationType{},
		},
	}
}

func switched(description string, on bool) schema.Attribute {
	return schema.BoolAttribute{MarkdownDescription: description, Optional: true, Computed: true, Default: booldefault.StaticBool(on)}
}

// HealAttribute is the argument heal; targets are the attributes that name what is
// replaced.
func HealAttribute(description string, targets map[string]schema.Attribute) schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: description,
		Optional:            true,
		Attributes: tfutil.Merged(targets, map[string]schema.Attribute{
			"trigger": schema.StringAttribute{
				MarkdownDescription: "Any text. A change runs the healing once.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"cause": schema.StringAttribute{MarkdownDescription: "Why, for the record of the operation.", Optional: true},
		}),
	}
}

// Names is an optional set of names with at least one.
func Names(description string) schema.Attribute {
	return schema.SetAttribute{
		MarkdownDescription: description,
		ElementType:         types.StringType,
		Optional:            true,
		Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
	}
}
