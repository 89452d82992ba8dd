package clustertemplate

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/chartsource"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// url is the form of an address of Keystone.
var url = lazyregexp.New(`^https?://[^\s@]+$`)

func resourceSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "Manages a cluster template in the style of OpenStack Magnum: image, version, flavors, networks and labels that clusters have in common. Creates no object: `vnf_capi_workload_cluster` takes its `definition`, and changing the template upgrades, in place, every cluster that uses it. See the guide [Coming from OpenStack Magnum](../guides/magnum.md).",
		Attributes: tfutil.Merged(
			map[string]schema.Attribute{
				"id":         schema.StringAttribute{MarkdownDescription: "Name of the template and digest of its definition. It changes with the definition.", Computed: true},
				"definition": schema.StringAttribute{MarkdownDescription: "Complete template as JSON, for `cluster_template.definition` of `vnf_capi_workload_cluster`. It is known at plan time.", Computed: true},
				"name": schema.StringAttribute{
					MarkdownDescription: "Name of the template, for information. Changing this changes no cluster.",
					Required:            true,
					Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
				},
			},
			machineAttributes(), networkAttributes(), chartAttributes(),
		),
	}
}

func required(description string, validators ...validator.String) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description, Required: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, validators...),
	}
}

// machineAttributes are the arguments about image, version and flavors.
func machineAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image": schema.SingleNestedAttribute{
			MarkdownDescription: "Image of the machines, with its properties in Glance. Changing anything here replaces the machines of the clusters one after the other; another `kube_version` upgrades them.",
			Required:            true,
			Attributes: map[string]schema.Attribute{
				"id":           tfutil.OptionalText("Id of the image. Exactly one of `id` and `name` must be set.", stringvalidator.ExactlyOneOf(path.MatchRelative().AtParent().AtName("name"))),
				"name":         tfutil.OptionalText("Name of the image."),
				"kube_version": required("Property `kube_version` of the image: the version of kubelet and kubeadm in it, for example `v1.34.0`."),
				"os_distro":    required("Property `os_distro` of the image: `ubuntu`, `debian`, `rocky`, `rockylinux`, `almalinux`, `centos`, `rhel`, `ol`, `oraclelinux`, `photon`, `opensuse`, `sles` or `flatcar`."),
			},
		},
		"kubernetes_version": schema.StringAttribute{
			MarkdownDescription: "Kubernetes version, which must be the version of the image; a leading `v` makes no difference. Defaults to `image.kube_version`. Changing this upgrades the clusters of the template in place; downgrades and skipped minor versions are rejected at plan time.",
			Optional:            true,
			CustomType:          attrs.VersionType{},
			PlanModifiers:       []planmodifier.String{attrs.KeepEqualVersion()},
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		},
		"control_plane_flavor": tfutil.OptionalText("Nova flavor of the control plane, by name, or by id if it is a UUID, for clusters that set none. Changing this replaces these machines one after the other."),
		"node_flavor":          tfutil.OptionalText("Nova flavor of the nodes, by name, or by id if it is a UUID, for node groups that set none. Changing this replaces these machines one after the other."),
		"keypair":              tfutil.OptionalText("Name of the SSH key pair of the machines, for clusters that set none. Changing this replaces their machines one after the other."),
	}
}

// networkAttributes are the arguments about networks.
func networkAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"external_network": tfutil.OptionalText("External network, by id or name. Defaults to the only external network. Changing this is rejected by Cluster API Provider OpenStack for existing clusters."),
		"fixed_network":    tfutil.OptionalText("Network of the machines, by id or name. Defaults to a new network for each cluster. Changing this is rejected by Cluster API Provider OpenStack for existing clusters."),
		"fixed_subnet":     tfutil.OptionalText("Subnet of the machines, by id or name. Changing this is rejected by Cluster API Provider OpenStack for existing clusters."),
		"dns_nameservers": schema.ListAttribute{
			MarkdownDescription: "Name servers of the networks that are created for clusters. Changing this is rejected by Cluster API Provider OpenStack for existing clusters.", Optional: true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
		"network_driver": tfutil.OptionalText("CNI that the chart installs, for example `calico`, for charts with `addons`. The embedded charts have none and take manifests as `workloadManifests` in `chart.values`. Changing this updates in place."),
	}
}

// chartAttributes are the chart and the arguments that only become its values.
func chartAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"chart": schema.SingleNestedAttribute{
			MarkdownDescription: "Helm chart with the value names of `openstack-cluster` of capi-helm-charts: embedded, or from a path, repository or registry. Defaults to the embedded chart `openstack`. " +
				"Changing anything here upgrades the clusters of the template in place; each cluster downloads the chart with its own `cluster_template.chart_credentials`.",
			Optional:   true,
			Validators: []validator.Object{chartsource.Rules{Embedded: chartsource.Embedded, Optional: true}},
			Attributes: tfutil.Merged(chartsource.Attributes(chartsource.Embedded...), map[string]schema.Attribute{
				"values": attrs.ChartValues("Values that override those of template and labels, each a YAML or JSON document: `yamlencode({ … })`, `file(\"values.yaml\")`. Later documents override earlier ones key by key; they are not for secrets. Flavors and counts of a cluster override them. Changing this updates in place; Cluster API replaces machines if necessary."),
			}),
		},
		"volume_types": schema.ListAttribute{
			MarkdownDescription: "Volume types of Cinder, for charts with `addons`: the chart creates a storage class for each, and the first is the default class. Changing this updates in place.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.List{listvalidator.UniqueValues(), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
		"keystone": schema.SingleNestedAttribute{
			MarkdownDescription: "Keystone for the label `keystone_auth_enabled`. Changing anything here updates the clusters of the template in place.",
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"auth_url":   required("URL of Keystone.", tfutil.Matches(url, "must be a URL that begins with https:// or http://, without credentials")),
				"project_id": required("Id of the project whose users have access."),
			},
		},
		"labels": schema.MapAttribute{
			MarkdownDescription: "Labels of Magnum, by its names; the labels of a cluster override them. Unknown labels are rejected at plan time. Changing this updates the clusters in place; labels about machines replace them one after the other.",
			Optional:            true, ElementType: types.StringType,
			Validators: []validator.Map{mapvalidator.NoNullValues(), tfutil.ShownToPlan()},
		},
	}
}
