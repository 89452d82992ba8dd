package workloadcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// computedAttributes are read from the management cluster.
func computedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"api_version":                text("API version of the Cluster API objects, `v1beta1` or `v1beta2`: the newest version of the management cluster at creation."),
		"generation":                 schema.Int64Attribute{MarkdownDescription: "Counter that increases with every change, for resources that depend on it.", Computed: true},
		"phase":                      text("Phase of the Cluster: `Pending`, `Provisioning`, `Provisioned`, `Deleting`."),
		"available":                  schema.BoolAttribute{MarkdownDescription: "Whether the condition `Available` of the Cluster is true.", Computed: true},
		"endpoint":                   text("URL of the workload API."),
		"ca_certificate":             text("CA certificate of the workload API, as PEM."),
		"running_kubernetes_version": schema.StringAttribute{MarkdownDescription: "Lowest Kubernetes version of the machines of the control plane, without a leading `v`.", Computed: true, CustomType: attrs.VersionType{}},
		"failure_domains":            schema.SetAttribute{MarkdownDescription: "Failure domains of the cluster.", ElementType: types.StringType, Computed: true},
		"conditions": schema.MapNestedAttribute{
			MarkdownDescription: "Conditions of the Cluster by type, at the last refresh.",
			Computed:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"status":  text("`True`, `False` or `Unknown`."),
				"reason":  text("Reason as one word."),
				"message": text("Human-readable message."),
			}},
		},
		"control_plane_status": schema.SingleNestedAttribute{
			MarkdownDescription: "Machines of the control plane at the last refresh.", Computed: true, Attributes: countAttributes(),
		},
		"node_groups_status": schema.MapNestedAttribute{
			MarkdownDescription: "Machines of each node group at the last refresh.",
			Computed:            true,
			NestedObject:        schema.NestedAttributeObject{Attributes: countAttributes()},
		},
		"kubeconfig_not_after": schema.StringAttribute{MarkdownDescription: "Time at which the client certificate of the kubeconfig expires (RFC 3339, UTC), from seven days before with a warning at each refresh.", Computed: true, CustomType: timetypes.RFC3339Type{}},
		"certificate_authorities_not_after": schema.StringAttribute{
			MarkdownDescription: "Time at which the first certificate authority of the cluster expires, of those of API server, etcd and front proxy (RFC 3339, UTC), from 30 days before with a warning at each refresh; null if the account may not read their Secrets.",
			Computed:            true, CustomType: timetypes.RFC3339Type{},
		},
		"control_plane_certificates_not_after": schema.StringAttribute{
			MarkdownDescription: "Time at which the first certificate of a machine of the control plane expires (RFC 3339, UTC), from 30 days before with a warning at each refresh; null if the control plane provider does not report it.",
			Computed:            true, CustomType: timetypes.RFC3339Type{},
		},
		"kubeconfig_ref": schema.SingleNestedAttribute{
			MarkdownDescription: "Reference to the kubeconfig, for `vnf_capi_workload_kubeconfig` and for `kubernetes.kubeconfig_ref` of `vnf_vim`. It is unknown in plans until the cluster has been ready once, and in those that create it again, so that Terraform defers everything that reads the kubeconfig; the data source has it as soon as a kubeconfig exists.",
			Computed:            true,
			Attributes: map[string]schema.Attribute{
				managementVIM: text("Id of the `vnf_vim` that is the management cluster."),
				"namespace":   text("Namespace of the cluster."),
				"name":        text("Name of the cluster."),
			},
		},
	}
}

func countAttributes() map[string]schema.Attribute {
	number := func(description string) schema.Attribute {
		return schema.Int64Attribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"desired_replicas":    number("Desired number of machines."),
		"replicas":            number("Existing number of machines."),
		"ready_replicas":      number("Number of ready machines."),
		"available_replicas":  number("Number of available machines."),
		"up_to_date_replicas": number("Number of machines that match their current template."),
		"kubernetes_version":  schema.StringAttribute{MarkdownDescription: "Desired Kubernetes version, without a leading `v`.", Computed: true, CustomType: attrs.VersionType{}},
	}
}

