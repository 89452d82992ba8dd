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

// forCharts is said of arguments that only a chart has a place for.
const forCharts = " For chart and cluster template; a ClusterClass has variables for it, a template of clusterctl says it itself."

// placeAttributes say what machines are made of and where they are, on a cloud.
func placeAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"root_volume": schema.SingleNestedAttribute{
			MarkdownDescription: "A volume that the machines start from, in the place of the disk of their flavour. A change replaces the machines one after the other." + forCharts,
			Optional:            true,
			Attributes: map[string]schema.Attribute{
				"size":              schema.Int64Attribute{MarkdownDescription: "Size in GiB.", Required: true, Validators: []validator.Int64{int64validator.AtLeast(1)}},
				"type":              optionalText("Volume type. Default is that of the cloud."),
				"availability_zone": optionalText("Availability zone of the volume. Default is that of the cloud."),
			},
		},
		"networks": schema.ListNestedAttribute{
			MarkdownDescription: "Networks that the machines have a port in, in this order, internal and external ones. Default is the internal network of the cluster; an entry without `id`, `name` and `tags` is that one. A change replaces the machines one after the other." + forCharts,
			Optional:            true,
			Validators:          []validator.List{listvalidator.SizeAtLeast(1)},
			NestedObject: schema.NestedAttributeObject{Attributes: func() map[string]schema.Attribute {
				all := foundAttributes("network")
				all["subnet"] = found("Subnet of it that the port has its address of.", "subnet")
				return all
			}()},
		},
	}
}

// cloudNetworkAttributes say which networks of the cloud a cluster is in.
func cloudNetworkAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"internal":        found("Network of the machines that exists already. Without it one is made."+forCharts, "network"),
		"internal_subnet": found("Subnet of the internal network that the machines are in."+forCharts, "subnet"),
		"external":        optionalText("External network that floating IPs come from, by id or name. Without it the only one that there is." + forCharts),
	}
}

// found is something that exists in the cloud.
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
		"name": optionalText("Name of the " + what + ", of which there is one."),
		"tags": base.Names("Tags that the " + what + " has, all of them."),
	}
}

func optionalText(description string) schema.Attribute {
	return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
}
