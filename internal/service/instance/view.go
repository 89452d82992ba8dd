package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// view is an instance as the data sources show it.
type view struct {
	ID                   types.String `tfsdk:"id"`
	Name                 types.String `tfsdk:"name"`
	Description          types.String `tfsdk:"description"`
	Metadata             types.Map    `tfsdk:"metadata"`
	VIMID                types.String `tfsdk:"vim_id"`
	Namespace            types.String `tfsdk:"namespace"`
	PackageID            types.String `tfsdk:"package_id"`
	VNFDID               types.String `tfsdk:"vnfd_id"`
	FlavourID            types.String `tfsdk:"flavour_id"`
	InstantiationLevelID types.String `tfsdk:"instantiation_level_id"`
	ScaleStatus          types.Map    `tfsdk:"scale_status"`
	OperationalState     types.String `tfsdk:"operational_state"`
	Status               types.String `tfsdk:"status"`
	Generation           types.Int64  `tfsdk:"generation"`
	VNFCs                []vnfcView   `tfsdk:"vnfcs"`
	VirtualLinks         types.Map    `tfsdk:"virtual_links"`
	VDUs                 types.Map    `tfsdk:"vdus"`
	Objects              types.List   `tfsdk:"objects"`
}

// vnfcView is one VNFC as the data sources show it.
type vnfcView struct {
	ID           types.String      `tfsdk:"id"`
	VDUID        types.String      `tfsdk:"vdu_id"`
	ResourceName types.String      `tfsdk:"resource_name"`
	Namespace    types.String      `tfsdk:"namespace"`
	NodeName     types.String      `tfsdk:"node_name"`
	Zone         types.String      `tfsdk:"availability_zone"`
	Addresses    types.List        `tfsdk:"addresses"`
	Points       types.Map         `tfsdk:"connection_points"`
	VolumeIDs    types.List        `tfsdk:"volume_ids"`
	State        types.String      `tfsdk:"state"`
	Ready        types.Bool        `tfsdk:"ready"`
	Restarts     types.Int64       `tfsdk:"restarts"`
	Message      types.String      `tfsdk:"message"`
	CreatedAt    timetypes.RFC3339 `tfsdk:"created_at"`
}

// newView reads an instance and its VNFCs.
func newView(ctx context.Context, m vnfm.InstanceManager, i *vnfm.Instance) (view, error) {
	v := view{
		ID:                   types.StringValue(i.ID),
		Name:                 types.StringValue(i.Name),
		Description:          tfutil.OptionalString(i.Description),
		Metadata:             tfutil.StringMap(i.Metadata),
		VIMID:                types.StringValue(i.VIMID),
		Namespace:            types.StringValue(i.Namespace),
		PackageID:            types.StringValue(i.PackageID),
		VNFDID:               types.StringValue(i.VNFDID),
		FlavourID:            types.StringValue(i.FlavourID),
		InstantiationLevelID: tfutil.OptionalString(i.LevelID),
		ScaleStatus:          tfutil.Int64Map(i.ScaleStatus),
		OperationalState:     types.StringValue(string(i.OperationalState)),
		Status:               types.StringValue(string(i.Status)),
		Generation:           types.Int64Value(i.Generation),
		VNFCs:                []vnfcView{},
		VirtualLinks:         tfutil.StringMap(nil),
		VDUs:                 attrs.VDUsValue(nil),
		Objects:              tfutil.StringList(nil),
	}
	has, err := m.Resources(ctx, i.ID)
	if err != nil {
		return v, err
	}
	v.VirtualLinks = tfutil.StringMap(has.VirtualLinks)
	v.VDUs, v.Objects = attrs.VDUsValue(has.VDUs), tfutil.StringList(has.Objects)
	for i := range has.VNFCs {
		v.VNFCs = append(v.VNFCs, newVNFCView(&has.VNFCs[i]))
	}
	return v, nil
}

func newVNFCView(c *vnfm.VNFC) vnfcView {
	return vnfcView{
		ID:           types.StringValue(c.ID),
		VDUID:        types.StringValue(c.VDUID),
		ResourceName: types.StringValue(c.Resource),
		Namespace:    tfutil.OptionalString(c.Namespace),
		NodeName:     tfutil.OptionalString(c.Node),
		Zone:         tfutil.OptionalString(c.Zone),
		Addresses:    tfutil.StringList(c.Addresses),
		Points:       tfutil.StringLists(c.ConnectionPoints),
		VolumeIDs:    tfutil.StringList(c.Volumes),
		State:        types.StringValue(c.State),
		Ready:        types.BoolValue(c.Ready),
		Restarts:     types.Int64Value(int64(c.Restarts)),
		Message:      tfutil.OptionalString(c.Message),
		CreatedAt:    tfutil.Instant(c.CreatedAt),
	}
}

