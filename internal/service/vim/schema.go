package vim

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/objectvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// dnsLabel is a name of a namespace (RFC 1123).
var dnsLabel = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := attributes()
	attributes["timeouts"] = tfutil.Timeouts(ctx, timeoutOpts)
	attributes["on_unreachable"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: base.OnUnreachableDescription + " It holds for what is on the VIM and does not set `on_unreachable` itself. Defaults to the argument `on_unreachable` of the provider, else to `fail`. Changing this alone asks the VIM nothing and applies to the next destroy.",
		Validators:          base.OnUnreachableValidators(),
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A virtualised infrastructure manager (VIM): a Kubernetes API server that runs network functions of containers or manages workload clusters, or a region and project of an OpenStack that runs network functions of servers and machines of workload clusters.\n\n" +
			"Creating it connects to the VIM, authenticates, checks its version and the rights of the credentials, and seals the credentials in the store. " +
			"A VIM that cannot be reached is not registered. Missing rights are a warning, because they can be restricted on purpose. " +
			"Every change is made in place, rotated credentials included. Every `vnf_vim` of a store with the same name and endpoint shares one VIM. Destroying the last of them is rejected while a network function, a workload cluster or another VIM uses it.",
		Attributes: attributes,
	}
}

// attributes are those that resource and data source share.
func attributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the VIM, a UUID. It stays the same when the VIM is registered again.",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"name": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Name of the VIM. In one store it belongs to one endpoint: another `vnf_vim` with both shares the VIM. Changing this renames it in place, which is rejected while others share it.",
			Validators:          []validator.String{stringvalidator.LengthBetween(1, 255), tfutil.Name()},
		},
		"description": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Description of the VIM. Changing this updates the record in place.",
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"type": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Type of the VIM: `kubernetes` or `openstack`.",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"created_at": schema.StringAttribute{
			Computed:            true,
			CustomType:          timetypes.RFC3339Type{},
			MarkdownDescription: "Time of the registration (RFC 3339, UTC).",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"kubernetes": schema.SingleNestedAttribute{
			Optional:   true,
			Validators: []validator.Object{objectvalidator.ConflictsWith(path.MatchRoot(string(vnfm.VIMTypeOpenStack)))},
			MarkdownDescription: "Connection to a Kubernetes API server, version 1.25 or later. Set at most one of `kubernetes` and `openstack`; without both the entry of `vims` in the provider with the name of the VIM gives the connection. Changing from one type to the other replaces the VIM. Exactly one way of authentication is set: a bearer token, " +
				"a token file, a program that prints credentials, a username with its password, a client certificate with its key, a kubeconfig, whose values the other arguments override, or a workload cluster of Cluster API. `~/.kube/config` is never read. " +
				"Changing anything here checks the connection and updates it in place.",
			Attributes: kubernetesAttributes(),
		},
		"openstack": openstackAttribute(),
	}
	maps.Copy(all, observedAttributes())
	return all
}

const changesInPlace = " Changing this updates the VIM in place."

func kubernetesAttributes() map[string]schema.Attribute {
	notEmpty := []validator.String{stringvalidator.LengthAtLeast(1)}
	optional := func(description string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: notEmpty}
	}
	attributes := map[string]schema.Attribute{
		"insecure_skip_tls_verify": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: attrs.KubernetesInsecure + changesInPlace,
		},
		vnfm.ArgumentExec: execAttribute(),
	}
	for _, a := range attrs.KubernetesArguments() {
		attributes[a.Name] = optional(a.Description + changesInPlace)
	}
	attributes["endpoint"] = optional("URL of the API server, for example `https://10.0.0.10:6443`. Required unless a kubeconfig contains it or `kubeconfig_ref` is set. Changing this checks the new server and updates the VIM in place.")
	namespace := optional("Namespace of objects that name none, for instances that set no `namespace`. Defaults to `default`, even if a kubeconfig names another. Changing this affects instances made later.")
	namespace.Computed, namespace.Default = true, stringdefault.StaticString(vnfm.DefaultNamespace)
	namespace.Validators = []validator.String{tfutil.Matches(dnsLabel, "must be a name of a namespace: at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends")}
	attributes["default_namespace"] = namespace
	attributes["kubeconfig_ref"] = schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "A workload cluster of Cluster API that is the VIM, for example `vnf_capi_workload_cluster.edge.kubeconfig_ref`. " +
			"Its credentials are read from its management cluster at each use: none are stored, and a rotation is followed. Changing this checks the cluster and updates the VIM in place.",
		Attributes: map[string]schema.Attribute{
			"management_vim_id": schema.StringAttribute{Required: true, MarkdownDescription: "Id of the `vnf_vim` that is the management cluster.", Validators: notEmpty},
			"namespace":         schema.StringAttribute{Required: true, MarkdownDescription: "Namespace of the cluster on its management cluster.", Validators: notEmpty},
			"name":              schema.StringAttribute{Required: true, MarkdownDescription: "Name of the cluster.", Validators: notEmpty},
		},
	}
	for _, s := range attrs.KubernetesSecrets() {
		s.AddTo(attributes)
	}
	return attributes
}

// execAttribute is a program that prints the credentials.
func execAttribute() schema.SingleNestedAttribute {
	notEmpty := []validator.String{stringvalidator.LengthAtLeast(1)}
	return schema.SingleNestedAttribute{
		Optional:            true,
		MarkdownDescription: attrs.ExecDescription + changesInPlace,
		Attributes: map[string]schema.Attribute{
			"command": schema.StringAttribute{Required: true, MarkdownDescription: attrs.ExecCommandDescription, Validators: notEmpty},
			"args":    schema.ListAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: attrs.ExecArgsDescription},
			"env": schema.MapAttribute{
				Optional: true, ElementType: types.StringType, MarkdownDescription: attrs.ExecEnvDescription,
				Validators: []validator.Map{mapvalidator.NoNullValues(), tfutil.ShownSecrets{Instead: "Set them in the environment of Terraform, which the program gets as well."}},
			},
			"api_version": schema.StringAttribute{
				Required: true, MarkdownDescription: attrs.ExecAPIVersionDescription, Validators: []validator.String{stringvalidator.OneOf(vnfm.ExecAPIVersions()...)},
			},
		},
	}
}
