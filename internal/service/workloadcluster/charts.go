package workloadcluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The state holds the resolved chart of a source until the source changes: a version range
// means the same chart in every plan, and a plan without a change needs no repository.

var (
	chartTypes      = map[string]attr.Type{"chart_name": types.StringType, "version": types.StringType, "app_version": types.StringType, "digest": types.StringType}
	addonStatusType = types.ObjectType{AttrTypes: tfutil.Merged(chartTypes, map[string]attr.Type{
		"status": types.StringType, "drift": types.ListType{ElemType: types.StringType},
	})}
)

// The values of the status of an add-on.
const (
	addonDeployed = "DEPLOYED"
	addonDrifted  = "DRIFTED"
	addonMissing  = "MISSING"
	addonPaused   = "PAUSED"
	addonUnknown  = "UNKNOWN"
)

// charted are the attributes about charts.
type charted struct {
	Addons       types.Map    `tfsdk:"addons"`
	AddonsStatus types.Map    `tfsdk:"addons_status"`
	ChartStatus  types.Object `tfsdk:"chart_status"`
}

// chartStatusModel is the chart that a source was resolved to.
type chartStatusModel struct {
	ChartName  types.String `tfsdk:"chart_name"`
	Version    types.String `tfsdk:"version"`
	AppVersion types.String `tfsdk:"app_version"`
	Digest     types.String `tfsdk:"digest"`
}

// addonStatusModel is an entry of addons_status.
type addonStatusModel struct {
	chartStatusModel
	Status types.String `tfsdk:"status"`
	Drift  types.List   `tfsdk:"drift"`
}

// addonState is the state of an add-on. An empty status is unknown.
type addonState struct {
	status string
	drift  []string
}

func (m *addonStatusModel) setState(s addonState) {
	m.Status, m.Drift = types.StringUnknown(), types.ListUnknown(types.StringType)
	if s.status != "" {
		m.Status, m.Drift = types.StringValue(s.status), tfutil.StringList(s.drift)
	}
}

func chartStatusFromDomain(c *vnfm.Chart) chartStatusModel {
	return chartStatusModel{
		ChartName: types.StringValue(c.Name), Version: types.StringValue(c.Version),
		AppVersion: tfutil.OptionalString(c.AppVersion), Digest: types.StringValue(c.Digest),
	}
}

// toDomain returns nil while the chart is not known.
func (m *chartStatusModel) toDomain() *vnfm.Chart {
	if m == nil || m.Digest.ValueString() == "" {
		return nil
	}
	return &vnfm.Chart{Name: m.ChartName.ValueString(), Version: m.Version.ValueString(), AppVersion: m.AppVersion.ValueString(), Digest: m.Digest.ValueString()}
}

func (m *chartStatusModel) values() map[string]attr.Value {
	return map[string]attr.Value{"chart_name": m.ChartName, "version": m.Version, "app_version": m.AppVersion, "digest": m.Digest}
}

func (m chartStatusModel) toTerraform() types.Object {
	return types.ObjectValueMust(chartTypes, m.values())
}

func (m *addonStatusModel) toTerraform() types.Object {
	return types.ObjectValueMust(addonStatusType.AttrTypes, tfutil.Merged(m.values(), map[string]attr.Value{"status": m.Status, "drift": m.Drift}))
}

// addonStatus is the entry of an add-on. An empty status is unknown.
func addonStatus(c *vnfm.Chart, status string) types.Object {
	m := addonStatusModel{chartStatusModel: chartStatusFromDomain(c)}
	m.setState(addonState{status: status})
	return m.toTerraform()
}

// addonChart is the chart that the source of an add-on was resolved to; nil while it is
// not known.
func (m *model) addonChart(ctx context.Context, name string, diags *diag.Diagnostics) *vnfm.Chart {
	status := tfutil.ElementAs[addonStatusModel](ctx, m.AddonsStatus, name, diags)
	if status == nil {
		return nil
	}
	return status.toDomain()
}

// resolveLimit bounds what one plan asks of repositories and registries.
const resolveLimit = 2 * time.Minute

