package workloadcluster

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/objectvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

var (
	rfc3339 = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})$`)
	amount  = regexp.MustCompile(`^([0-9]+|[0-9]+%)$`)
)

const amountRule = "must be a number or a percentage, for example 1 or 40%"

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create: true, Read: true, Update: true, Delete: true,
	CreateDescription: "Limit of the creation. When it is over the cluster is kept in `FAILED_TEMP` or removed, see `on_failure`. The default is `60m`.",
	ReadDescription:   "Limit of a refresh. The default is `2m`.",
	UpdateDescription: "Limit of all that one update does. The default is `90m`.",
	DeleteDescription: "Limit of the removal. The default is `60m`.",
}

func resourceSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A Kubernetes workload cluster that Cluster API makes and keeps: the Cluster, its control plane and its node groups, on the management cluster that `vim_id` names. " +
			"It is described in one of four forms: a `topology` of a ClusterClass, a Helm `chart`, a cluster `template` of clusterctl, or a `cluster_template` as OpenStack Magnum has it. " +
			"Creating it waits until the control plane and all nodes are there and the workload API answers. Node groups are resized, added and removed in place, a change of `kubernetes_version` upgrades in place, the control plane first. " +
			"The kubeconfig of the cluster never enters the state: read it with the ephemeral resource `vnf_capi_workload_kubeconfig`.",
		Attributes: tfutil.Merged(identityAttributes(), formAttributes(), shapeAttributes(), addonAttributes(), dayTwoAttributes(), cloudAttributes(), computedAttributes(), map[string]schema.Attribute{
			"timeouts": tfutil.Timeouts(ctx, timeoutOpts),
		}),
	}
}

// identityAttributes say which cluster it is and where it is kept.
func identityAttributes() map[string]schema.Attribute {
	replaced := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	return map[string]schema.Attribute{
		"vim_id": schema.StringAttribute{
			MarkdownDescription: "Id of the `vnf_vim` that is the management cluster: a Kubernetes cluster with Cluster API and its providers on it. A change replaces the cluster.",
			Required:            true,
			PlanModifiers:       replaced,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"namespace": schema.StringAttribute{
			MarkdownDescription: "Namespace of the cluster on the management cluster. Default is that of the VIM. It is created when it does not exist. A change replaces the cluster.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{tfutil.DNSLabel()},
		},
		"name": schema.StringAttribute{
			MarkdownDescription: "Name of the cluster, the same as that of the object Cluster. A change replaces the cluster.",
			Required:            true,
			PlanModifiers:       replaced,
			Validators:          []validator.String{tfutil.DNSLabel()},
		},
		"kubernetes_version": schema.StringAttribute{
			MarkdownDescription: "Version of Kubernetes of control plane and nodes, for example `1.34.0`. A change upgrades in place: the control plane first, then the node groups. A version below the present one, or more than one minor version above it, is an error of the plan. A template of clusterctl may have a fixed version in its place; with `cluster_template` the version is that of the template, and need not be given.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
	}
}

// formAttributes are the four forms, of which one is given.
func formAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"topology": schema.SingleNestedAttribute{
			MarkdownDescription: "The cluster as a topology of a ClusterClass. Exactly one of `topology`, `chart`, `template` and `cluster_template` is given; a change from one to another is made in place as far as Cluster API lets it.",
			Optional:            true,
			Validators: []validator.Object{objectvalidator.ExactlyOneOf(
				path.MatchRoot("topology"), path.MatchRoot("chart"), path.MatchRoot("template"), path.MatchRoot("cluster_template"))},
			Attributes: map[string]schema.Attribute{
				"class": schema.StringAttribute{
					MarkdownDescription: "Name of the ClusterClass. A change rebases the cluster in place.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				},
				"class_namespace": schema.StringAttribute{
					MarkdownDescription: "Namespace of the ClusterClass. Default is that of the cluster.",
					Optional:            true,
					Validators:          []validator.String{tfutil.DNSLabel()},
				},
				"variables": schema.DynamicAttribute{
					MarkdownDescription: "Values of the class's variables, an object by their names. They are checked against the schemas of the class at plan time, when the management cluster can be reached. A change is made in place. Not for secrets. With `openstack`, what the class makes of them is looked for there.",
					Optional:            true,
					Validators:          []validator.Dynamic{tfutil.ShownToPlan()},
				},
			},
		},
		"chart": schema.SingleNestedAttribute{
			MarkdownDescription: "The cluster as a Helm chart, whose values have the names of the chart `openstack-cluster` of capi-helm-charts. What the other arguments of the cluster say is laid over `values`.",
			Optional:            true,
			Validators:          []validator.Object{chartsource.Rules{Embedded: chartsource.Embedded}},
			Attributes: tfutil.Merged(chartsource.Attributes(chartsource.Embedded...), chartsource.Login(), map[string]schema.Attribute{
				"values": schema.DynamicAttribute{
					MarkdownDescription: "Values over those of the chart, an object. Not for secrets.",
					Optional:            true,
					Validators:          []validator.Dynamic{tfutil.ShownToPlan()},
				},
			}),
		},
		"cluster_template": clusterTemplateAttribute(),
		"template": schema.SingleNestedAttribute{
			MarkdownDescription: "The cluster as a cluster template of clusterctl. A change is made in place; the machines that it is about are replaced one after the other.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"content": schema.StringAttribute{
					MarkdownDescription: "The template: YAML with `${VARIABLE}` and `${VARIABLE:=default}`, for example `file(\"cluster-template.yaml\")`. `CLUSTER_NAME` and `NAMESPACE` are set, `KUBERNETES_VERSION`, `CONTROL_PLANE_MACHINE_COUNT` and `WORKER_MACHINE_COUNT` come from the arguments of the cluster. " +
						"A template of machines or of their bootstrap configuration that control plane or node groups refer to has the name that is written for it as long as its content is that of the beginning; another content has a digest at the end of the name, here and in what refers to it, so that the machines are replaced one after the other, and the old one goes after them.",
					Required:   true,
					Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
				},
				"variables": schema.MapAttribute{
					MarkdownDescription: "Values of the template's other variables. Not for secrets.",
					Optional:            true,
					ElementType:         types.StringType,
					Validators:          []validator.Map{tfutil.ShownToPlan(), mapvalidator.NoNullValues()},
				},
			},
		},
	}
}