// viewAttributes describe a view; those named in lookup are arguments as well.
func viewAttributes(lookup ...string) map[string]schema.Attribute {
	vdus := tfutil.ComputedAttributes(map[string]rschema.Attribute{"vdus": attrs.VDUsAttribute()})["vdus"]
	argument := map[string]bool{}
	for _, name := range lookup {
		argument[name] = true
	}
	text := func(name, description string) schema.Attribute {
		a := schema.StringAttribute{MarkdownDescription: description, Computed: true, Optional: argument[name]}
		if a.Optional {
			a.Validators = []validator.String{stringvalidator.LengthAtLeast(1)}
		}
		return a
	}
	return map[string]schema.Attribute{
		"id":                     text("id", "Id of the instance."),
		"name":                   text("name", "Name of the instance."),
		"description":            text("description", "Description of the instance."),
		"metadata":               schema.MapAttribute{MarkdownDescription: "Key-value pairs kept with the instance.", ElementType: types.StringType, Computed: true},
		"vim_id":                 text("vim_id", "Id of the VIM that the instance runs on."),
		"namespace":              text("namespace", "Namespace of the instance."),
		"package_id":             text("package_id", "Id of the package that the instance runs."),
		"vnfd_id":                text("vnfd_id", "Id of the VNFD."),
		"flavour_id":             text("flavour_id", "Deployment flavour."),
		"instantiation_level_id": text("instantiation_level_id", "Instantiation level."),
		"scale_status":           schema.MapAttribute{MarkdownDescription: "Scale level of every scaling aspect.", ElementType: types.Int64Type, Computed: true},
		"operational_state":      text("operational_state", "`started` or `stopped`."),
		"status":                 text("status", "`INSTANTIATED` if the last operation completed, `FAILED_TEMP` if it stopped half-way, `PROCESSING` while it runs or after its process was killed."),
		"generation":             schema.Int64Attribute{MarkdownDescription: "Counter that increases with every scale, heal, repair, and change of package or external networks.", Computed: true},
		"vnfcs": schema.ListNestedAttribute{
			MarkdownDescription: "The current VNFCs.",
			Computed:            true,
			NestedObject:        schema.NestedAttributeObject{Attributes: vnfcAttributes()},
		},
		"virtual_links": schema.MapAttribute{
			MarkdownDescription: "On OpenStack, the ids of the networks by internal virtual link, as the VNFD or the template names it.",
			ElementType:         types.StringType, Computed: true,
		},
		"vdus": vdus,
		"objects": schema.ListAttribute{
			MarkdownDescription: "Objects of the instance, as the package writes them: `group/version/Kind namespace/name`, the release of a Helm chart as `helm.sh/v1/Release <name>`. " +
				"On OpenStack they are the resources of the stack, `<type> <name>`, one for all copies of a VDU, and `OS::Heat::Stack <name>`.",
			ElementType: types.StringType, Computed: true,
		},
	}
}

func vnfcAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	return map[string]schema.Attribute{
		"id":                text("Id of the VNFC."),
		"vdu_id":            text("Id of the VDU."),
		"resource_name":     text("Name of the pod or server."),
		"namespace":         text("Namespace of the pod; empty for a server."),
		"node_name":         text("Node that the pod runs on; for a server its host if the user may see it, else its availability zone."),
		"availability_zone": text("Availability zone of the server; null for a pod."),
		"addresses":         schema.ListAttribute{MarkdownDescription: "IP addresses of the pod or server, floating ones last.", ElementType: types.StringType, Computed: true},
		"connection_points": schema.MapAttribute{MarkdownDescription: "IP addresses of a server by connection point, as the VNFD names it; empty for a pod.", ElementType: types.ListType{ElemType: types.StringType}, Computed: true},
		"volume_ids":        schema.ListAttribute{MarkdownDescription: "Ids of the server's volumes; names of the pod's persistent volume claims.", ElementType: types.StringType, Computed: true},
		"state":             text("Phase of the pod, or the reason for which a container waits; status of the server."),
		"ready":             schema.BoolAttribute{MarkdownDescription: "Whether the pod is ready, or the server `ACTIVE`.", Computed: true},
		"restarts":          schema.Int64Attribute{MarkdownDescription: "Restarts of the pod's containers; not available for a server.", Computed: true},
		"message":           text("Message of Kubernetes about a pod that is not ready, or of Nova about a fault."),
		"created_at":        schema.StringAttribute{MarkdownDescription: "Time of creation (RFC 3339, UTC).", CustomType: timetypes.RFC3339Type{}, Computed: true},
	}
}
