package workloadcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// origin is the source of a chart with the access to its server.
type origin struct {
	// at is the argument with the source.
	at     path.Path
	source vnfm.ChartSource
	// access is nil while it is not known.
	access *vnfm.ChartAccess
}

// chartOrigin is where the chart of the cluster comes from, its own or that of its
// template; nil when it has none, or while that is not known. The configuration has what
// the plan has not: a password that is write-only.
func (m *model) chartOrigin(ctx context.Context, config *model, diags *diag.Diagnostics) *origin {
	if chart := tfutil.As[chartModel](ctx, m.Chart, diags); chart != nil {
		if !tfutil.FullyKnown(ctx, m.Chart) {
			return nil
		}
		configured := cmp.Or(tfutil.As[chartModel](ctx, config.Chart, diags), &chartModel{})
		return &origin{path.Root("chart"), chart.ToDomain(), configured.Access()}
	}
	template := m.templateOf(ctx, &diag.Diagnostics{})
	if template == nil {
		return nil
	}
	found := &origin{at: definitionPath.ParentPath(), source: template.Chart.ChartSource}
	// Each cluster resolves the version of the chart itself.
	found.source.Chart = nil
	configured := cmp.Or(tfutil.As[clusterTemplateModel](ctx, config.ClusterTemplate, diags), &clusterTemplateModel{})
	login := cmp.Or(tfutil.As[chartsource.LoginModel](ctx, configured.ChartCredentials, diags), &chartsource.LoginModel{})
	if access := (&chartsource.Model{LoginModel: *login}).Access(); access != nil {
		found.access = template.ChartServer.Access(access.Username, access.Password)
	}
	return found
}

// addonOrigin is where the chart of an add-on comes from; nil while that is not known.
func (m *model) addonOrigin(ctx context.Context, name string, config *model, diags *diag.Diagnostics) *origin {
	addon := tfutil.ElementAs[addonModel](ctx, m.Addons, name, diags)
	if addon == nil || addon.Profile.IsUnknown() || !tfutil.FullyKnown(ctx, addon.Chart) || (addon.Chart.IsNull() && addon.Profile.IsNull()) {
		return nil
	}
	configured := cmp.Or(tfutil.ElementAs[addonModel](ctx, config.Addons, name, diags), &addonModel{})
	return &origin{path.Root(vnfm.AttributeAddons).AtMapKey(name), addon.source(ctx, diags).ToDomain(), configured.source(ctx, diags).Access()}
}

// resolveChart resolves a source and reports problems at its argument. It returns nil if
// the source could not be resolved.
func resolveChart(ctx context.Context, manager vnfm.ChartManager, at path.Path, source vnfm.ChartSource, diags *diag.Diagnostics) *vnfm.Chart {
	chart, err := manager.ResolveChart(ctx, source)
	if err == nil {
		return chart
	}
	var invalid *vnfm.InvalidError
	if !errors.As(err, &invalid) {
		tfutil.AddError(diags, "Fetch", "the Chart "+source.String(), err, chartsource.Written(at))
		return nil
	}
	for _, p := range invalid.Problems {
		p.Attribute = ""
		if steps := at.Steps(); len(steps) > 1 {
			// Terraform shows where the add-ons begin, and not which one it is.
			p.Summary = fmt.Sprintf("add-on %s: %s", strings.Trim(steps[1].String(), "[]"), p.Summary)
		}
		diags.Append(tfutil.Problems(vnfm.Problems{p}, chartsource.Written(at))...)
	}
	return nil
}
