package workloadcluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/objectvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

var amount = lazyregexp.New(`^([0-9]+|[0-9]+%)$`)

const amountRule = "must be a number or a percentage, for example 1 or 40%"

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create: true, Read: true, Update: true, Delete: true,
	CreateDescription: "Limit of the creation. At the limit the cluster is kept in `FAILED_TEMP` or removed, see `on_failure`. Defaults to `60m`.",
	ReadDescription:   "Limit of a refresh. Defaults to `2m`.",
	UpdateDescription: "Limit of one complete update. Defaults to `90m`.",
	DeleteDescription: "Limit of the removal. Defaults to `60m`.",
}

func resourceSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Manages a Kubernetes workload cluster of Cluster API: the Cluster, its control plane and its node groups, on the management cluster `management_vim_id`. " +
			"A cluster has one of four forms: a `topology` of a ClusterClass, a Helm `chart`, a `clusterctl_template`, or a `cluster_template` in the style of OpenStack Magnum. " +
			"The creation is complete when the control plane and all nodes are ready and the workload API answers. Node groups are resized, added and removed in place; a new `kubernetes_version` is an upgrade in place. " +
			"The kubeconfig never enters the state: read it with the ephemeral resource `vnf_capi_workload_kubeconfig`. " +
			"See the guides [Workload clusters with Cluster API](../guides/workload-clusters.md) and [Add-ons on workload clusters](../guides/addons-on-workload-clusters.md).",
		Attributes: tfutil.Merged(
			identityAttributes(), formAttributes(), shapeAttributes(), addonAttributes(), dayTwoAttributes(), cloudAttributes(), computedAttributes(),
			map[string]schema.Attribute{"timeouts": tfutil.Timeouts(ctx, timeoutOpts)},
		),
	}
}

// identityAttributes identify the cluster and its version.
func identityAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		managementVIM: schema.StringAttribute{
			MarkdownDescription: "Id of the `vnf_vim` that is the management cluster: a Kubernetes cluster with Cluster API and its providers. Changing this replaces the cluster.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"namespace": schema.StringAttribute{
			MarkdownDescription: "Namespace of the cluster on the management cluster, created if it does not exist. Defaults to `default_namespace` of the VIM. Changing this replaces the cluster.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{tfutil.DNSLabel()},
		},
		"name": schema.StringAttribute{
			MarkdownDescription: "Name of the cluster and of its object Cluster. Changing this replaces the cluster.",
			Required:            true,
			Validators:          []validator.String{tfutil.DNSLabel()},
		},
		"kubernetes_version": schema.StringAttribute{
			MarkdownDescription: "Kubernetes version of control plane and nodes, for example `1.34.0`; a leading `v` makes no difference. Defaults to the version of the `cluster_template`; a `clusterctl_template` may fix its own version. " +
				"Changing this upgrades in place, the control plane first; downgrades and skipped minor versions are rejected at plan time.",
			Optional:      true,
			CustomType:    attrs.VersionType{},
			PlanModifiers: []planmodifier.String{attrs.KeepEqualVersion()},
			Validators:    []validator.String{stringvalidator.LengthAtLeast(1)},
		},
	}
}

