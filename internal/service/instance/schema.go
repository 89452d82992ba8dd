package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
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
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create: true, Read: true, Update: true, Delete: true,
	CreateDescription: "Limit of the instantiation. At the limit the instance stays in `FAILED_TEMP` or is rolled back, see `on_failure`. Defaults to `30m`.",
	ReadDescription:   "Limit of a refresh. Defaults to `2m`.",
	UpdateDescription: "Limit of all operations of one update together. Defaults to `30m`.",
	DeleteDescription: "Limit of the termination. Defaults to `15m`.",
}

func resourceSchema(ctx context.Context) schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Manages the lifecycle of one VNF or CNF. " +
			"Creating instantiates it, changing `scale_levels` scales it, changing `package_id` changes its current package, and every apply repairs changes made outside of Terraform. " +
			"The plan says what happens to every VDU before the apply, even without a connection to the VIM, and names each object that changes.",
		Attributes: tfutil.Merged(identityAttributes(), linkAttributes(), lifeAttributes(), computedAttributes(), map[string]schema.Attribute{
			"timeouts": tfutil.Timeouts(ctx, timeoutOpts),
		}),
	}
}

// identityAttributes say which network function it is and where it lives.
func identityAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			MarkdownDescription: "Name of the instance, unique on its VIM, on Kubernetes in its namespace. Changing this renames the instance in place.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthBetween(1, 253), tfutil.Name()},
		},
		"description": schema.StringAttribute{
			MarkdownDescription: "Description of the instance. Changing this updates in place.",
			Optional:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"metadata": schema.MapAttribute{
			MarkdownDescription: "Key-value pairs kept with the instance. Changing this updates in place.",
			ElementType:         types.StringType,
			Optional:            true,
			Validators:          []validator.Map{mapvalidator.NoNullValues()},
		},
		"vim_id": schema.StringAttribute{
			MarkdownDescription: "Id of the `vnf_vim` that the instance runs on. Changing this replaces the instance.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"vim_connections": connectionsAttribute(),
		"package_id": schema.StringAttribute{
			MarkdownDescription: "Id of the `vnf_package` that describes the instance. Changing this updates in place: objects are added, changed and removed to match the new package.",
			Required:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"flavour_id": schema.StringAttribute{
			MarkdownDescription: "Deployment flavour of the VNFD. Defaults to the VNFD's only or default flavour. Changing this updates in place.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"namespace": schema.StringAttribute{
			MarkdownDescription: "Namespace of objects whose manifest names none, created if missing; rejected on OpenStack. Unlike `additional_params.namespace` it moves no object whose manifest names a namespace. Defaults to the value of `additional_params.namespace`, else to `default_namespace` of the VIM. Changing this replaces the instance.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{tfutil.Namespace()},
		},
		"additional_params": schema.DynamicAttribute{
			MarkdownDescription: additionalParams,
			Optional:            true,
		},
		"additional_params_wo": schema.DynamicAttribute{
			MarkdownDescription: "Secret parameters, such as passwords: those of the management drivers that the VNFD names, values of a Helm chart (`helm_parameters`), and on OpenStack `nfv` and the parameters that the package's template declares. " +
				"They override `additional_params` key by key, and element by element in lists (see the guide about secret parameters). This form is write-only: it reaches neither plan nor state and accepts ephemeral values; the store keeps it sealed for refreshes and the termination. " +
				"Changing this updates in place: the plan shows new values of a chart or template as changes of the objects that use them. Terraform cannot detect a change for a management driver: increment `additional_params_wo_version` as well.",
			Optional:  true,
			Sensitive: true,
			WriteOnly: true,
		},
		"additional_params_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Version of `additional_params_wo`, any number. Changing this sends the current value of `additional_params_wo`, in place.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("additional_params_wo"))},
		},
	}
}

