package instance

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// linkModel is one entry of the argument "ext_virtual_links", pointModel one of its
// connection points, managedModel one entry of "ext_managed_virtual_links".
type linkModel struct {
	ResourceID string                `tfsdk:"resource_id"`
	ExtCPs     map[string]pointModel `tfsdk:"ext_cps"`
}

type pointModel struct {
	SubnetID       types.String `tfsdk:"subnet_id"`
	FixedAddresses types.List   `tfsdk:"fixed_addresses"`
	MACAddress     types.String `tfsdk:"mac_address"`
	LinkPortID     types.String `tfsdk:"link_port_id"`
}

type managedModel struct {
	ResourceID string `tfsdk:"resource_id"`
}

var macAddress = regexp.MustCompile(`^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$`)

func linkAttributes() map[string]schema.Attribute {
	text := func(description string, validators ...validator.String) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: append(validators, stringvalidator.LengthAtLeast(1))}
	}
	resourceID := schema.StringAttribute{
		MarkdownDescription: "Id of the network on the VIM.",
		Required:            true,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	port := path.MatchRelative().AtParent().AtName("link_port_id")
	return map[string]schema.Attribute{
		"ext_virtual_links": schema.MapNestedAttribute{
			MarkdownDescription: "Networks of the VIM that the external connection points of the VNFD are connected to, by a name of your own. For instances on OpenStack. Changing anything here updates in place.",
			Optional:            true,
			Validators:          []validator.Map{mapvalidator.NoNullValues()},
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"resource_id": resourceID,
				"ext_cps": schema.MapNestedAttribute{
					MarkdownDescription: "External connection points that are connected to the network, by their id in the VNFD (`cpdId`). An entry `{}` leaves everything to the VIM; an empty map connects no connection point.",
					Required:            true,
					Validators:          []validator.Map{mapvalidator.NoNullValues()},
					NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
						"subnet_id": text("Id of the subnet for the addresses. Defaults to the subnet that the network chooses.", stringvalidator.ConflictsWith(port)),
						"fixed_addresses": schema.ListAttribute{
							MarkdownDescription: "Addresses of the VNFCs in turn. Defaults to free addresses.",
							ElementType:         types.StringType,
							Optional:            true,
							Validators:          []validator.List{listvalidator.ValueStringsAre(tfutil.Address()), unlessEmpty{listvalidator.ConflictsWith(port)}},
						},
						"mac_address": text("MAC address, of a VDU with one VNFC.",
							stringvalidator.RegexMatches(macAddress, "must be a MAC address such as fa:16:3e:00:00:01"), stringvalidator.ConflictsWith(port)),
						"link_port_id": text("Id of a port that exists on the network, for a VDU with one VNFC. Defaults to a new port."),
					}},
				},
			}},
		},
		"ext_managed_virtual_links": schema.MapNestedAttribute{
			MarkdownDescription: "Networks of the VIM that are internal virtual links of the VNFD, by the id of the virtual link; the instance creates none for them. For instances on OpenStack. Changing anything here updates in place.",
			Optional:            true,
			Validators:          []validator.Map{mapvalidator.NoNullValues()},
			NestedObject:        schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{"resource_id": resourceID}},
		},
	}
}

// unlessEmpty is a rule that an empty list, which means none, always satisfies.
type unlessEmpty struct{ validator.List }

// ValidateList implements validator.List.
func (u unlessEmpty) ValidateList(ctx context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	if req.ConfigValue.IsUnknown() || len(req.ConfigValue.Elements()) > 0 {
		u.List.ValidateList(ctx, req, resp)
	}
}

// links reads the networks that the instance is given, all of which are known.
func (m *model) links(ctx context.Context, diags *diag.Diagnostics) vnfm.Links {
	var out vnfm.Links
	if len(m.ExtVirtualLinks.Elements()) > 0 {
		var entries map[string]linkModel
		diags.Append(m.ExtVirtualLinks.ElementsAs(ctx, &entries, false)...)
		out.External = make(map[string]vnfm.ExtVirtualLink, len(entries))
		for name, entry := range entries {
			link := vnfm.ExtVirtualLink{ResourceID: entry.ResourceID, ExtCPs: make(map[string]vnfm.ExtCP, len(entry.ExtCPs))}
			for id, p := range entry.ExtCPs {
				link.ExtCPs[id] = vnfm.ExtCP{
					SubnetID: p.SubnetID.ValueString(), FixedAddresses: tfutil.Strings(p.FixedAddresses),
					MACAddress: p.MACAddress.ValueString(), LinkPortID: p.LinkPortID.ValueString(),
				}
			}
			out.External[name] = link
		}
	}
	if len(m.ExtManagedVirtualLinks.Elements()) > 0 {
		var entries map[string]managedModel
		diags.Append(m.ExtManagedVirtualLinks.ElementsAs(ctx, &entries, false)...)
		out.Managed = make(map[string]string, len(entries))
		for id, entry := range entries {
			out.Managed[id] = entry.ResourceID
		}
	}
	return out
}
