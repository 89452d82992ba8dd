package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the vnf_instance resource as Terraform has it.
type model struct {
	base.InstanceModel

	VIMID                  types.String  `tfsdk:"vim_id"`
	Description            types.String  `tfsdk:"description"`
	Metadata               types.Map     `tfsdk:"metadata"`
	VIMConnections         types.Map     `tfsdk:"vim_connections"`
	ExtVirtualLinks        types.Map     `tfsdk:"ext_virtual_links"`
	ExtManagedVirtualLinks types.Map     `tfsdk:"ext_managed_virtual_links"`
	PackageID              types.String  `tfsdk:"package_id"`
	FlavourID              types.String  `tfsdk:"flavour_id"`
	InstantiationLevelID   types.String  `tfsdk:"instantiation_level_id"`
	ScaleLevels            types.Map     `tfsdk:"scale_levels"`
	ScaleInVNFCIDs         types.Set     `tfsdk:"scale_in_vnfc_ids"`
	AvailabilityZones      types.List    `tfsdk:"availability_zones"`
	AdditionalParams       types.Dynamic `tfsdk:"additional_params"`
	SecretParams           types.Dynamic `tfsdk:"additional_params_wo"`
	SecretParamsVersion    types.Int64   `tfsdk:"additional_params_wo_version"`
	OperationalState       types.String  `tfsdk:"operational_state"`
	ReplaceObjects         types.Set     `tfsdk:"replace_objects"`
	Regenerate             types.Object  `tfsdk:"regenerate"`
	Readiness              types.List    `tfsdk:"readiness"`
	UnknownDrivers         types.String  `tfsdk:"unknown_management_drivers"`
	Termination            types.Object  `tfsdk:"termination"`
	DeletionPolicy         types.Object  `tfsdk:"deletion_policy"`

	VNFDID          types.String `tfsdk:"vnfd_id"`
	ScaleStatus     types.Map    `tfsdk:"scale_status"`
	VNFCCounts      types.Map    `tfsdk:"vnfc_counts"`
	RegisteredVIMID types.String `tfsdk:"registered_vim_id"`
}

// terminationModel is the "termination" argument.
type terminationModel struct {
	Type            types.String         `tfsdk:"type"`
	GracefulTimeout timetypes.GoDuration `tfsdk:"graceful_timeout"`
}

// deletionPolicyModel is the "deletion_policy" argument.
type deletionPolicyModel struct {
	Volumes   types.String `tfsdk:"volumes"`
	Namespace types.String `tfsdk:"namespace"`
	CRDs      types.String `tfsdk:"crds"`
}

// VIM implements base.Model.
func (m *model) VIM() types.String { return m.VIMID }

// RegisteredVIM is the VIM that the instance is.
func (m *model) RegisteredVIM() string { return m.RegisteredVIMID.ValueString() }

