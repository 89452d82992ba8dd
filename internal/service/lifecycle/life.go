package lifecycle

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Life are the attributes that all kinds have; their models embed it.
type Life struct {
	ID        types.String `tfsdk:"id"`
	VIMID     types.String `tfsdk:"vim_id"`
	Namespace types.String `tfsdk:"namespace"`
	Name      types.String `tfsdk:"name"`

	Heal           types.Object   `tfsdk:"heal"`
	Sink           types.Object   `tfsdk:"credentials_sink"`
	OnFailure      types.String   `tfsdk:"on_failure"`
	ForceConflicts types.Bool     `tfsdk:"force_conflicts"`
	AdoptExisting  types.Bool     `tfsdk:"adopt_existing"`
	LockTimeout    types.String   `tfsdk:"lock_timeout"`
	ServerDryRun   types.Bool     `tfsdk:"server_dry_run"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`

	Status     types.String `tfsdk:"status"`
	Generation types.Int64  `tfsdk:"generation"`
	Objects    types.Map    `tfsdk:"objects"`
}

// Common returns the attributes.
func (l *Life) Common() *Life { return l }

// BaseSpec reads what the attributes say; vnfcs and vdus are the attributes of a heal that
// name what is replaced.
func (l *Life) BaseSpec(ctx context.Context, vnfcs, vdus string, diags *diag.Diagnostics) vnfm.InstanceSpec {
	return vnfm.InstanceSpec{
		Name: l.Name.ValueString(), VIMID: l.VIMID.ValueString(), Namespace: l.Namespace.ValueString(),
		OnFailure: vnfm.OnFailure(l.OnFailure.ValueString()), ForceConflicts: l.ForceConflicts.ValueBool(), AdoptExisting: l.AdoptExisting.ValueBool(),
		Heal: l.heal(ctx, vnfcs, vdus, diags), Sink: tfutil.Sink(l.Sink),
	}
}

// SetBase takes over what the record says of these attributes.
func (l *Life) SetBase(i *vnfm.Instance) {
	l.ID, l.VIMID = types.StringValue(i.ID), types.StringValue(i.VIMID)
	l.Namespace, l.Name = types.StringValue(i.Namespace), types.StringValue(i.Name)
	l.OnFailure = types.StringValue(string(i.OnFailure))
	l.Status, l.Generation = types.StringValue(string(i.Status)), types.Int64Value(i.Generation)
}

// patient returns a context with the patience that the user has for other processes.
func (l *Life) patient(ctx context.Context) context.Context {
	// The validator of the schema has parsed it before. A state that has no value
	// yet waits for nothing.
	limit, _ := time.ParseDuration(l.LockTimeout.ValueString())
	return vnfm.WithLockTimeout(ctx, limit)
}

// heal reads what is to be replaced; nil while that is not known.
func (l *Life) heal(ctx context.Context, vnfcs, vdus string, diags *diag.Diagnostics) *vnfm.HealSpec {
	if !tfutil.Set(l.Heal) || !tfutil.FullyKnown(ctx, l.Heal) {
		return nil
	}
	text := func(name string) string {
		v, _ := l.Heal.Attributes()[name].(types.String)
		return v.ValueString()
	}
	out := &vnfm.HealSpec{Trigger: text("trigger"), Cause: text("cause")}
	for name, into := range map[string]*[]string{vnfcs: &out.VNFCIDs, vdus: &out.VDUIDs} {
		if set, ok := l.Heal.Attributes()[name].(types.Set); ok && !set.IsNull() {
			diags.Append(set.ElementsAs(ctx, into, false)...)
		}
	}
	return out
}

// heals reports whether the trigger of a heal is another one than that of the
// state. A heal that was taken out of the configuration is over.
func (l *Life) heals(state *Life) bool {
	return !l.Heal.IsNull() && !l.healTrigger().Equal(state.healTrigger())
}

// healTrigger is the trigger of the argument heal; null when it is left out.
func (l *Life) healTrigger() attr.Value {
	switch {
	case l.Heal.IsUnknown():
		return types.StringUnknown()
	case l.Heal.IsNull():
		return types.StringNull()
	}
	return l.Heal.Attributes()["trigger"]
}
