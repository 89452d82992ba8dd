package workloadcluster

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// forCharts ends the description of an argument that only charts support.
const forCharts = " For `chart` and `cluster_template`; a ClusterClass has variables for it, and a `clusterctl_template` contains it."

// placeAttributes are the arguments about volumes and ports of machines on OpenStack.
func placeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"root_volume": schema.SingleNestedAttribute{
			MarkdownDescription: "Boot volume of the machines, instead of the disk of their flavor. Changing anything here replaces the machines one after the other." + forCharts,
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"size":              schema.Int64Attribute{MarkdownDescription: "Size in GiB.", Required: true, Validators: []validator.Int64{int64validator.AtLeast(1)}},
				"type":              optionalText("Volume type. Defaults to the volume type of the cloud."),
				"availability_zone": optionalText("Availability zone of the volume. Defaults to the zone of the cloud."),
			},
		},
		"networks": schema.ListNestedAttribute{
			MarkdownDescription: "Networks of the ports of the machines, in this order. Defaults to the internal network of the cluster, which is also the meaning of an entry without `id`, `name` and `tags`. Changing anything here replaces the machines one after the other." + forCharts,
			Optional:            true,
			Validators:          []validator.List{listvalidator.SizeAtLeast(1)},
			NestedObject: schema.NestedAttributeObject{Attributes: func() map[string]schema.Attribute {
				all := foundAttributes("network")
				all["subnet"] = found("Subnet of the network for the address of the port.", "subnet")
				return all
			}()},
		},
	}
}

// cloudNetworkAttributes select the networks of the cloud.
func cloudNetworkAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"internal":        found("Existing network of the machines. Defaults to a new network."+forCharts, "network"),
		"internal_subnet": found("Existing subnet of the internal network."+forCharts, "subnet"),
		"external":        found("Existing external network of the floating IPs. Tags require an embedded chart. Defaults to the only external network."+forCharts, "network"),
	}
}

// found selects an existing object of the cloud by id, name or tags.
func found(description, what string) schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: description, Optional: true, Attributes: foundAttributes(what, stringvalidator.AtLeastOneOf(tfutil.Sibling("name"), tfutil.Sibling("tags"))),
	}
}

func foundAttributes(what string, more ...validator.String) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id": schema.StringAttribute{
			MarkdownDescription: "Id of the " + what + ".", Optional: true,
			Validators: append(more, stringvalidator.LengthAtLeast(1), stringvalidator.ConflictsWith(tfutil.Sibling("name"), tfutil.Sibling("tags"))),
		},
		"name": optionalText("Name of the " + what + "; it must be unique."),
		"tags": base.Names("Tags, all of which the " + what + " has."),
	}
}

func optionalText(description string) schema.Attribute {
	return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
}