// lifeAttributes say how it lives and dies.
func lifeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"instantiation_level_id": schema.StringAttribute{
			MarkdownDescription: "Instantiation level of the flavour. Defaults to the flavour's default level. Changing this scales the VDUs in place.",
			Optional:            true,
			Computed:            true,
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"scale_levels": schema.MapAttribute{
			MarkdownDescription: "Scale level per scaling aspect. Defaults to the levels of the instantiation level. Changing this scales the VDUs in place.",
			ElementType:         types.Int64Type,
			Optional:            true,
			Validators:          []validator.Map{mapvalidator.NoNullValues(), mapvalidator.ValueInt64sAre(int64validator.AtLeast(0))},
		},
		"scale_in_vnfc_ids": schema.SetAttribute{
			MarkdownDescription: "VNFCs to remove first when their VDU is scaled in, at most as many as are removed. On Kubernetes only Deployments and ReplicaSets support this. Changing this alone has no effect.",
			ElementType:         types.StringType,
			Optional:            true,
			Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
		"availability_zones": zonesAttribute(),
		"operational_state": schema.StringAttribute{
			MarkdownDescription: "Operational state: `started`, or `stopped`, which keeps the instance but runs none of its VNFCs. Defaults to `started`. Changing this updates in place.",
			Optional:            true,
			Computed:            true,
			Default:             stringdefault.StaticString(string(vnfm.Started)),
			Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.Started), string(vnfm.Stopped))},
		},
		"heal":       healAttribute(),
		"regenerate": base.RegenerateAttribute("Makes what random functions of a Helm chart gave again, once for each new `trigger`: passwords, keys and certificates that the chart generates, which otherwise stay as long as the instance (see the guide about Helm charts). "),
		"replace_objects": schema.SetAttribute{
			MarkdownDescription: "Objects, named as in `changes` of a plan, that a change of package may delete and recreate if it changes an immutable field; otherwise such a change is an error. Jobs, bare Pods and role bindings are always replaced; a StatefulSet keeps its claims, and its pods if the selector is the same. Changing this alone has no effect.",
			ElementType:         types.StringType,
			Optional:            true,
			Validators:          []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
		"readiness": readinessAttribute(),
		"unknown_management_drivers": schema.StringAttribute{
			MarkdownDescription: "Treatment of hooks in the VNFD's interface Vnflcm whose management driver is not known, such as a Python class of the package, which is never run: `error`, or `skip`, which goes on without these hooks and lists them in a warning. " +
				"Classes of OpenStack Tacker whose work the provider does itself (`mgmt-container-update`, `vnflcm_noop`) are known. Defaults to `error`. Changing this applies to the next operation.",
			Optional:   true,
			Computed:   true,
			Default:    stringdefault.StaticString(string(vnfm.UnknownDriversError)),
			Validators: []validator.String{stringvalidator.OneOf(string(vnfm.UnknownDriversError), string(vnfm.UnknownDriversSkip))},
		},
		attrs.SinkAttribute: attrs.SinkSchema("Web server that receives the kubeconfigs of the instance's workload clusters: every Cluster of Cluster API in its package. A VNFD that names the management driver `" +
			vnfm.CredentialsSender + "` for a hook of its interface Vnflcm needs it; a package without that may have it as well."),
		"termination":     terminationAttribute(),
		"deletion_policy": deletionPolicyAttribute(),
	}
}

// zonesAttribute says where servers go.
func zonesAttribute() schema.Attribute {
	return schema.ListAttribute{
		MarkdownDescription: "Availability zones of Nova for new servers, in the order of preference: a server that finds no place in one goes to the next, and a warning names it (see the guide about VNFs on OpenStack). " +
			"Defaults to the choice of Nova. Changing this moves no server that exists; a heal moves those whose zone is no longer in the list.",
		ElementType: types.StringType,
		Optional:    true,
		Validators: []validator.List{
			listvalidator.UniqueValues(),
			listvalidator.NoNullValues(),
			listvalidator.ValueStringsAre(stringvalidator.LengthAtMost(zoneLength), tfutil.Matches(zoneName, "must be the name of an availability zone, which has no colon and no blanks around it: a host cannot be named here")),
		},
	}
}

// What Nova takes for the name of an availability zone.
const zoneLength = 255

var zoneName = lazyregexp.New(`^[^:\s]([^:]*[^:\s])?$`)

// terminationAttribute says how the instance is terminated.
func terminationAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Termination of the instance. Changing anything here affects the termination only.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"type": schema.StringAttribute{
				MarkdownDescription: "`graceful` lets VNFCs shut down by themselves; `forceful` ends them at once and runs no hooks of a Helm chart. Defaults to `graceful`, also if `termination` is omitted.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(string(vnfm.Graceful)),
				Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.Graceful), string(vnfm.Forceful))},
			},
			"graceful_timeout": schema.StringAttribute{
				MarkdownDescription: "Time for a VNFC to shut down by itself, for example `30s`. Defaults to the grace period of each pod, and one minute for servers, which are shut down before the stack is deleted.",
				CustomType:          timetypes.GoDurationType{},
				Optional:            true,
				Validators:          []validator.String{tfutil.Positive()},
				PlanModifiers:       []planmodifier.String{tfutil.KeepEqualDuration()},
			},
		},
	}
}