// shapeAttributes say what the cluster consists of.
func shapeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"labels":      textMap("Labels of the Cluster, for topology, chart and cluster template. A change is made in place."),
		"annotations": textMap("Annotations of the Cluster, for topology, chart and cluster template. A change is made in place."),
		"network": schema.SingleNestedAttribute{
			MarkdownDescription: "The network inside the cluster, and those of the cloud that it is in, for topology, chart and cluster template. Cluster API does not change it later.",
			Optional:            true,
			Attributes: tfutil.Merged(cloudNetworkAttributes(), map[string]schema.Attribute{
				"pod_cidrs":       cidrs("Addresses of the pods, as CIDR blocks."),
				"service_cidrs":   cidrs("Addresses of the services, as CIDR blocks."),
				"service_domain":  schema.StringAttribute{MarkdownDescription: "Domain of the services, for example `cluster.local`.", Optional: true},
				"api_server_port": schema.Int64Attribute{MarkdownDescription: "Port of the API server.", Optional: true, Validators: []validator.Int64{int64validator.Between(1, 65535)}},
			}),
		},
		"control_plane": schema.SingleNestedAttribute{
			MarkdownDescription: "The control plane.",
			Optional:            true,
			Attributes: tfutil.Merged(machineAttributes(), placeAttributes(), map[string]schema.Attribute{
				"failure_domains": schema.ListAttribute{
					MarkdownDescription: "Failure domains (availability zones) that the machines are spread over. A change replaces the machines that are elsewhere." + forCharts,
					ElementType:         types.StringType,
					Optional:            true,
					Validators:          []validator.List{listvalidator.SizeAtLeast(1), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
				},
				"replicas": schema.Int64Attribute{
					MarkdownDescription: "Number of machines, an odd one. A change is made in place.",
					Optional:            true,
					Validators:          []validator.Int64{int64validator.AtLeast(1)},
				},
				"variables": schema.DynamicAttribute{
					MarkdownDescription: "Values of the class's variables for the control plane alone, for a topology.",
					Optional:            true,
					Validators:          []validator.Dynamic{tfutil.ShownToPlan()},
				},
			}),
		},
		"node_groups": schema.MapNestedAttribute{
			MarkdownDescription: "The groups of worker nodes by name, each a MachineDeployment. Groups are added, resized and removed in place, all at the same time, and without touching others.",
			Optional:            true,
			NestedObject:        schema.NestedAttributeObject{Attributes: nodeGroupAttributes()},
		},
		"paused": schema.BoolAttribute{
			MarkdownDescription: "Whether Cluster API leaves the cluster alone: nothing is made, changed or removed while it is `true`, and nothing is waited for. Default `false`.",
			Optional:            true,
			Computed:            true,
			Default:             booldefault.StaticBool(false),
		},
		"rollout_after": schema.StringAttribute{
			MarkdownDescription: "A time in RFC 3339. All machines that were made before it are replaced one after the other, which renews their certificates. A change does so in place. For topology, chart and cluster template.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.RegexMatches(rfc3339, "must be a time such as 2026-11-22T10:00:00Z")},
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
		Validators: []validator.List{listvalidator.SizeAtLeast(1)},
	}
}

