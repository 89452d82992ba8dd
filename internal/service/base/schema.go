package base

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
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

// OnFailureDescription says what the values of on_failure do, here and in the provider.
const OnFailureDescription = "Handling of a failed operation. `fail` keeps what exists and sets `status` to `FAILED_TEMP`: a failed creation is an error and taints the resource, which `terraform untaint` and an apply resume. " +
	"`resume` does the same, but a failed creation is a warning and the next apply resumes; add a `postcondition` on `status`. `rollback` restores the previous state, or removes a failed creation; the creation of what `adopt_existing` takes over cannot have it."

// OnFailureValidators accept the values of on_failure.
func OnFailureValidators() []validator.String {
	return []validator.String{stringvalidator.OneOf(string(vnfm.OnFailureFail), string(vnfm.OnFailureResume), string(vnfm.OnFailureRollback))}
}

// OnUnreachableDescription says what the values of on_unreachable do, here and in the provider.
const OnUnreachableDescription = "Handling of a destroy whose VIM cannot be reached: connection refused, no route, no such host, no answer, or a certificate of another server. `fail` is an error. " +
	"`forget` removes the resource from Terraform's state and from the store after a few tries; a warning lists what was left behind on the VIM. An instance on several VIMs is forgotten if none of them can be reached. Rejected credentials are always an error."

// OnUnreachableValidators accept the values of on_unreachable.
func OnUnreachableValidators() []validator.String {
	return []validator.String{stringvalidator.OneOf(string(vnfm.OnUnreachableFail), string(vnfm.OnUnreachableForget))}
}

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
			MarkdownDescription: fmt.Sprintf("`%[1]s` if the last operation completed, `FAILED_TEMP` if it stopped half-way, `PROCESSING` while it runs or after its process was killed, `UNKNOWN` if the store lost the record.%[2]s With any value other than `%[1]s`, the next apply resumes, unless the resource is tainted; see `on_failure`.", c.CompletedStatus, c.StatusDescription),
			Computed:            true,
		},
		"operations": schema.ListAttribute{
			MarkdownDescription: "What the last apply was planned to do, in words: the LCM operations in their order, each followed by indented lines that say what it does to what runs and which management drivers it calls ([Reading plans](../guides/reading-plans.md)). " +
				"A refresh sets it to null; what ran is in the data source `vnf_operations`.",
			ElementType: types.StringType,
			Computed:    true,
		},
		"changes": schema.MapAttribute{
			MarkdownDescription: "What the last apply was planned to change in objects, field by field, from `group/version/Kind namespace/name` to lines such as `spec.replicas: 1 -> 2`, with lists of the objects that are `added`, `removed`, `kept, no longer managed` or `recreated`. " +
				"Of Secrets it has the keys, and of a new instance nothing. It has 40 lines at most, and a refresh sets it to null.",
			ElementType: changesType,
			Computed:    true,
		},
		"drift": driftAttribute(),
		"on_failure": schema.StringAttribute{
			MarkdownDescription: OnFailureDescription + " Defaults to the argument `on_failure` of the provider, else to `fail`. Changing this applies to the next operation.",
			Optional:            true,
			Validators:          OnFailureValidators(),
		},
		onUnreachable: schema.StringAttribute{
			MarkdownDescription: OnUnreachableDescription + " Defaults to the argument `on_unreachable` of the provider, else to `fail`. Changing this alone asks the VIM nothing and applies to the destroy.",
			Optional:            true,
			Validators:          OnUnreachableValidators(),
		},
		"force_conflicts": switched("Whether to take over fields of another field manager. If `false`, a conflict is an error that names field and manager. Defaults to `false`. Changing this applies to the next operation.", false),
		"adopt_existing":  switched(c.AdoptDescription, false),
		"server_dry_run":  switched(fmt.Sprintf("Whether the plan runs a server-side dry run of changed objects on the %s, if it can be reached. Rejected objects are errors, or warnings if the last operation did not complete; results that can differ at apply time, such as quotas and webhooks, are warnings. Of more than 64 new objects it tries 64, each kind and form first, unless `adopt_existing` is set. Defaults to `true`. Changing this applies to the next plan.", c.VIMNoun), true),
		"lock_timeout": schema.StringAttribute{
			MarkdownDescription: fmt.Sprintf("Time that an operation waits for another process that works on the %s; `0s` fails at once. The lock of a process that was killed on another machine expires within a minute, and the operation waits for that. Never waits if another process of this machine is creating the same %[1]s. Defaults to `%[2]s`. Changing this applies to the next operation.", c.Noun, defaultLockTimeout),
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString(defaultLockTimeout),
			CustomType:          timetypes.GoDurationType{},
			Validators:          []validator.String{tfutil.NotNegative()},
			PlanModifiers:       []planmodifier.String{tfutil.KeepEqualDuration()},
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
				MarkdownDescription: "Trigger, any string. Changing this heals once.",
				Required:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
			"cause": schema.StringAttribute{
				MarkdownDescription: "Reason, for the record of the operation. Changing this applies to the next `trigger`.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
			},
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
