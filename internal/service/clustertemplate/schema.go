package clustertemplate

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// url is the form of an address of Keystone.
var url = regexp.MustCompile(`^https?://[^\s@]+$`)

func resourceSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "What OpenStack Magnum calls a cluster template: image, version, flavours, networks and labels that clusters have in common. " +
			"It is nowhere but in the configuration: `vnf_capi_workload_cluster` takes its `definition`, and a template that changes is the upgrade, in place, of each cluster that does. " +
			"The guide for people who come from Magnum has the names of both.",
		Attributes: tfutil.Merged(
			map[string]schema.Attribute{
				"id":         schema.StringAttribute{MarkdownDescription: "Name of the template and digest of its definition. Another content is another id.", Computed: true},
				"definition": schema.StringAttribute{MarkdownDescription: "The whole template as JSON, for `cluster_template.definition` of `vnf_capi_workload_cluster`. It is known at plan time.", Computed: true},
				"name": schema.StringAttribute{
					MarkdownDescription: "Name of the template, for people. A change changes no cluster.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				},
			},
			machineAttributes(), networkAttributes(), chartAttributes(),
		),
	}
}

func optional(description string, validators ...validator.String) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Optional: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, validators...),
	}
}

func required(description string, validators ...validator.String) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Required: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, validators...),
	}
}

// machineAttributes say what machines are made of.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image": schema.SingleNestedAttribute{
			MarkdownDescription: "The image of the machines, with the properties that it has in Glance. A change replaces machines one after the other.",
			Required:            true,
			Attributes: map[string]schema.Attribute{
				"id":           optional("Id of the image. Either `id` or `name` is given.", stringvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName("name"))),
				"name":         optional("Name of the image."),
				"kube_version": required("Property `kube_version` of the image: the version of kubelet and kubeadm in it, for example `v1.34.0`."),
				"os_distro":    required("Property `os_distro` of the image: `ubuntu` or `flatcar`."),
			},
		},
		"kubernetes_version": optional("Version of Kubernetes. It is that of the image, and need not be given; when it is, the two must agree. " +
			"A template with another version upgrades its clusters; back, or over a minor version, is an error of the plan."),
		"control_plane_flavour": optional("Flavour of the machines of a control plane, by name, or by id when that is a UUID, for clusters that name none."),
		"node_flavour":          optional("Flavour of the nodes, likewise, for node groups that name none."),
		"keypair":               optional("Name of the SSH key pair of the machines, for clusters that name none."),
	}
}

// networkAttributes say where machines are.
func networkAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"external_network": optional("External network, by id or name; a chart that is not embedded takes an id. Without it the only one that there is."),
		"fixed_network":    optional("Network of the machines, by id or name. Without it each cluster gets one of its own."),
		"fixed_subnet":     optional("Subnet of the machines, by id or name."),
		"dns_nameservers": schema.ListAttribute{
			MarkdownDescription: "Name servers of the networks that are made for clusters.", Optional: true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.SizeAtLeast(1)},
		},
		"network_driver": optional("The network driver that the chart installs, for example `calico`. It needs a chart with addons, which the embedded ones have not; these take manifests in `chart.values.workloadManifests`."),
	}
}

// chartAttributes say what becomes of it all.
func chartAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"chart": schema.SingleNestedAttribute{
			MarkdownDescription: "The Helm chart whose values the template becomes: an embedded one, or `openstack-cluster` of capi-helm-charts, or one with its names of values, from a path, a repository or a registry. Default is the embedded chart `openstack`. " +
				"Each cluster fetches it, with its own `cluster_template.chart_credentials`: the template holds no password. A range of versions is resolved for each cluster, when it takes the template first and when the source changes.",
			Optional:   true,
			Validators: []validator.Object{chartsource.Rules{Embedded: chartsource.Embedded, Optional: true}},
			Attributes: tfutil.Merged(chartsource.Attributes(chartsource.Embedded...), map[string]schema.Attribute{
				"values": schema.DynamicAttribute{
					MarkdownDescription: "Values over those that template and labels become, an object. What a cluster says of its flavours and counts goes over them. Not for secrets.",
					Optional:            true,
					Validators:          []validator.Dynamic{tfutil.ShownToPlan()},
				},
			}),
		},
		"volume_types": schema.ListAttribute{
			MarkdownDescription: "Volume types of Cinder, for each of which the chart makes a storage class; the first is the default one. It needs a chart with addons.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.SizeAtLeast(1), listvalidator.UniqueValues()},
		},
		"keystone": schema.SingleNestedAttribute{
			MarkdownDescription: "Where Keystone is, for the label `keystone_auth_enabled`.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"auth_url":   required("URL of Keystone.", stringvalidator.RegexMatches(url, "must be a URL that begins with https:// or http://, without credentials")),
				"project_id": required("Id of the project whose users are let in."),
			},
		},
		"labels": schema.MapAttribute{
			MarkdownDescription: "Labels of Magnum, by its names. One that is not known is an error of the plan, which lists those that are. A cluster's own labels go over them.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{mapvalidator.NoNullValues(), tfutil.ShownToPlan()},
		},
	}
}
