package workloadcluster

import (
	"cmp"
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// addonAttributes are the add-ons, their status, and the status of the cluster's own chart.
func addonAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	found := map[string]schema.Attribute{
		"version":     text("Version of the chart."),
		"app_version": text("Version of the application in the chart, if the chart has one."),
		"digest":      text("Digest of the chart archive."),
	}
	return map[string]schema.Attribute{
		vnfm.AttributeAddons: schema.MapNestedAttribute{
			MarkdownDescription: "Helm charts on the workload cluster by release name, for example the CNI, the cloud provider and storage. They are installed before the provider waits for the nodes; see the guide [Add-ons on workload clusters](../guides/addons-on-workload-clusters.md). " +
				"Changing this installs, upgrades and uninstalls releases in place, or after the end of `paused`.",
			Optional: true,
			NestedObject: schema.NestedAttributeObject{Validators: []validator.Object{withoutProfile{}}, Attributes: map[string]schema.Attribute{
				"profile": schema.StringAttribute{
					MarkdownDescription: "Name of a built-in profile, which gives `chart`, `namespace` and `values` for this cluster: `" + strings.Join(profileNames(), "`, `") + "`; see [Profiles](../guides/addons-on-workload-clusters.md#profiles). The arguments of the add-on override them. Changing this upgrades the release in place.",
					Optional:            true,
					Validators:          []validator.String{stringvalidator.OneOf(profileNames()...)},
				},
				"chart": schema.SingleNestedAttribute{
					MarkdownDescription: "Source of the chart: `path`, or `repository` and `name`, or `oci`. Defaults to that of the `profile`. Changing anything here upgrades the release in place.",
					Optional:            true,
					Validators:          []validator.Object{chartsource.Rules{}},
					Attributes:          tfutil.Merged(chartsource.Attributes(), chartsource.Login()),
				},
				"namespace": schema.StringAttribute{
					MarkdownDescription: "Namespace of the release on the workload cluster, created if it does not exist. Defaults to that of the `profile`. Changing this is rejected: remove the add-on, apply, and add it in the other namespace.",
					Optional:            true,
					Validators:          []validator.String{tfutil.Namespace()},
				},
				"values":     attrs.ChartValues("Values that override those of the chart, each a YAML or JSON document: `yamlencode({ … })`, `file(\"values.yaml\")`. Later documents override earlier ones key by key; they are not for secrets. Changing this upgrades the release in place."),
				"regenerate": base.RegenerateAttribute("Makes what random functions of the chart gave again, once for each new `trigger`, as the argument of a `vnf_instance` does. "),
				"after": schema.SetAttribute{
					MarkdownDescription: "Names of the add-ons that must be ready before this one is installed or changed; all others run in parallel. Changing this applies to the next operation.",
					Optional:            true,
					ElementType:         types.StringType,
				},
			}},
		},
		"addons_status": schema.MapNestedAttribute{
			MarkdownDescription: "Add-ons by name. Version and digest are known at plan time.",
			Computed:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: tfutil.Merged(found, map[string]schema.Attribute{
				"chart_name": text("Name of the chart."),
				"status":     text("`DEPLOYED`; `DRIFTED` if it differs from the configuration, which the next apply repairs; `MISSING` if it was deleted outside of Terraform; `PAUSED` with the cluster; `UNKNOWN` if the workload cluster could not be read after an operation or an import. A refresh that cannot read it keeps the last status."),
				"drift": schema.ListAttribute{
					MarkdownDescription: "Differences from the configuration of an add-on that is `DRIFTED`: its objects and their fields.",
					Computed:            true,
					ElementType:         types.StringType,
				},
			})},
		},
		"chart_status": schema.SingleNestedAttribute{
			MarkdownDescription: "Resolved `chart` of the cluster or of its `cluster_template`, if it comes from a repository or registry. It is known at plan time.",
			Computed:            true,
			Attributes:          tfutil.Merged(found, map[string]schema.Attribute{"chart_name": text("Name of the chart.")}),
		},
	}
}

// addonModel is an entry of the argument addons.
type addonModel struct {
	Profile    types.String `tfsdk:"profile"`
	Chart      types.Object `tfsdk:"chart"`
	Namespace  types.String `tfsdk:"namespace"`
	Values     types.List   `tfsdk:"values"`
	Regenerate types.Object `tfsdk:"regenerate"`
	After      types.Set    `tfsdk:"after"`
}

// addons reads the argument for a cluster, which must be known, with the resolved chart of each add-on.
func (m *model) addons(ctx context.Context, cluster *vnfm.ClusterSpec, diags *diag.Diagnostics) map[string]vnfm.Addon {
	if len(m.Addons.Elements()) == 0 {
		return nil
	}
	out := map[string]vnfm.Addon{}
	for name := range m.Addons.Elements() {
		addon := cmp.Or(tfutil.ElementAs[addonModel](ctx, m.Addons, name, diags), &addonModel{})
		a := addon.toDomain(ctx, name, m.addonChart(ctx, name, diags), diags)
		if p := addon.profile(); p != nil {
			a.Values = p.valuesFor(name, cluster, a.Values, diags)
		}
		out[name] = a
	}
	diags.Append(tfutil.Problems(vnfm.CheckAddons(out), path.Empty())...)
	return out
}

func (m *addonModel) toDomain(ctx context.Context, name string, chart *vnfm.Chart, diags *diag.Diagnostics) vnfm.Addon {
	a := vnfm.Addon{Source: m.source(ctx, diags).ToDomain(), Namespace: m.namespace()}
	a.Source.Chart, a.Regenerate = chart, base.Regenerate(ctx, m.Regenerate, diags)
	if tfutil.Set(m.After) {
		diags.Append(m.After.ElementsAs(ctx, &a.After, false)...)
	}
	a.Values = attrs.Documents(path.Root(vnfm.AttributeAddons).AtMapKey(name).AtName("values"), m.Values, diags)
	return a
}

// source is the source of the chart, which must be known: its own, else that of its profile.
func (m *addonModel) source(ctx context.Context, diags *diag.Diagnostics) *chartsource.Model {
	if own := tfutil.As[chartsource.Model](ctx, m.Chart, diags); own != nil {
		return own
	}
	if p := m.profile(); p != nil {
		return p.source()
	}
	return &chartsource.Model{}
}

// namespace is the namespace of the release: its own, else that of its profile.
func (m *addonModel) namespace() string {
	if p := m.profile(); p != nil && m.Namespace.IsNull() {
		return p.namespace
	}
	return m.Namespace.ValueString()
}

// withoutProfile requires of an add-on without a profile what a profile would give.
type withoutProfile struct{}

// Description implements validator.Describer.
func (withoutProfile) Description(context.Context) string {
	return "needs a chart and a namespace without a profile"
}

// MarkdownDescription implements validator.Describer.
func (v withoutProfile) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateObject implements validator.Object.
func (withoutProfile) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	given := req.ConfigValue.Attributes()
	if !tfutil.Set(req.ConfigValue) || !given["profile"].IsNull() {
		return
	}
	for name, advice := range map[string]string{"chart": "Set chart, or profile for a built-in one.", "namespace": "Set namespace: only a profile has one."} {
		if given[name].IsNull() {
			resp.Diagnostics.AddAttributeError(chartsource.Written(req.Path), "Missing Argument of an Add-on", advice)
		}
	}
}
