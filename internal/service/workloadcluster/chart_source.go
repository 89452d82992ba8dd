package workloadcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// origin is where a chart comes from, and how one gets there.
type origin struct {
	// at is the argument that says it.
	at     path.Path
	source vnfm.ChartSource
	// access is nil while it is not known.
	access *vnfm.ChartAccess
}

// chartOrigin is where the chart of the cluster comes from, its own or that of its
// template; nil when it has none, or while that is not known. The configuration has what
// the plan has not: a password that is write-only.
func (m *model) chartOrigin(ctx context.Context, config *model) *origin {
	if o := fieldsOf(m.Chart); o != nil {
		if !tfutil.FullyKnown(ctx, m.Chart) {
			return nil
		}
		access, _ := chartsource.Access(fieldsOf(config.Chart))
		return &origin{path.Root("chart"), chartsource.Of(o), access}
	}
	template := m.templateOf(&diag.Diagnostics{})
	if template == nil {
		return nil
	}
	found := &origin{at: definitionPath.ParentPath(), source: template.Chart.ChartSource}
	// What it was found to be says the cluster alone.
	found.source.Chart = nil
	if login, known := chartsource.Access(fieldsOf(config.ClusterTemplate).nested(chartCredentials)); known {
		found.access = template.ChartServer.Access(login.Username, login.Password)
	}
	return found
}

// addonOrigin is where the chart of an add-on comes from; nil while that is not known.
func (m *model) addonOrigin(ctx context.Context, name string, config *model) *origin {
	element := m.Addons.Elements()[name]
	o, _ := fieldsOfValue(element)["chart"].(types.Object)
	if fieldsOf(o) == nil || !tfutil.FullyKnown(ctx, o) {
		return nil
	}
	access, _ := chartsource.Access(fieldsOfValue(config.Addons.Elements()[name]).nested("chart"))
	return &origin{path.Root(vnfm.AttributeAddons).AtMapKey(name), chartsource.Of(o.Attributes()), access}
}

// resolveChart finds the chart that a source means, and says what is wrong where that is
// written. Nil is a source that does not tell.
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
