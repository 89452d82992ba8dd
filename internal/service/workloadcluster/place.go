package workloadcluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

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
				"type":              tfutil.OptionalText("Volume type. Defaults to the volume type of the cloud."),
				"availability_zone": tfutil.OptionalText("Availability zone of the volume. Defaults to the zone of the machine."),
			},
		},
		"networks": schema.ListNestedAttribute{
			MarkdownDescription: "Networks of the ports of the machines, in this order. Defaults to the internal network of the cluster, which is also the meaning of an entry without `id`, `name` and `tags`. Changing anything here replaces the machines one after the other." + forCharts,
			Optional:            true,
			NestedObject: schema.NestedAttributeObject{
				Validators: []validator.Object{selection{optional: true}},
				Attributes: tfutil.Merged(foundAttributes("network"), map[string]schema.Attribute{
					"subnet": found("Subnet of the network for the address of the port.", "subnet"),
				}),
			},
		},
	}
}

// cloudNetworkAttributes select the networks of the cloud.
func cloudNetworkAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"internal":        found("Existing network of the machines. Defaults to a new network."+forCharts, "network"),
		"internal_subnet": found("Existing subnet of the internal network."+forCharts, "subnet"),
		"external":        found("Existing external network of the floating IPs. Defaults to the only external network."+forCharts, "network"),
	}
}

// found selects an existing object of the cloud by id, name or tags.
func found(description, what string) schema.Attribute {
	return schema.SingleNestedAttribute{
		MarkdownDescription: description, Optional: true, Attributes: foundAttributes(what), Validators: []validator.Object{selection{}},
	}
}

func foundAttributes(what string) map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"id":   tfutil.OptionalText("Id of the " + what + "."),
		"name": tfutil.OptionalText("Name of the " + what + "; it must be unique."),
		"tags": names("Tags, all of which the " + what + " has."),
	}
}

// selection validates the combination of id, name and tags.
type selection struct {
	// optional allows none of them.
	optional bool
}

// Description implements validator.Describer.
func (selection) Description(context.Context) string { return "has either id, or name and tags" }

// MarkdownDescription implements validator.Describer.
func (s selection) MarkdownDescription(ctx context.Context) string { return s.Description(ctx) }

// ValidateObject implements validator.Object.
func (s selection) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if !tfutil.Set(req.ConfigValue) {
		return
	}
	o := req.ConfigValue.Attributes()
	tags, _ := o["tags"].(types.Set)
	if o["id"].IsUnknown() || o["name"].IsUnknown() || tags.IsUnknown() {
		// An unknown value may become null. Terraform validates again once all are known.
		return
	}
	filtered := !o["name"].IsNull() || len(tags.Elements()) > 0
	switch id := !o["id"].IsNull(); {
	case id && filtered:
		resp.Diagnostics.AddAttributeError(req.Path, "Conflicting Selection", fmt.Sprintf("%s: id identifies the object alone; remove name and tags, or id.", req.Path))
	case !id && !filtered && !s.optional:
		resp.Diagnostics.AddAttributeError(req.Path, "Missing Selection", fmt.Sprintf("%s: set id, name or tags.", req.Path))
	}
}

// names is an optional set of names.
func names(description string) schema.Attribute {
	return schema.SetAttribute{
		MarkdownDescription: description,
		ElementType:         types.StringType,
		Optional:            true,
		Validators:          []validator.Set{setvalidator.NoNullValues(), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
	}
}
