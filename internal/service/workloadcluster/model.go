package workloadcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// model is the resource as Terraform has it.
type model struct {
	base.InstanceModel
	observed
	charted

	KubernetesVersion types.String `tfsdk:"kubernetes_version"`

	Topology        types.Object `tfsdk:"topology"`
	Chart           types.Object `tfsdk:"chart"`
	Template        types.Object `tfsdk:"template"`
	ClusterTemplate types.Object `tfsdk:"cluster_template"`

	Labels       types.Map    `tfsdk:"labels"`
	Annotations  types.Map    `tfsdk:"annotations"`
	Network      types.Object `tfsdk:"network"`
	ControlPlane types.Object `tfsdk:"control_plane"`
	NodeGroups   types.Map    `tfsdk:"node_groups"`
	Paused       types.Bool   `tfsdk:"paused"`
	RolloutAfter types.String `tfsdk:"rollout_after"`
	Regenerate   types.String `tfsdk:"regenerate_kubeconfig"`
	OpenStack    types.Object `tfsdk:"openstack"`

	ApplicationCredentialID types.String `tfsdk:"application_credential_id"`

	APIVersion    types.String `tfsdk:"api_version"`
	KubeconfigRef types.Object `tfsdk:"kubeconfig_ref"`
}

// Spec implements base.Model.
func (m *model) Spec(ctx context.Context, state *model, diags *diag.Diagnostics) (vnfm.InstanceSpec, bool) {
	for _, v := range []attr.Value{
		m.VIMID, m.Name, m.KubernetesVersion, m.Topology, m.Chart, m.Template, m.ClusterTemplate, m.Addons, m.Labels, m.Annotations, m.Network,
		m.ControlPlane, m.NodeGroups, m.Paused, m.RolloutAfter, m.OnFailure, m.ForceConflicts, m.AdoptExisting, m.OpenStack,
	} {
		if !tfutil.FullyKnown(ctx, v) {
			return vnfm.InstanceSpec{}, false
		}
	}
	r := reader{diags: diags}
	cluster := &vnfm.ClusterSpec{
		Name: m.Name.ValueString(), Namespace: m.Namespace.ValueString(), KubernetesVersion: m.KubernetesVersion.ValueString(),
		Labels: tfutil.Texts(m.Labels), Annotations: tfutil.Texts(m.Annotations), Paused: m.Paused.ValueBool(), RolloutAfter: m.RolloutAfter.ValueString(),
	}
	if tfutil.Set(m.APIVersion) {
		cluster.APIVersion = m.APIVersion.ValueString()
	}
	if o := fieldsOf(m.Topology); o != nil {
		cluster.Topology = &vnfm.ClusterTopology{
			Class: o.text("class"), ClassNamespace: o.text("class_namespace"), Variables: r.object(path.Root("topology").AtName("variables"), o["variables"]),
		}
	}
	if o := fieldsOf(m.Chart); o != nil {
		cluster.Chart = &vnfm.ClusterChart{ChartSource: chartsource.Of(o), Values: r.object(path.Root("chart").AtName("values"), o["values"])}
		cluster.Chart.Chart = chartOf(fieldsOf(m.ChartStatus))
	}
	if o := fieldsOf(m.Template); o != nil {
		cluster.Template = &vnfm.ClusterTemplate{Content: o.text("content"), Variables: o.texts("variables")}
		if state != nil {
			cluster.Template.Known = slices.Collect(maps.Keys(tfutil.Texts(state.Objects)))
		}
	}
	if o := fieldsOf(m.Network); o != nil {
		cluster.Network = &vnfm.ClusterNetwork{
			PodCIDRs: o.list("pod_cidrs"), ServiceCIDRs: o.list("service_cidrs"), ServiceDomain: o.text("service_domain"), APIServerPort: int(o.number("api_server_port")),
			Internal: o.nested("internal").resource(), Subnet: o.nested("internal_subnet").resource(), External: o.text("external"),
		}
	}
	if o := fieldsOf(m.ControlPlane); o != nil {
		cluster.ControlPlane = vnfm.ClusterControlPlane{
			Replicas: o.optional("replicas"), Flavour: o.text("flavour"), Labels: o.texts("labels"), Annotations: o.texts("annotations"),
			Variables: r.object(path.Root("control_plane").AtName("variables"), o["variables"]), HealthCheck: o.healthCheck(), Deletion: o.deletion(),
			FailureDomains: o.list("failure_domains"), MachinePlace: o.place(),
		}
	}
	cluster.NodeGroups, cluster.Addons = r.nodeGroups(m.NodeGroups), m.addons(ctx, r)
	withoutDone(cluster.NodeGroups, state)
	checkRemovals(cluster.NodeGroups, state, diags)
	cluster.OpenStack = m.openstack(cluster, diags)
	m.fromTemplate(cluster, diags)
	spec := m.BaseSpec(ctx, healMachines, "", diags)
	spec.Cluster, spec.OperationalState = cluster, vnfm.Started
	if spec.Heal != nil && spec.Heal.Whole() && tfutil.Set(m.RolloutAfter) {
		diags.AddAttributeError(path.Root("heal"), "Two Times of a Rollout",
			"A heal that names no machine has everything replaced that is older than the operation, and rollout_after says another time. Change rollout_after instead, or name the machines.")
	}
	if state == nil || regenerates(m, state) {
		spec.RotationTrigger = m.Regenerate.ValueString()
	}
	return spec, true
}