// Spec implements base.Model.
func (m *model) Spec(ctx context.Context, _ *model, diags *diag.Diagnostics) (s vnfm.InstanceSpec, known bool) {
	connections, known := m.connections(ctx, diags)
	s.Connections = connections
	for _, v := range []attr.Value{m.Name, m.PackageID, m.ScaleLevels, m.OperationalState, m.ExtVirtualLinks, m.ExtManagedVirtualLinks, m.Regenerate} {
		known = known && tfutil.FullyKnown(ctx, v)
	}
	if !known {
		return s, false
	}
	s = m.BaseSpec(ctx, m.healSpec(ctx, diags), diags)
	s.VIMID, s.Connections, s.Links = m.VIMID.ValueString(), connections, m.links(ctx, diags)
	s.Description, s.PackageID = m.Description.ValueString(), m.PackageID.ValueString()
	s.FlavourID, s.LevelID = m.FlavourID.ValueString(), m.InstantiationLevelID.ValueString()
	s.OperationalState = vnfm.OperationalState(m.OperationalState.ValueString())
	s.Regenerate = base.Regenerate(ctx, m.Regenerate, diags)
	s.Readiness, s.UnknownDrivers = readReadiness(ctx, m.Readiness, diags), vnfm.UnknownDrivers(m.UnknownDrivers.ValueString())
	// Metadata decides on no object: a plan does without what is not known of it.
	if tfutil.FullyKnown(ctx, m.Metadata) {
		s.Metadata = tfutil.Texts(m.Metadata)
	}
	if len(m.ScaleLevels.Elements()) > 0 {
		diags.Append(m.ScaleLevels.ElementsAs(ctx, &s.ScaleLevels, false)...)
	}
	if m.AdditionalParams.IsUnknown() || m.AdditionalParams.IsUnderlyingValueUnknown() {
		return s, false
	}
	params, later, err := tfutil.KnownMapToGo(m.AdditionalParams)
	if err != nil {
		diags.AddAttributeError(path.Root("additional_params"), "Invalid Additional Parameters", "additional_params must be an object: "+err.Error()+".")
		return s, true
	}
	if s.ParamsLater = later; len(params) > 0 {
		s.AdditionalParams = params
	}
	for set, into := range map[*types.Set]*[]string{&m.ReplaceObjects: &s.ReplaceObjects, &m.ScaleInVNFCIDs: &s.ScaleInVNFCIDs} {
		if tfutil.FullyKnown(ctx, *set) {
			*into = tfutil.Strings(*set)
		}
	}
	// They decide on no object: a plan does without what is not known of them.
	if tfutil.FullyKnown(ctx, m.AvailabilityZones) {
		s.AvailabilityZones = tfutil.Strings(m.AvailabilityZones)
	}
	return s, true
}

// Conceal implements base.Model.
func (m *model) Conceal(_ context.Context, config *model, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) []string {
	if config.SecretParams.IsUnknown() || config.SecretParams.IsUnderlyingValueUnknown() {
		spec.SecretsLater = true
		return nil
	}
	params, later, err := tfutil.KnownMapToGo(config.SecretParams)
	if err != nil {
		diags.AddAttributeError(path.Root("additional_params_wo"), "Invalid Additional Parameters", "additional_params_wo must be an object.")
		return nil
	}
	if len(params) > 0 {
		spec.SecretParams = params
	}
	spec.SecretNamesLater, spec.SecretsLater = later, len(later) > 0
	return vnfm.TextsIn(params)
}

// Prepare implements base.Model.
func (m *model) Prepare(ctx context.Context, manager vnfm.Manager, id string, _ *model, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) {
	preview, problems, err := manager.PreviewInstance(ctx, id, *spec)
	if err == nil && preview != nil && preview.NamespaceNeeded {
		var vim *vnfm.VIM
		if vim, err = manager.VIM(ctx, spec.VIMID); err == nil {
			spec.Namespace = vim.DefaultNamespace()
			preview, problems, err = manager.PreviewInstance(ctx, id, *spec)
		}
	}
	switch {
	case err != nil:
		tfutil.AddError(diags, "Read the Package of", fmt.Sprintf("VNF Instance %q", spec.Name), err, path.Root("package_id"))
	case problems.HasErrors():
		diags.Append(tfutil.Problems(problems, path.Root("package_id"))...)
	default:
		m.SetPreview(preview)
	}
}

// TerminateSpec implements base.Model.
func (m *model) TerminateSpec(ctx context.Context, diags *diag.Diagnostics) vnfm.TerminateSpec {
	s := vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesDefault}
	if tfutil.Set(m.Termination) {
		var t terminationModel
		diags.Append(tfutil.Into(ctx, m.Termination, &t)...)
		if tfutil.Set(t.Type) {
			s.Type = vnfm.TerminationType(t.Type.ValueString())
		}
		s.GracePeriod = tfutil.GoDuration(t.GracefulTimeout)
	}
	if tfutil.Set(m.DeletionPolicy) {
		var p deletionPolicyModel
		diags.Append(tfutil.Into(ctx, m.DeletionPolicy, &p)...)
		if tfutil.Set(p.Volumes) {
			s.Volumes = vnfm.VolumePolicy(p.Volumes.ValueString())
		}
		s.Namespace, s.Definitions = vnfm.SharedPolicy(p.Namespace.ValueString()), vnfm.SharedPolicy(p.CRDs.ValueString())
	}
	return s
}

