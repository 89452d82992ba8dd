package instance

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// linkModel is one entry of the argument "ext_virtual_links", pointModel one of its
// connection points, addressModel one address of that, managedModel one entry of "ext_managed_virtual_links".
type linkModel struct {
	ResourceID string                `tfsdk:"resource_id"`
	ExtCPs     map[string]pointModel `tfsdk:"ext_cps"`
}

type pointModel struct {
	IPAddresses []addressModel `tfsdk:"ip_addresses"`
	MACAddress  types.String   `tfsdk:"mac_address"`
	LinkPortID  types.String   `tfsdk:"link_port_id"`
}

type addressModel struct {
	SubnetID       types.String `tfsdk:"subnet_id"`
	FixedAddresses types.List   `tfsdk:"fixed_addresses"`
}

type managedModel struct {
	ResourceID string `tfsdk:"resource_id"`
}

var macAddress = lazyregexp.New(`^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$`)

func linkAttributes() map[string]schema.Attribute {
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
						"ip_addresses": schema.ListNestedAttribute{
							MarkdownDescription: "Addresses of each port, in order: one entry for each, such as one of IPv4 and one of IPv6. With `link_port_id` they are those that the port has. Defaults to the addresses that the network chooses.",
							Optional:            true,
							Validators:          []validator.List{listvalidator.NoNullValues(), addresses{}},
							NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
								"subnet_id": tfutil.OptionalText("Id of the subnet of the address. Defaults to the subnet that has the fixed addresses."),
								"fixed_addresses": schema.ListAttribute{
									MarkdownDescription: "Addresses of the VNFCs in turn, all IPv4 or all IPv6. Defaults to free addresses of the subnet.",
									ElementType:         types.StringType,
									Optional:            true,
									Validators:          []validator.List{listvalidator.NoNullValues(), listvalidator.ValueStringsAre(tfutil.Address())},
								},
							}},
						},
						"mac_address": tfutil.OptionalText("MAC address, of a VDU with one VNFC.",
							tfutil.Matches(macAddress, "must be a MAC address such as fa:16:3e:00:00:01"), stringvalidator.ConflictsWith(port)),
						"link_port_id": tfutil.OptionalText("Id of a port that exists on the network, for a VDU with one VNFC. Defaults to a new port."),
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

// addresses is the rule for the addresses of a connection point: each entry says something, has
// addresses of one family, and none that is given twice.
type addresses struct{}

// Description implements validator.Describer.
func (addresses) Description(context.Context) string {
	return "must have entries with a subnet or fixed addresses, of one family each, and no address twice"
}

// MarkdownDescription implements validator.Describer.
func (a addresses) MarkdownDescription(ctx context.Context) string { return a.Description(ctx) }

// ValidateList implements validator.List.
func (addresses) ValidateList(ctx context.Context, req validator.ListRequest, resp *validator.ListResponse) {
	given := map[netip.Addr]bool{}
	for i, entry := range req.ConfigValue.Elements() {
		object, ok := entry.(types.Object)
		if !ok || object.IsNull() || object.IsUnknown() {
			continue
		}
		var a addressModel
		if resp.Diagnostics.Append(tfutil.Into(ctx, object, &a)...); resp.Diagnostics.HasError() {
			return
		}
		at := req.Path.AtListIndex(i)
		if a.SubnetID.IsNull() && !a.FixedAddresses.IsUnknown() && len(a.FixedAddresses.Elements()) == 0 {
			resp.Diagnostics.AddAttributeError(at, "Address Without a Subnet",
				"The entry has neither subnet_id nor fixed_addresses. Set one of them, or remove the entry: without entries the network chooses.")
		}
		families := map[bool]bool{}
		for n, text := range tfutil.Strings(a.FixedAddresses) {
			address, err := netip.ParseAddr(text)
			if err != nil {
				continue
			}
			here := at.AtName("fixed_addresses").AtListIndex(n)
			if given[address] {
				resp.Diagnostics.AddAttributeError(here, "Address Given Twice", fmt.Sprintf("%s is given twice. Each VNFC needs addresses of its own: remove one of the two.", text))
			}
			given[address] = true
			if families[address.Is4()] = true; len(families) > 1 {
				resp.Diagnostics.AddAttributeError(here, "Mixed Address Families",
					fmt.Sprintf("%s is of another family than the address before. Give IPv4 and IPv6 addresses in an entry of ip_addresses each.", text))
				break
			}
		}
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
				cp := vnfm.ExtCP{MACAddress: p.MACAddress.ValueString(), LinkPortID: p.LinkPortID.ValueString()}
				for _, a := range p.IPAddresses {
					cp.IPAddresses = append(cp.IPAddresses, vnfm.IPAddress{SubnetID: a.SubnetID.ValueString(), FixedAddresses: tfutil.Strings(a.FixedAddresses)})
				}
				link.ExtCPs[id] = cp
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