// reader reads values that may be wrong.
type reader struct{ diags *diag.Diagnostics }

func (r reader) object(at path.Path, v attr.Value) map[string]any {
	if v == nil || v.IsNull() {
		return nil
	}
	m, err := tfutil.MapToGo(v)
	if err != nil {
		r.diags.AddAttributeError(at, "Not an Object", tfutil.ErrorDetail(fmt.Errorf("%s: %w", at, err)))
	}
	return m
}

func (r reader) nodeGroups(all types.Map) map[string]vnfm.NodeGroup {
	if len(all.Elements()) == 0 {
		return nil
	}
	out := map[string]vnfm.NodeGroup{}
	for name, element := range all.Elements() {
		object, _ := element.(types.Object)
		o := fieldsOf(object)
		g := vnfm.NodeGroup{
			Class: o.text("class"), Replicas: o.optional("replicas"), Min: o.optional("min"), Max: o.optional("max"), Flavour: o.text("flavour"),
			Labels: o.texts("labels"), Annotations: o.texts("annotations"), FailureDomain: o.text("failure_domain"),
			HealthCheck: o.healthCheck(), Deletion: o.deletion(), RemoveMachines: o.set(removeMachines),
			MachinePlace: o.place(),
		}
		if t := o.nested("rollout"); t != nil {
			g.Rollout = &vnfm.NodeRollout{Type: t.text("type"), MaxSurge: t.text("max_surge"), MaxUnavailable: t.text("max_unavailable")}
		}
		if list, ok := o["taints"].(types.List); ok {
			for _, element := range list.Elements() {
				object, _ := element.(types.Object)
				t := fieldsOf(object)
				g.Taints = append(g.Taints, vnfm.NodeTaint{Key: t.text("key"), Value: t.text("value"), Effect: t.text("effect"), Propagation: t.text("propagation")})
			}
		}
		for variable, text := range o.texts("variables") {
			var value any
			decoder := json.NewDecoder(strings.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(&value); err != nil {
				r.diags.AddAttributeError(path.Root("node_groups").AtMapKey(name).AtName("variables").AtMapKey(variable), "Not JSON",
					fmt.Sprintf("The value of variable %q of node group %q is not JSON: %s. Write jsonencode(...) around it.", variable, name, err))
				continue
			}
			if g.Variables == nil {
				g.Variables = map[string]any{}
			}
			g.Variables[variable] = value
		}
		out[name] = g
	}
	return out
}

// fields are the attributes of an object.
type fields map[string]attr.Value

// fieldsOf returns nil for an object that is null.
func fieldsOf(o types.Object) fields {
	if !tfutil.Set(o) {
		return nil
	}
	return o.Attributes()
}

func (f fields) nested(name string) fields {
	o, ok := f[name].(types.Object)
	if !ok {
		return nil
	}
	return fieldsOf(o)
}

// given reports whether an argument was not left out.
func (f fields) given(name string) bool { return f[name] != nil && !f[name].IsNull() }

func (f fields) text(name string) string {
	v, _ := f[name].(types.String)
	return v.ValueString()
}

func (f fields) number(name string) int64 {
	v, _ := f[name].(types.Int64)
	return v.ValueInt64()
}

func (f fields) optional(name string) *int64 {
	v, ok := f[name].(types.Int64)
	if !ok || !tfutil.Set(v) {
		return nil
	}
	n := v.ValueInt64()
	return &n
}

func (f fields) list(name string) []string {
	v, _ := f[name].(types.List)
	return textsOf(v.Elements())
}

func (f fields) set(name string) []string {
	v, _ := f[name].(types.Set)
	return textsOf(v.Elements())
}

func textsOf(elements []attr.Value) []string {
	var out []string
	for _, e := range elements {
		if s, ok := e.(types.String); ok {
			out = append(out, s.ValueString())
		}
	}
	return out
}

func (f fields) texts(name string) map[string]string {
	v, _ := f[name].(types.Map)
	return tfutil.Texts(v)
}

func (f fields) healthCheck() *vnfm.HealthCheck {
	h := f.nested("health_check")
	if h == nil {
		return nil
	}
	enabled, _ := h["enabled"].(types.Bool)
	return &vnfm.HealthCheck{
		Enabled: enabled.ValueBool(), NodeStartupTimeout: h.number("node_startup_timeout"),
		UnhealthyTimeout: h.number("unhealthy_timeout"), MaxUnhealthy: h.text("max_unhealthy"),
	}
}

func (f fields) deletion() *vnfm.MachineDeletion {
	d := f.nested("deletion")
	if d == nil {
		return nil
	}
	return &vnfm.MachineDeletion{
		NodeDrainTimeout: d.optional("node_drain_timeout"), NodeVolumeDetachTimeout: d.optional("node_volume_detach_timeout"),
		NodeDeletionTimeout: d.optional("node_deletion_timeout"),
	}
}

// Conceal implements base.Model: a cluster has no parameters, and Prepare adds its
// secrets.
func (m *model) Conceal(context.Context, *model, *vnfm.InstanceSpec, *diag.Diagnostics) []string {
	return nil
}

// Prepare implements base.Model.
func (m *model) Prepare(ctx context.Context, manager vnfm.Manager, _ string, config *model, spec *vnfm.InstanceSpec, diags *diag.Diagnostics) {
	m.prepareCharts(ctx, manager, config, spec.Cluster, diags)
	if spec.Namespace != "" {
		return
	}
	vim, err := manager.VIM(ctx, spec.VIMID)
	if err != nil {
		tfutil.AddError(diags, "Read the Management Cluster of", titled(spec.Name), err, path.Root("vim_id"))
		return
	}
	spec.Namespace = vim.DefaultNamespace()
	spec.Cluster.Namespace = spec.Namespace
}

// TerminateSpec implements base.Model.
func (m *model) TerminateSpec(context.Context, *diag.Diagnostics) vnfm.TerminateSpec {
	return vnfm.TerminateSpec{Type: vnfm.Graceful, Volumes: vnfm.VolumesKeep}
}

// SetRecord implements base.Model.
func (m *model) SetRecord(_ context.Context, i *vnfm.Instance, _ *diag.Diagnostics) {
	m.SetBase(i)
	m.setCredential(i)
	if i.Cluster != nil {
		m.APIVersion = tfutil.OptionalString(i.Cluster.APIVersion)
		m.recordCharts(i.Cluster)
		if m.Paused.IsNull() {
			m.Paused = types.BoolValue(i.Cluster.Paused)
		}
	}
	if i.Status == vnfm.StatusInstantiated {
		m.KubeconfigRef = tfutil.ClusterRefValue(&vnfm.ClusterRef{VIMID: i.VIMID, Namespace: i.Namespace, Name: i.Name})
	} else if m.KubeconfigRef.IsUnknown() {
		m.KubeconfigRef = types.ObjectNull(tfutil.ClusterRefType.AttrTypes)
	}
}

// SetObservation implements base.Model.
func (m *model) SetObservation(ctx context.Context, o *vnfm.Observation, diags *diag.Diagnostics) {
	m.observed, m.Objects = newObserved(o.Cluster), base.WithUnobserved(ctx, tfutil.StringMap(o.Objects), m.Objects, o.Unseen)
	m.seeStatus(tfutil.Texts(m.Objects))
	if o.Cluster != nil {
		warnOfExpiry(m.Name.ValueString(), o.Cluster.KubeconfigNotAfter, diags)
	}
}

// Finish implements base.Model. What was planned stays: Terraform holds a provider
// to it, and the next refresh shows what has changed since. What cannot be looked at is
// left for that, too.
func (m *model) Finish(ctx context.Context, manager vnfm.Manager, i *vnfm.Instance, diags *diag.Diagnostics) {
	limit := time.Minute
	if errors.Is(ctx.Err(), context.Canceled) {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if m.Objects.IsUnknown() {
		m.Objects = tfutil.StringMap(nil)
		if spec, known := m.Spec(ctx, nil, diags); known {
			if preview, _, err := manager.PreviewInstance(ctx, i.ID, spec); err == nil && preview != nil {
				m.SetPreview(preview)
			}
		}
	}
	if !m.Phase.IsUnknown() {
		return
	}
	seen, err := manager.Observe(ctx, i.ID)
	if seen == nil {
		seen = &vnfm.Observation{}
	}
	m.observed = newObserved(seen.Cluster)
	if m.seeStatus(seen.Objects); err != nil {
		m.mapStatus(func(string, types.String) types.String { return types.StringValue(addonUnknown) })
	}
}