var (
	countType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"desired_replicas": types.Int64Type, "replicas": types.Int64Type, "ready_replicas": types.Int64Type,
		"available_replicas": types.Int64Type, "up_to_date_replicas": types.Int64Type, "kubernetes_version": attrs.VersionType{},
	}}
	conditionType = types.ObjectType{AttrTypes: map[string]attr.Type{
		"status": types.StringType, "reason": types.StringType, "message": types.StringType,
	}}
)

// observed are the attributes that are read from the management cluster.
type observed struct {
	Phase                    types.String      `tfsdk:"phase"`
	Available                types.Bool        `tfsdk:"available"`
	Endpoint                 types.String      `tfsdk:"endpoint"`
	CACertificate            types.String      `tfsdk:"ca_certificate"`
	RunningKubernetesVersion attrs.Version     `tfsdk:"running_kubernetes_version"`
	FailureDomains           types.Set         `tfsdk:"failure_domains"`
	Conditions               types.Map         `tfsdk:"conditions"`
	ControlPlaneStatus       types.Object      `tfsdk:"control_plane_status"`
	NodeGroupsStatus         types.Map         `tfsdk:"node_groups_status"`
	KubeconfigNotAfter       timetypes.RFC3339 `tfsdk:"kubeconfig_not_after"`
	AuthoritiesNotAfter      timetypes.RFC3339 `tfsdk:"certificate_authorities_not_after"`
	ControlPlaneNotAfter     timetypes.RFC3339 `tfsdk:"control_plane_certificates_not_after"`
}

// unknownObserved is the planned value while an operation is pending.
func unknownObserved() observed {
	return observed{
		Phase: types.StringUnknown(), Available: types.BoolUnknown(), Endpoint: types.StringUnknown(), CACertificate: types.StringUnknown(),
		RunningKubernetesVersion: attrs.VersionUnknown(), FailureDomains: types.SetUnknown(types.StringType), Conditions: types.MapUnknown(conditionType),
		ControlPlaneStatus: types.ObjectUnknown(countType.AttrTypes), NodeGroupsStatus: types.MapUnknown(countType), KubeconfigNotAfter: timetypes.NewRFC3339Unknown(),
		AuthoritiesNotAfter: timetypes.NewRFC3339Unknown(), ControlPlaneNotAfter: timetypes.NewRFC3339Unknown(),
	}
}

// newObserved renders the state of a cluster; nil is a cluster that does not exist.
func newObserved(s *vnfm.ClusterState) observed {
	if s == nil {
		s = &vnfm.ClusterState{}
	}
	conditions := map[string]attr.Value{}
	for _, c := range s.Conditions {
		conditions[c.Type] = types.ObjectValueMust(conditionType.AttrTypes, map[string]attr.Value{
			"status": types.StringValue(c.Status), "reason": types.StringValue(c.Reason), "message": types.StringValue(c.Message),
		})
	}
	groups := map[string]attr.Value{}
	for name, g := range s.NodeGroups {
		groups[name] = counts(g)
	}
	return observed{
		Phase: tfutil.OptionalString(s.Phase), Available: types.BoolValue(s.Available), Endpoint: tfutil.OptionalString(s.Endpoint),
		CACertificate: tfutil.OptionalString(s.CACertificate), RunningKubernetesVersion: attrs.NewVersion(s.Version),
		FailureDomains: tfutil.StringSet(s.FailureDomains), Conditions: types.MapValueMust(conditionType, conditions),
		ControlPlaneStatus: counts(s.ControlPlane), NodeGroupsStatus: types.MapValueMust(countType, groups),
		KubeconfigNotAfter: tfutil.Instant(s.KubeconfigNotAfter), AuthoritiesNotAfter: tfutil.Instant(s.AuthoritiesNotAfter),
		ControlPlaneNotAfter: tfutil.Instant(s.ControlPlaneNotAfter),
	}
}

func counts(g vnfm.GroupState) types.Object {
	return types.ObjectValueMust(countType.AttrTypes, map[string]attr.Value{
		"desired_replicas": types.Int64Value(g.Desired), "replicas": types.Int64Value(g.Replicas), "ready_replicas": types.Int64Value(g.Ready),
		"available_replicas": types.Int64Value(g.Available), "up_to_date_replicas": types.Int64Value(g.UpToDate), "kubernetes_version": attrs.NewVersion(g.Version),
	})
}
