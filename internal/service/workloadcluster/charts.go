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

// What a source was found to be is in state, and stays until the source is another one:
// a range of versions means the same chart in every plan, and a plan without a change
// asks no repository.

var (
	chartTypes      = map[string]attr.Type{"chart": types.StringType, "version": types.StringType, "app_version": types.StringType, "digest": types.StringType}
	addonStatusType = types.ObjectType{AttrTypes: tfutil.Merged(chartTypes, map[string]attr.Type{"status": types.StringType})}
)

// What an add-on can be.
const (
	addonDeployed = "deployed"
	addonMissing  = "missing"
	addonPaused   = "paused"
	addonUnknown  = "unknown"
)

// charted are the attributes that say which charts there are.
type charted struct {
	Addons       types.Map    `tfsdk:"addons"`
	AddonsStatus types.Map    `tfsdk:"addons_status"`
	ChartStatus  types.Object `tfsdk:"chart_status"`
}

func chartValues(c *vnfm.Chart) map[string]attr.Value {
	return map[string]attr.Value{
		"chart": types.StringValue(c.Name), "version": types.StringValue(c.Version),
		"app_version": tfutil.OptionalString(c.AppVersion), "digest": types.StringValue(c.Digest),
	}
}

// chartOf reads which chart a source was found to be; nil while that is not known.
func chartOf(o fields) *vnfm.Chart {
	if o.text("digest") == "" {
		return nil
	}
	return &vnfm.Chart{Name: o.text("chart"), Version: o.text("version"), AppVersion: o.text("app_version"), Digest: o.text("digest")}
}

// statusOf is what Terraform knows of an add-on; a status that is empty is to come.
func statusOf(c *vnfm.Chart, status string) types.Object {
	values := chartValues(c)
	values["status"] = types.StringUnknown()
	if status != "" {
		values["status"] = types.StringValue(status)
	}
	return types.ObjectValueMust(addonStatusType.AttrTypes, values)
}

// resolveLimit bounds what one plan asks of repositories and registries.
const resolveLimit = 2 * time.Minute