// formAttributes are the four forms, exactly one of which is set.
func formAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"topology": schema.SingleNestedAttribute{
			MarkdownDescription: "Topology of a ClusterClass. Exactly one of `topology`, `chart`, `clusterctl_template` and `cluster_template` must be set. Changing this, also to another form, updates in place as far as Cluster API permits.",
			Optional:            true,
			Validators: []validator.Object{objectvalidator.ExactlyOneOf(
				path.MatchRoot("topology"), path.MatchRoot("chart"), path.MatchRoot("clusterctl_template"), path.MatchRoot("cluster_template"))},
			Attributes: map[string]schema.Attribute{
				"class": schema.StringAttribute{
					MarkdownDescription: "Name of the ClusterClass. Changing this rebases the cluster in place.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				},
				"class_namespace": schema.StringAttribute{
					MarkdownDescription: "Namespace of the ClusterClass. Defaults to the namespace of the cluster. Changing this rebases the cluster in place.",
					Optional:            true,
					Validators:          []validator.String{tfutil.DNSLabel()},
				},
				"class_variables": attrs.ClassVariables("Values of the variables of the class, as an object in YAML or JSON: `jsonencode({ … })`. The plan checks them against the schemas of the class if the management cluster can be reached; they are not for secrets. Changing this updates in place; Cluster API replaces machines if necessary."),
			},
		},
		"chart": schema.SingleNestedAttribute{
			MarkdownDescription: "Helm chart with the value names of `openstack-cluster` of capi-helm-charts. The other arguments of the cluster override `values`; an argument that the chart has no value for is rejected at plan time, see [Charts of your own](../guides/workload-clusters.md#charts-of-your-own). Changing anything here updates in place; Cluster API replaces machines if necessary.",
			Optional:            true,
			Validators:          []validator.Object{chartsource.Rules{Embedded: chartsource.Embedded}},
			Attributes: tfutil.Merged(chartsource.Attributes(chartsource.Embedded...), chartsource.Login(), map[string]schema.Attribute{
				"values":     attrs.ChartValues("Values that override those of the chart, each a YAML or JSON document: `yamlencode({ … })`, `file(\"values.yaml\")`. Later documents override earlier ones key by key; they are not for secrets. Changing this updates in place; Cluster API replaces machines if necessary."),
				"regenerate": base.RegenerateAttribute("Makes what random functions of the chart gave again, once for each new `trigger`, as the argument of a `vnf_instance` does. "),
			}),
		},
		"cluster_template": clusterTemplateAttribute(),
		"clusterctl_template": schema.SingleNestedAttribute{
			MarkdownDescription: "Cluster template of clusterctl. Changing anything here updates in place; affected machines are replaced one after the other.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"content": schema.StringAttribute{
					MarkdownDescription: "YAML with `${VARIABLE}` and `${VARIABLE:=default}`, for example `file(\"cluster-template.yaml\")`. The arguments of the cluster set `CLUSTER_NAME`, `NAMESPACE`, `KUBERNETES_VERSION`, `CONTROL_PLANE_MACHINE_COUNT` and `WORKER_MACHINE_COUNT`. " +
						"Changing this updates in place; a changed machine or bootstrap template gets a new name, and its machines are replaced one after the other.",
					Required:   true,
					Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
				},
				"variables": schema.MapAttribute{
					MarkdownDescription: "Values of the other variables of the template; not for secrets. Changing this updates in place; affected machines are replaced one after the other.",
					Optional:            true,
					ElementType:         types.StringType,
					Validators:          []validator.Map{tfutil.ShownToPlan(), mapvalidator.NoNullValues()},
				},
			},
		},
	}
}