// deletionPolicyAttribute says what a termination leaves behind.
func deletionPolicyAttribute() schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: "Treatment of data and shared objects at the termination. Changing anything here affects the termination only.",
		Optional:            true,
		Attributes: map[string]schema.Attribute{
			"volumes": schema.StringAttribute{
				MarkdownDescription: "`keep` leaves volumes behind, `delete` deletes them and their data. Defaults to the usual behaviour of the VIM: on Kubernetes persistent volume claims stay with their volumes, a warning names them, and a later instance of the same name takes them over; on OpenStack volumes go with the stack, unless its template keeps them by their own `deletion_policy`.",
				Optional:            true,
				Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.VolumesKeep), string(vnfm.VolumesDelete))},
			},
			"namespace": schema.StringAttribute{
				MarkdownDescription: "Namespace that was made for the instance: `delete` deletes it unless it contains kept or foreign objects; `keep` leaves it behind, and a later instance of the same name takes it over. A namespace that the package brings is an object of the package, and stays likewise while it contains kept or foreign objects. Defaults to `delete`, also if `deletion_policy` is omitted.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(string(vnfm.SharedDelete)),
				Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.SharedKeep), string(vnfm.SharedDelete))},
			},
			"crds": schema.StringAttribute{
				MarkdownDescription: "CustomResourceDefinitions of the package: `delete` deletes one unless there are objects of its kind, in any namespace, that are not the instance's; `keep` leaves them behind, and a later instance of the same name takes them over. A warning reports definitions that could not be deleted. With `delete`, an instance that brings controllers beside its definitions is not terminated as long as objects of these kinds that are not the instance's carry finalizers, since no controller would be left to process them. A forceful termination ignores this. Defaults to `delete`, also if `deletion_policy` is omitted.",
				Optional:            true,
				Computed:            true,
				Default:             stringdefault.StaticString(string(vnfm.SharedDelete)),
				Validators:          []validator.String{stringvalidator.OneOf(string(vnfm.SharedKeep), string(vnfm.SharedDelete))},
			},
		},
	}
}

func computedAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"generation": schema.Int64Attribute{
			MarkdownDescription: "Counter that increases with every scale, heal, repair, and change of package or external networks.",
			Computed:            true,
		},
		"vnfd_id": schema.StringAttribute{
			MarkdownDescription: "Id of the VNFD (`descriptor_id`) that the instance follows.",
			Computed:            true,
		},
		"scale_status": schema.MapAttribute{
			MarkdownDescription: "Scale level of every scaling aspect.",
			ElementType:         types.Int64Type,
			Computed:            true,
		},
		"vnfc_counts": schema.MapAttribute{
			MarkdownDescription: "Number of VNFCs of each VDU, known at plan time; null where an autoscaler or the kind itself (DaemonSet) decides. The data source `vnf_instance` says which workload a VDU is.",
			ElementType:         types.Int64Type,
			Computed:            true,
		},
		"registered_vim_id": schema.StringAttribute{
			MarkdownDescription: "Id of the VIM that a management driver registered for the Kubernetes cluster of the instance. Null if there is none. It stays the same when the cluster is rebuilt.",
			Computed:            true,
		},
	}
}

// additionalParams describes the argument additional_params.
const additionalParams = "Parameters of the infra driver, by the names that OpenStack Tacker's users know: `namespace` (also of objects whose manifest names another one; a warning names those that move), `vdu_mapping` (VDU id to `{ kind, name }`), `lcm-kubernetes-def-files` (list of manifest paths in the package; a VDU whose workload is in none of them has no VNFC, with a warning; defaults to all, or to the containers that the VNFD describes if there is none), and for a package that holds a Helm chart `helm_chart_path` (an archive or a directory in the package; defaults to the chart of the VNFD's Mciop), `helm_parameters` (values over those of the chart; a key with a dot is a path as `helm --set` takes it), `helm_value_names` (VDU id to `{ replica = path of the value that is its count }`; a scale then renders the chart again), `helm_release_name` (defaults to a name made from that of the instance), `helm_test` (with `true` a revision counts as deployed only when the chart's tests have succeeded), `helm_kube_version` and `helm_api_versions` (capabilities that templates see; default to Kubernetes 1.34 and its stable API versions for every cluster, so that plan and apply agree). All of them are checked against the package at plan time. Parameters that only other kinds of VIM have, and those of Tacker that need nothing here, such as `upgrade_type`, are ignored with one warning. On OpenStack: `nfv`, which is merged over the computed parameter `nfv` of Heat templates (see the guide), `heat_stack_name` (the name of the stack, whose template is then taken as it is, without copies of its resources, and which `adopt_existing` takes over if it exists; cannot be changed; defaults to `vnf-` and the id of the instance), and the parameters that the package's template declares itself. Plan and state show them: secrets belong in `additional_params_wo`, and a likely secret here causes a warning. Changing this updates in place."