// planCharts finds the charts that the sources of the plan mean. The manager may be nil.
func (m *model) planCharts(ctx context.Context, manager vnfm.ChartManager, config, state *model, diags *diag.Diagnostics) {
	ctx, cancel := context.WithTimeout(ctx, resolveLimit)
	defer cancel()
	if state == nil {
		state = &model{}
	}
	m.checkMoves(state, diags)
	find := func(wanted, before *origin, known fields) *vnfm.Chart {
		if manager == nil || wanted.access == nil {
			return nil
		}
		source := wanted.source
		if before != nil && source == before.source && source.Fetched() {
			source.Chart = chartOf(known)
		}
		source.Access = wanted.access
		return resolveChart(ctx, manager, wanted.at, source, diags)
	}
	m.planChart(ctx, find, config, state)
	if m.Addons.IsUnknown() {
		m.AddonsStatus = types.MapUnknown(addonStatusType)
		return
	}
	status := addonDeployed
	if m.Paused.ValueBool() {
		status = addonPaused
	}
	entries := map[string]attr.Value{}
	for name, element := range m.Addons.Elements() {
		entries[name] = types.ObjectUnknown(addonStatusType.AttrTypes)
		wanted := m.addonOrigin(ctx, name, config)
		if fieldsOfValue(element) == nil || wanted == nil {
			continue
		}
		if c := find(wanted, state.addonOrigin(ctx, name, state), fieldsOfValue(state.AddonsStatus.Elements()[name])); c != nil {
			entries[name] = statusOf(c, status)
		}
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// planChart finds the chart that the cluster is made of, when it is fetched.
func (m *model) planChart(ctx context.Context, find func(wanted, before *origin, known fields) *vnfm.Chart, config, state *model) {
	m.ChartStatus = types.ObjectNull(chartTypes)
	wanted := m.chartOrigin(ctx, config)
	switch {
	case wanted == nil && m.chartToCome():
		m.ChartStatus = types.ObjectUnknown(chartTypes)
	case wanted != nil && wanted.source.Fetched():
		m.ChartStatus = types.ObjectUnknown(chartTypes)
		if c := find(wanted, state.chartOrigin(ctx, state), fieldsOf(state.ChartStatus)); c != nil {
			m.ChartStatus = types.ObjectValueMust(chartTypes, chartValues(c))
		}
	}
}

// chartToCome reports whether the cluster may have a chart that is fetched once more is known.
func (m *model) chartToCome() bool {
	if m.Chart.IsUnknown() || m.ClusterTemplate.IsUnknown() {
		return true
	}
	if o := fieldsOf(m.Chart); o != nil {
		return o.given("repository") || o.given("oci")
	}
	o := fieldsOf(m.ClusterTemplate)
	return o != nil && o["definition"].IsUnknown()
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
		if complete(m.chartOrigin(ctx, config), &cluster.Chart.ChartSource); cluster.Chart.Chart != nil {
			m.ChartStatus = types.ObjectValueMust(chartTypes, chartValues(cluster.Chart.Chart))
		}
	}
	entries := map[string]attr.Value{}
	for name, a := range cluster.Addons {
		entries[name] = m.AddonsStatus.Elements()[name]
		complete(m.addonOrigin(ctx, name, config), &a.Source)
		if cluster.Addons[name] = a; a.Source.Chart != nil && chartOf(fieldsOfValue(entries[name])) == nil {
			entries[name] = statusOf(a.Source.Chart, "")
		}
	}
	if !diags.HasError() {
		m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
	}
}

// checkMoves refuses to move an add-on: what is in the old namespace would stay there.
func (m *model) checkMoves(state *model, diags *diag.Diagnostics) {
	for name, element := range m.Addons.Elements() {
		now, before := fieldsOfValue(element), fieldsOfValue(state.Addons.Elements()[name])
		if now == nil || before == nil || now["namespace"].IsUnknown() || now["namespace"].Equal(before["namespace"]) {
			continue
		}
		diags.AddAttributeError(path.Root(vnfm.AttributeAddons).AtMapKey(name), "Namespace of an Add-on Cannot Change",
			fmt.Sprintf("Add-on %q is in namespace %q. Take it out, apply, and add it again in the other namespace.", name, before.text("namespace")))
	}
}

// recordCharts takes over what a record says of charts where the state knows nothing, as
// after an import.
func (m *model) recordCharts(c *vnfm.ClusterSpec) {
	if m.ChartStatus.IsUnknown() || (m.ChartStatus.IsNull() && c.Chart != nil && c.Chart.Chart != nil) {
		m.ChartStatus = types.ObjectNull(chartTypes)
		if c.Chart != nil && c.Chart.Chart != nil {
			m.ChartStatus = types.ObjectValueMust(chartTypes, chartValues(c.Chart.Chart))
		}
	}
	if !m.AddonsStatus.IsNull() && !m.AddonsStatus.IsUnknown() {
		return
	}
	entries := map[string]attr.Value{}
	for name, a := range c.Addons {
		if !a.Unwanted && a.Source.Chart != nil {
			entries[name] = statusOf(a.Source.Chart, addonUnknown)
		}
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// mapStatus gives each add-on another status, as a function says.
func (m *model) mapStatus(status func(name string, now types.String) types.String) {
	if m.AddonsStatus.IsNull() || m.AddonsStatus.IsUnknown() {
		return
	}
	entries := map[string]attr.Value{}
	for name, element := range m.AddonsStatus.Elements() {
		o, ok := element.(types.Object)
		if !ok || !tfutil.Set(o) {
			entries[name] = element
			continue
		}
		values := o.Attributes()
		now, _ := values["status"].(types.String)
		values["status"] = status(name, now)
		entries[name] = types.ObjectValueMust(addonStatusType.AttrTypes, values)
	}
	m.AddonsStatus = types.MapValueMust(addonStatusType, entries)
}

// awaitStatus marks unknown what an operation will make of the add-ons.
func (m *model) awaitStatus() {
	m.mapStatus(func(string, types.String) types.String { return types.StringUnknown() })
}

// seeStatus takes over what is seen of the add-ons among the objects of the cluster.
func (m *model) seeStatus(objects map[string]string) {
	m.mapStatus(func(name string, _ types.String) types.String {
		text, there := objects[vnfm.AddonKey(name)]
		switch {
		case m.Paused.ValueBool():
			return types.StringValue(addonPaused)
		case !there:
			return types.StringValue(addonMissing)
		case strings.HasPrefix(text, vnfm.Drifted):
			return types.StringValue(text)
		default:
			return types.StringValue(addonDeployed)
		}
	})
}
