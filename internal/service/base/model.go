package base

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// InstanceModel has the attributes that are common to all InstanceResources; their models embed it
// and add the argument that names the VIM.
type InstanceModel struct {
	ID        types.String `tfsdk:"id"`
	Namespace types.String `tfsdk:"namespace"`
	Name      types.String `tfsdk:"name"`

	Heal           types.Object         `tfsdk:"heal"`
	Sink           types.Object         `tfsdk:"credentials_sink"`
	OnFailure      types.String         `tfsdk:"on_failure"`
	OnUnreachable  types.String         `tfsdk:"on_unreachable"`
	ForceConflicts types.Bool           `tfsdk:"force_conflicts"`
	AdoptExisting  types.Bool           `tfsdk:"adopt_existing"`
	LockTimeout    timetypes.GoDuration `tfsdk:"lock_timeout"`
	ServerDryRun   types.Bool           `tfsdk:"server_dry_run"`
	Timeouts       timeouts.Value       `tfsdk:"timeouts"`

	Status     types.String `tfsdk:"status"`
	Generation types.Int64  `tfsdk:"generation"`
	Drift      types.List   `tfsdk:"drift"`
	Operations types.List   `tfsdk:"operations"`
	Changes    types.Map    `tfsdk:"changes"`

	// Objects is in the private state.
	Objects Objects `tfsdk:"-"`
}

// Common returns the attributes.
func (m *InstanceModel) Common() *InstanceModel { return m }

// BaseSpec returns the part of the specification that these attributes and heal describe. The VIM
// is for the caller to add.
func (m *InstanceModel) BaseSpec(ctx context.Context, heal *vnfm.HealSpec, diags *diag.Diagnostics) vnfm.InstanceSpec {
	return vnfm.InstanceSpec{
		Name: m.Name.ValueString(), Namespace: m.Namespace.ValueString(),
		OnFailure: vnfm.OnFailure(m.OnFailure.ValueString()), ForceConflicts: m.ForceConflicts.ValueBool(), AdoptExisting: m.AdoptExisting.ValueBool(),
		Heal: heal, Sink: attrs.Sink(ctx, m.Sink, diags),
	}
}

// StatusReady is the status of a workload cluster whose last operation completed. INSTANTIATED,
// the word of its record, is for network functions.
const StatusReady = "READY"

// IsGone reports whether the last refresh found a workload cluster missing or being deleted.
func (m *InstanceModel) IsGone() bool {
	status := vnfm.InstanceStatus(m.Status.ValueString())
	return status == vnfm.StatusDeleting || status == vnfm.StatusDeleted
}

// Status returns the value of the attribute status for a record.
func Status(i *vnfm.Instance) string {
	if i.Cluster != nil && i.Status == vnfm.StatusInstantiated {
		return StatusReady
	}
	return string(i.Status)
}

// SetBase takes over what the record says of these attributes.
func (m *InstanceModel) SetBase(i *vnfm.Instance) {
	m.ID = types.StringValue(i.ID)
	m.Namespace, m.Name = types.StringValue(i.Namespace), types.StringValue(i.Name)
	m.Status, m.Generation = types.StringValue(Status(i)), types.Int64Value(i.Generation)
}

// withLockTimeout returns a context that carries the lock_timeout. In a state without it
// the operation does not wait for other processes.
func (m *InstanceModel) withLockTimeout(ctx context.Context) context.Context {
	return vnfm.WithLockTimeout(ctx, tfutil.GoDuration(m.LockTimeout))
}

// heals reports whether the trigger of a heal is another one than that of the
// state. A heal that was taken out of the configuration is over.
func (m *InstanceModel) heals(state *InstanceModel) bool {
	return !m.Heal.IsNull() && !m.healTrigger().Equal(state.healTrigger())
}

// healTrigger is the trigger of the argument heal; null when it is left out.
func (m *InstanceModel) healTrigger() attr.Value {
	switch {
	case m.Heal.IsUnknown():
		return types.StringUnknown()
	case m.Heal.IsNull():
		return types.StringNull()
	}
	return m.Heal.Attributes()["trigger"]
}