// shapeAttributes are the arguments about networks, control plane and node groups.
func shapeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"labels":      textMap("Labels of the Cluster, for `topology`, `chart` and `cluster_template`. Changing this updates in place."),
		"annotations": textMap("Annotations of the Cluster, for `topology`, `chart` and `cluster_template`. Changing this updates in place."),
		"network": schema.SingleNestedAttribute{
			MarkdownDescription: "Networks inside the cluster and in the cloud, for `topology`, `chart` and `cluster_template`. Changing anything here does not reconfigure an existing cluster, and Cluster API Provider OpenStack rejects most changes; replace the cluster instead.",
			Optional:            true,
			Attributes: tfutil.Merged(cloudNetworkAttributes(), map[string]schema.Attribute{
				"pod_cidrs":       cidrs("CIDR blocks of the pods. Defaults to the blocks of the form."),
				"service_cidrs":   cidrs("CIDR blocks of the services. Defaults to the blocks of the form."),
				"service_domain":  tfutil.OptionalText("DNS domain of the services, for example `cluster.local`. Defaults to the domain of the form."),
				"api_server_port": schema.Int64Attribute{MarkdownDescription: "Port of the API server.", Optional: true, Validators: []validator.Int64{int64validator.Between(1, 65535)}},
			}),
		},
		"control_plane": schema.SingleNestedAttribute{
			MarkdownDescription: "Control plane of the cluster. Changing anything here updates in place, if necessary by replacing its machines one after the other.",
			Optional:            true,
			Attributes: tfutil.Merged(machineAttributes(), placeAttributes(), map[string]schema.Attribute{
				"failure_domains": schema.SetAttribute{
					MarkdownDescription: "Failure domains (availability zones) of the machines. Changing this replaces the machines in other domains." + forCharts,
					ElementType:         types.StringType,
					Optional:            true,
					Validators:          []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
				},
				"replicas": schema.Int64Attribute{
					MarkdownDescription: "Odd number of machines. Changing this scales in place.",
					Optional:            true,
					Validators:          []validator.Int64{odd{}},
				},
				"class_variables": attrs.ClassVariables("Values of the variables of the class for the control plane only, for `topology`, as an object in YAML or JSON: `jsonencode({ … })`. Changing this updates in place; Cluster API replaces machines if necessary."),
			}),
		},
		"node_groups": schema.MapNestedAttribute{
			MarkdownDescription: "Groups of worker nodes by name; each group is a MachineDeployment. Changing this adds, changes and removes groups in place and in parallel; other groups do not change.",
			Optional:            true,
			NestedObject:        schema.NestedAttributeObject{Validators: []validator.Object{sizes{}}, Attributes: nodeGroupAttributes()},
		},
		"paused": schema.BoolAttribute{
			MarkdownDescription: "Whether Cluster API ignores the cluster. While it is `true`, Cluster API changes nothing and an apply does not wait. If not set, a pause by others is left alone, and an apply that changes the cluster fails meanwhile. Changing this updates in place.",
			Optional:            true,
		},
		"rollout_after": schema.StringAttribute{
			MarkdownDescription: "Time in RFC 3339, for example `2026-11-22T10:00:00Z`, for `topology`, `chart` and `cluster_template`. Changing this replaces all machines that are older than the new time, one after the other, which renews their certificates.",
			Optional:            true,
			CustomType:          timetypes.RFC3339Type{},
		},
	}
}

func textMap(description string) schema.Attribute {
	return schema.MapAttribute{
		MarkdownDescription: description, Optional: true, ElementType: types.StringType,
		Validators: []validator.Map{mapvalidator.NoNullValues(), tfutil.ShownToPlan()},
	}
}

func cidrs(description string) schema.Attribute {
	return schema.ListAttribute{
		MarkdownDescription: description, Optional: true, ElementType: types.StringType,
		Validators: []validator.List{listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
	}
}

// machineAttributes are shared by control plane and node groups.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"flavor": schema.StringAttribute{
			MarkdownDescription: "Nova flavor of the machines, for `chart` and `cluster_template`; a ClusterClass has a variable for it. Changing this replaces the machines one after the other.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"labels": textMap("Labels of the nodes. Cluster API copies those of `node-role.kubernetes.io/`, `node-restriction.kubernetes.io/` and `node.cluster.x-k8s.io/` from the machines; for `chart` and `cluster_template` kubelet registers its node with all others, and for `topology` these stay on the machines. " +
			"Changing labels that Cluster API copies updates in place; changing others of a chart replaces the machines one after the other."),
		"annotations": textMap("Annotations of the machines, for `topology`. Changing this updates in place."),
		"health_check": schema.SingleNestedAttribute{
			MarkdownDescription: "MachineHealthCheck, which replaces machines with a lost node. Defaults to the health check of the form. Changing anything here updates in place.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"enabled":              schema.BoolAttribute{MarkdownDescription: "Whether unhealthy machines are replaced.", Required: true},
				"node_startup_timeout": seconds("Time for a new machine to become a node, for example `10m`.", tfutil.PositiveSeconds()),
				"unhealthy_timeout":    seconds("Time after which a node that is not ready, or does not report, is unhealthy, for example `5m`.", tfutil.PositiveSeconds()),
				"max_unhealthy": schema.StringAttribute{
					MarkdownDescription: "Number or percentage of unhealthy machines above which no machine is replaced.",
					Optional:            true,
					Validators:          []validator.String{tfutil.Matches(amount, amountRule)},
				},
			},
		},
		"deletion": schema.SingleNestedAttribute{
			MarkdownDescription: "Time limits of the removal of a machine. Each defaults to the limit of the form. A drain without a limit can block forever, for example on a PodDisruptionBudget. Changing anything here updates in place.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"node_drain_timeout":         seconds("Limit of draining the node, for example `10m`.", tfutil.WholeSeconds()),
				"node_volume_detach_timeout": seconds("Limit of detaching volumes.", tfutil.WholeSeconds()),
				"node_deletion_timeout":      seconds("Limit of deleting the object Node.", tfutil.WholeSeconds()),
			},
		},
	}
}