// SetTermination implements base.Model.
func (m *model) SetTermination(from *model) {
	m.Termination, m.DeletionPolicy = from.Termination, from.DeletionPolicy
}

// SetPreview implements base.Model.
func (m *model) SetPreview(p *vnfm.Preview) {
	m.FlavourID = types.StringValue(p.FlavourID)
	m.InstantiationLevelID = tfutil.OptionalString(p.LevelID)
	m.VNFDID = types.StringValue(p.VNFDID)
	m.ScaleStatus = tfutil.Int64Map(p.ScaleStatus)
	m.Objects = base.PlannedObjects(p)
	if m.VNFCCounts = attrs.VNFCCounts(p.VDUs); p.NamesLater {
		m.VNFCCounts = types.MapUnknown(types.Int64Type)
	}
	if !p.RegistersVIM && m.RegisteredVIMID.IsUnknown() {
		m.RegisteredVIMID = types.StringNull()
	}
}

// SetPreviewUnknown implements base.Model.
func (m *model) SetPreviewUnknown(configured *model) {
	if configured.FlavourID.IsNull() {
		m.FlavourID = types.StringUnknown()
	}
	if configured.InstantiationLevelID.IsNull() {
		m.InstantiationLevelID = types.StringUnknown()
	}
	m.VNFDID, m.RegisteredVIMID = types.StringUnknown(), types.StringUnknown()
	m.ScaleStatus = types.MapUnknown(types.Int64Type)
	m.VNFCCounts = types.MapUnknown(types.Int64Type)
}

// SetRecord implements base.Model.
func (m *model) SetRecord(ctx context.Context, i *vnfm.Instance, diags *diag.Diagnostics) {
	m.SetBase(i)
	m.VIMID = types.StringValue(i.VIMID)
	m.Description = tfutil.OptionalString(i.Description)
	m.PackageID = types.StringValue(i.PackageID)
	m.FlavourID = types.StringValue(i.FlavourID)
	m.InstantiationLevelID = tfutil.OptionalString(i.LevelID)
	m.OperationalState = types.StringValue(string(i.OperationalState))
	m.VNFDID = types.StringValue(i.VNFDID)
	m.ScaleStatus = tfutil.Int64Map(i.ScaleStatus)
	m.RegisteredVIMID = tfutil.OptionalString(i.RegisteredVIMID)
	m.Readiness = readinessList(m.Readiness, i.Readiness)
	if m.UnknownDrivers.IsNull() {
		// No record holds it: the default after an import.
		m.UnknownDrivers = types.StringValue(string(vnfm.UnknownDriversError))
	}
	if !m.Metadata.IsNull() || len(i.Metadata) > 0 {
		m.Metadata = tfutil.StringMap(i.Metadata)
	}
	if !m.ScaleLevels.IsNull() || len(i.ScaleLevels) > 0 {
		m.ScaleLevels = tfutil.Int64Map(i.ScaleLevels)
	}
	if m.AdditionalParams.IsNull() && len(i.AdditionalParams) > 0 {
		params, err := tfutil.DynamicFromGo(ctx, i.AdditionalParams)
		if err != nil {
			diags.AddAttributeError(path.Root("additional_params"), "Unreadable Additional Parameters", err.Error())
			return
		}
		m.AdditionalParams = params
	}
}

// SetObservation implements base.Model.
func (m *model) SetObservation(_ context.Context, o *vnfm.Observation, _ *diag.Diagnostics) {
	counts := attrs.VNFCCounts(o.VDUs)
	if len(o.Unseen)+len(o.Unread) > 0 {
		// Attributes that could not be refreshed keep their last known state.
		all := counts.Elements()
		for id, known := range m.VNFCCounts.Elements() {
			if _, seen := all[id]; !seen {
				all[id] = known
			}
		}
		counts = types.MapValueMust(types.Int64Type, all)
	}
	m.VNFCCounts = counts
}

// Finish implements base.Model: preview and record say all.
func (m *model) Finish(context.Context, vnfm.Manager, *vnfm.Instance, *diag.Diagnostics) {}
