package workloadcluster

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// addonAttributes are the charts on the workload cluster, and what became of them and of
// the chart of the cluster itself.
func addonAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	found := map[string]schema.Attribute{
		"version":     text("Version of the chart."),
		"app_version": text("Version of what the chart installs, as far as it says."),
		"digest":      text("Digest of the archive of the chart."),
	}
	return map[string]schema.Attribute{
		vnfm.AttributeAddons: schema.MapNestedAttribute{
			MarkdownDescription: "Helm charts on the workload cluster by name: network plugin, cloud provider, storage, ingress, monitoring. They are installed as soon as the workload API answers, **before** the nodes are waited for, which may need them to become ready; " +
				"each is a release of its name, which `helm list` on the workload cluster shows. They are upgraded in place, repaired when somebody changes them, and removed when they are taken out of the map, before the others are installed or changed. " +
				"When the cluster is destroyed they go with its machines. While the cluster is `paused` they are left alone. In `objects` each is one entry, `add-on: <name>`.",
			Optional:   true,
			Validators: []validator.Map{mapvalidator.SizeAtLeast(1)},
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"chart": schema.SingleNestedAttribute{
					MarkdownDescription: "Where the chart comes from: `path`, or `repository` and `name`, or `oci`. A change upgrades in place.",
					Required:            true,
					Validators:          []validator.Object{chartsource.Rules{}},
					Attributes:          tfutil.Merged(chartsource.Attributes(), chartsource.Login()),
				},
				"namespace": schema.StringAttribute{
					MarkdownDescription: "Namespace of the release on the workload cluster. It is created when it does not exist. It cannot change: take the add-on out, apply, and add it again in the other namespace.",
					Required:            true,
					Validators:          []validator.String{tfutil.Namespace()},
				},
				"values": schema.ListAttribute{
					MarkdownDescription: "Values over those of the chart, each a text of YAML or JSON: `yamlencode({ … })`, `file(\"values.yaml\")`. Later ones are laid over earlier ones, maps key by key. A change upgrades in place. Not for secrets.",
					Optional:            true,
					ElementType:         types.StringType,
					Validators:          []validator.List{tfutil.ShownToPlan()},
				},
				"after": schema.SetAttribute{
					MarkdownDescription: "Names of the add-ons that must be ready before this one is installed or changed. All others go at the same time.",
					Optional:            true,
					ElementType:         types.StringType,
				},
			}},
		},
		"addons_status": schema.MapNestedAttribute{
			MarkdownDescription: "The add-ons by name. Version and digest are known at plan time.",
			Computed:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: tfutil.Merged(found, map[string]schema.Attribute{
				"chart":  text("Name of the chart."),
				"status": text("`deployed`; `drifted: <what differs>` when somebody has changed it, which the next apply puts right; `missing`; `paused` while the cluster is; `unknown` when the workload cluster could not be looked at."),
			})},
		},
		"chart_status": schema.SingleNestedAttribute{
			MarkdownDescription: "The `chart` of the cluster, or that of its `cluster_template`, when it is from a repository or registry. It is known at plan time.",
			Computed:            true,
			Attributes:          tfutil.Merged(found, map[string]schema.Attribute{"chart": text("Name of the chart.")}),
		},
	}
}

// addonModel is an entry of the argument addons.
type addonModel struct {
	Chart     types.Object `tfsdk:"chart"`
	Namespace types.String `tfsdk:"namespace"`
	Values    types.List   `tfsdk:"values"`
	After     types.Set    `tfsdk:"after"`
}

// addons reads the argument of that name, all of which is known. Each add-on has the
// chart that its source was resolved to.
func (m *model) addons(ctx context.Context, diags *diag.Diagnostics) map[string]vnfm.Addon {
	if len(m.Addons.Elements()) == 0 {
		return nil
	}
	out := map[string]vnfm.Addon{}
	for name := range m.Addons.Elements() {
		addon := cmp.Or(tfutil.ElementAs[addonModel](ctx, m.Addons, name, diags), &addonModel{})
		out[name] = addon.toDomain(ctx, name, m.addonChart(ctx, name, diags), diags)
	}
	diags.Append(tfutil.Problems(vnfm.CheckAddons(out), path.Empty())...)
	return out
}

func (m *addonModel) toDomain(ctx context.Context, name string, chart *vnfm.Chart, diags *diag.Diagnostics) vnfm.Addon {
	source := cmp.Or(tfutil.As[chartsource.Model](ctx, m.Chart, diags), &chartsource.Model{})
	a := vnfm.Addon{Source: source.ToDomain(), Namespace: m.Namespace.ValueString()}
	a.Source.Chart = chart
	if tfutil.Set(m.After) {
		diags.Append(m.After.ElementsAs(ctx, &a.After, false)...)
	}
	for i, text := range tfutil.Strings(m.Values) {
		values, err := helm.ReadValues(text)
		if err != nil {
			diags.AddAttributeError(path.Root(vnfm.AttributeAddons).AtMapKey(name), "Not Values of a Chart",
				tfutil.ErrorDetail(fmt.Errorf("text %d of the values of add-on %q is no object in YAML: %w", i+1, name, err)))
			continue
		}
		a.Values = vnfm.MergeValues(a.Values, values)
	}
	return a
}