// seconds is a duration that Cluster API counts in seconds.
func seconds(description string, rule validator.String) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Optional: true, CustomType: timetypes.GoDurationType{},
		Validators: []validator.String{rule}, PlanModifiers: []planmodifier.String{tfutil.KeepEqualDuration()},
	}
}

func nodeGroupAttributes() map[string]schema.Attribute {
	return tfutil.Merged(machineAttributes(), placeAttributes(), map[string]schema.Attribute{
		"class": schema.StringAttribute{
			MarkdownDescription: "Worker class of the ClusterClass, required for `topology`. Changing this updates in place; Cluster API replaces machines if necessary.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"replicas": schema.Int64Attribute{
			MarkdownDescription: "Number of nodes. Omit it for a group with `min_replicas` and `max_replicas`. Changing this scales in place.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(0)},
		},
		scaleInMachineNames: removalAttribute(),
		"min_replicas": schema.Int64Attribute{
			MarkdownDescription: "Minimum size of the group for the cluster-autoscaler with Cluster API as its provider, see [An autoscaler](../guides/addons-on-workload-clusters.md#an-autoscaler). With `min_replicas` and `max_replicas`, the autoscaler sets the number of nodes, which is not drift. Changing this updates in place and removes no node by itself.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(0)},
		},
		"max_replicas": schema.Int64Attribute{
			MarkdownDescription: "Maximum size of the group for the cluster-autoscaler. Changing this updates in place and removes no node by itself.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"failure_domain": schema.StringAttribute{
			MarkdownDescription: "Failure domain (availability zone) of the machines. Changing this replaces the machines of the group one after the other.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"taints": schema.ListNestedAttribute{
			MarkdownDescription: "Taints of the nodes. Those with `propagation = \"Always\"` require version `v1beta2` of Cluster API and its feature gate `MachineTaintPropagation`, and change in place; those with `OnInitialization` are registered by kubelet for `chart` and `cluster_template`, without that gate, and a change replaces the machines one after the other. A chart that is not embedded may register all of them so, see [Charts of your own](../guides/workload-clusters.md#charts-of-your-own).",
			Optional:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key":   schema.StringAttribute{MarkdownDescription: "Key of the taint.", Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
				"value": schema.StringAttribute{MarkdownDescription: "Value of the taint.", Optional: true},
				"effect": schema.StringAttribute{
					MarkdownDescription: "Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.", Required: true,
					Validators: []validator.String{stringvalidator.OneOf("NoSchedule", "PreferNoSchedule", "NoExecute")},
				},
				"propagation": schema.StringAttribute{
					MarkdownDescription: "`Always` keeps the taint on the node, `OnInitialization` sets it once. Defaults to `Always`.",
					Optional:            true,
					Computed:            true,
					Default:             stringdefault.StaticString("Always"),
					Validators:          []validator.String{stringvalidator.OneOf("Always", "OnInitialization")},
				},
			}},
		},
		"class_variables": attrs.ClassVariables("Values of the variables of the class for this group only, for `topology`, as an object in YAML or JSON: `jsonencode({ … })`. Changing this updates in place; Cluster API replaces machines if necessary."),
		"rollout": schema.SingleNestedAttribute{
			MarkdownDescription: "Strategy of replacing the nodes of the group. Defaults to the strategy of the form. Changing anything here updates in place and applies to the next replacement.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"type": schema.StringAttribute{
					MarkdownDescription: "`RollingUpdate`, or `OnDelete`, which replaces a machine when it is deleted by hand.",
					Optional:            true,
					Validators:          []validator.String{stringvalidator.OneOf("RollingUpdate", "OnDelete")},
				},
				"max_surge":       amountOf("Number or percentage of nodes above `replicas` during a replacement."),
				"max_unavailable": amountOf("Number or percentage of nodes that may be unavailable during a replacement."),
			},
		},
	})
}

func amountOf(description string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Optional: true,
		Validators: []validator.String{tfutil.Matches(amount, amountRule)},
	}
}