// machineAttributes are those of all machines.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"flavour": schema.StringAttribute{
			MarkdownDescription: "Flavour of the machines, for chart and cluster template. A ClusterClass has a variable for it. A change replaces the machines one after the other.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"labels":      textMap("Labels of the machines, of which Cluster API hands some on to the nodes (`node-role.kubernetes.io/`, `node-restriction.kubernetes.io/`, `node.cluster.x-k8s.io/`). A change is made in place."),
		"annotations": textMap("Annotations of the machines, for a topology. A change is made in place."),
		"health_check": schema.SingleNestedAttribute{
			MarkdownDescription: "Whether machines whose node is lost are replaced (MachineHealthCheck). What the form says applies when it is left out.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"enabled":              schema.BoolAttribute{MarkdownDescription: "Whether machines are replaced.", Required: true},
				"node_startup_timeout": seconds("Time that a machine has until its node comes up, in seconds."),
				"unhealthy_timeout":    seconds("Time after which a node that is not ready, or does not say so, is taken for lost, in seconds."),
				"max_unhealthy": schema.StringAttribute{
					MarkdownDescription: "Number or percentage of lost machines above which none is replaced.",
					Optional:            true,
					Validators:          []validator.String{stringvalidator.RegexMatches(amount, amountRule)},
				},
			},
		},
		"deletion": schema.SingleNestedAttribute{
			MarkdownDescription: "Limits of the steps in which a machine is removed. Without them a drain may wait for ever, for a PodDisruptionBudget for example. A change is made in place.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"node_drain_timeout":         seconds("Limit of the drain of the node, in seconds."),
				"node_volume_detach_timeout": seconds("Limit of the detaching of volumes, in seconds."),
				"node_deletion_timeout":      seconds("Limit of the removal of the object Node, in seconds."),
			},
		},
	}
}

func seconds(description string) schema.Attribute {
	return schema.Int64Attribute{MarkdownDescription: description, Optional: true, Validators: []validator.Int64{int64validator.AtLeast(0)}}
}

func nodeGroupAttributes() map[string]schema.Attribute {
	return tfutil.Merged(machineAttributes(), placeAttributes(), map[string]schema.Attribute{
		"class": schema.StringAttribute{
			MarkdownDescription: "Worker class of the ClusterClass, for a topology, which needs it.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"replicas": schema.Int64Attribute{
			MarkdownDescription: "Number of nodes. A change is made in place. Leave it out for a group that `min` and `max` leave to an autoscaler.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(0)},
		},
		removeMachines: removalAttribute(),
		"min": schema.Int64Attribute{
			MarkdownDescription: "Least number of nodes of an autoscaler (cluster-autoscaler with Cluster API as its provider). With `min` and `max` the number of nodes is the autoscaler's, and no drift.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(0)},
		},
		"max": schema.Int64Attribute{
			MarkdownDescription: "Greatest number of nodes of an autoscaler.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AtLeast(1)},
		},
		"failure_domain": schema.StringAttribute{
			MarkdownDescription: "Failure domain (availability zone) that the machines are in.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"taints": schema.ListNestedAttribute{
			MarkdownDescription: "Taints of the nodes, for version v1beta2 of Cluster API with its feature gate `MachineTaintPropagation`.",
			Optional:            true,
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"key":   schema.StringAttribute{MarkdownDescription: "Key of the taint.", Required: true},
				"value": schema.StringAttribute{MarkdownDescription: "Value of the taint.", Optional: true},
				"effect": schema.StringAttribute{
					MarkdownDescription: "`NoSchedule`, `PreferNoSchedule` or `NoExecute`.", Required: true,
					Validators: []validator.String{stringvalidator.OneOf("NoSchedule", "PreferNoSchedule", "NoExecute")},
				},
				"propagation": schema.StringAttribute{
					MarkdownDescription: "`Always` (default) keeps the taint on the node, `OnInitialization` sets it once.", Optional: true,
					Validators: []validator.String{stringvalidator.OneOf("Always", "OnInitialization")},
				},
			}},
		},
		"variables": schema.MapAttribute{
			MarkdownDescription: "Values of the class's variables for this group alone, for a topology, each as JSON: `jsonencode(...)`. Terraform knows no objects of different types in one map.",
			Optional:            true,
			ElementType:         types.StringType,
			Validators:          []validator.Map{mapvalidator.NoNullValues(), tfutil.ShownToPlan()},
		},
		"rollout": schema.SingleNestedAttribute{
			MarkdownDescription: "How the nodes are replaced when their description changes. A change is made in place.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"type": schema.StringAttribute{
					MarkdownDescription: "`RollingUpdate`, or `OnDelete`: a machine is replaced when somebody deletes it.",
					Optional:            true,
					Validators:          []validator.String{stringvalidator.OneOf("RollingUpdate", "OnDelete")},
				},
				"max_surge":       amountOf("Number or percentage of nodes above the wanted number during a replacement."),
				"max_unavailable": amountOf("Number or percentage of nodes that may be missing during a replacement."),
			},
		},
	})
}

func amountOf(description string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Optional: true,
		Validators: []validator.String{stringvalidator.RegexMatches(amount, amountRule)},
	}
}