// planCharts resolves the chart sources of the plan. The manager may be nil.
func (m *model) planCharts(ctx context.Context, manager vnfm.ChartManager, config, state *model, diags *diag.Diagnostics) {
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	if state == nil {
		state = &model{}
	}
	m.checkMoves(ctx, state, diags)
	find := func(wanted, before *origin, known *vnfm.Chart) *vnfm.Chart {
		if manager == nil || wanted.access == nil {
			return nil
		}
		source := wanted.source
		if before != nil && source == before.source && source.Fetched() {
			source.Chart = known
		}
		source.Access = wanted.access
		return resolveChart(ctx, manager, wanted.at, source, diags)
	}
	m.planChart(ctx, find, config, state, diags)
	if m.Addons.IsUnknown() {
		m.AddonsStatus = types.MapUnknown(addonStatusType)
		return
	}
	status := addonDeployed
	if m.Paused.ValueBool() {
		status = addonPaused
	}
	entries := map[string]attr.Value{}
	for name := range m.Addons.Elements() {
		entries[name] = types.ObjectUnknown(addonStatusType.AttrTypes)
		wanted := m.addonOrigin(ctx, name, config, diags)
		if wanted == nil {
			continue
		}
		if c := find(wanted, state.addonOrigin(ctx, name, state, diags), state.addonChart(ctx, name, diags)); c != nil {
			entries[name] = addonStatus(c, status)
		}
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// planChart resolves the chart of the cluster itself if it must be downloaded.
func (m *model) planChart(ctx context.Context, find func(wanted, before *origin, known *vnfm.Chart) *vnfm.Chart, config, state *model, diags *diag.Diagnostics) {
	m.ChartStatus = types.ObjectNull(chartTypes)
	wanted := m.chartOrigin(ctx, config, diags)
	switch {
	case wanted == nil && m.chartToCome(ctx, diags):
		m.ChartStatus = types.ObjectUnknown(chartTypes)
	case wanted != nil && wanted.source.Fetched():
		m.ChartStatus = types.ObjectUnknown(chartTypes)
		known := tfutil.As[chartStatusModel](ctx, state.ChartStatus, diags).toDomain()
		if c := find(wanted, state.chartOrigin(ctx, state, diags), known); c != nil {
			m.ChartStatus = chartStatusFromDomain(c).toTerraform()
		}
	}
}

// chartToCome reports whether the cluster may have a chart that is fetched once more is known.
func (m *model) chartToCome(ctx context.Context, diags *diag.Diagnostics) bool {
	if m.Chart.IsUnknown() || m.ClusterTemplate.IsUnknown() {
		return true
	}
	if chart := tfutil.As[chartModel](ctx, m.Chart, diags); chart != nil {
		return !chart.Repository.IsNull() || !chart.OCI.IsNull()
	}
	template := tfutil.As[clusterTemplateModel](ctx, m.ClusterTemplate, diags)
	return template != nil && template.Definition.IsUnknown()
}

// prepareCharts completes the sources of a specification before an operation: with what
// only the configuration has, and with what no plan could find out.
func (m *model) prepareCharts(ctx context.Context, manager vnfm.ChartManager, config *model, cluster *vnfm.ClusterSpec, diags *diag.Diagnostics) {
	complete := func(from *origin, source *vnfm.ChartSource) {
		if from == nil {
			return
		}
		source.Access = from.access
		if source.Chart == nil {
			source.Chart = resolveChart(ctx, manager, from.at, *source, diags)
		}
	}
	if cluster.Chart != nil && cluster.Chart.Fetched() {
		if complete(m.chartOrigin(ctx, config, diags), &cluster.Chart.ChartSource); cluster.Chart.Chart != nil {
			m.ChartStatus = chartStatusFromDomain(cluster.Chart.Chart).toTerraform()
		}
	}
	entries := map[string]attr.Value{}
	for name, a := range cluster.Addons {
		entries[name] = m.AddonsStatus.Elements()[name]
		complete(m.addonOrigin(ctx, name, config, diags), &a.Source)
		if cluster.Addons[name] = a; a.Source.Chart != nil && m.addonChart(ctx, name, diags) == nil {
			entries[name] = addonStatus(a.Source.Chart, "")
		}
	}
	if !diags.HasError() {
		m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
	}
}

// checkMoves rejects another namespace of an add-on: its objects in the old one would remain.
func (m *model) checkMoves(ctx context.Context, state *model, diags *diag.Diagnostics) {
	for name := range m.Addons.Elements() {
		now, before := tfutil.ElementAs[addonModel](ctx, m.Addons, name, diags), tfutil.ElementAs[addonModel](ctx, state.Addons, name, diags)
		if now == nil || before == nil || now.Namespace.IsUnknown() || now.Profile.IsUnknown() || now.namespace() == before.namespace() {
			continue
		}
		diags.AddAttributeError(path.Root(vnfm.AttributeAddons).AtMapKey(name), "Namespace of an Add-on Cannot Change",
			fmt.Sprintf("Add-on %q is in namespace %q. Remove it, apply, and add it again in the other namespace.", name, before.namespace()))
	}
}

// recordCharts takes over what a record says of charts where the state knows nothing, as
// after an import.
func (m *model) recordCharts(c *vnfm.ClusterSpec) {
	if m.ChartStatus.IsUnknown() || (m.ChartStatus.IsNull() && c.Chart != nil && c.Chart.Chart != nil) {
		m.ChartStatus = types.ObjectNull(chartTypes)
		if c.Chart != nil && c.Chart.Chart != nil {
			m.ChartStatus = chartStatusFromDomain(c.Chart.Chart).toTerraform()
		}
	}
	if !m.AddonsStatus.IsNull() && !m.AddonsStatus.IsUnknown() {
		return
	}
	entries := map[string]attr.Value{}
	for name, a := range c.Addons {
		if !a.Unwanted && a.Source.Chart != nil {
			entries[name] = addonStatus(a.Source.Chart, addonUnknown)
		}
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// mapStatus sets the state of each add-on that is known to the result of a function.
func (m *model) mapStatus(ctx context.Context, diags *diag.Diagnostics, state func(name string) addonState) {
	if !tfutil.Set(m.AddonsStatus) {
		return
	}
	entries := m.AddonsStatus.Elements()
	for name := range entries {
		if entry := tfutil.ElementAs[addonStatusModel](ctx, m.AddonsStatus, name, diags); entry != nil {
			entry.setState(state(name))
			entries[name] = entry.toTerraform()
		}
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// setStatusUnknown marks the status of the add-ons unknown, for an operation that changes it.
func (m *model) setStatusUnknown(ctx context.Context, diags *diag.Diagnostics) {
	m.mapStatus(ctx, diags, func(string) addonState { return addonState{} })
}

// setObservedStatus sets the status of the add-ons from the objects of the cluster.
func (m *model) setObservedStatus(ctx context.Context, objects map[string]string, diags *diag.Diagnostics) {
	m.mapStatus(ctx, diags, func(name string) addonState {
		text, there := objects[vnfm.AddonKey(name)]
		differences, drifted := strings.CutPrefix(text, vnfm.Drifted)
		switch {
		case m.Paused.ValueBool():
			return addonState{status: addonPaused}
		case !there:
			return addonState{status: addonMissing}
		case drifted:
			return addonState{status: addonDrifted, drift: strings.Split(differences, vnfm.DriftSeparator)}
		default:
			return addonState{status: addonDeployed}
		}
	})
}
