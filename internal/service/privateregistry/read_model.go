package privateregistry

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// recordModel is what the record of a private registry says, without its secrets.
type recordModel struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Host            types.String `tfsdk:"host"`
	InstanceID      types.String `tfsdk:"instance_id"`
	ConnectionPoint types.String `tfsdk:"ssh_cp_name"`
	PackageID       types.String `tfsdk:"package_id"`
	ImagePath       types.String `tfsdk:"image_path"`
	ContainerImage  types.String `tfsdk:"container_image"`
	Runtime         types.String `tfsdk:"runtime"`
	Port            types.Int64  `tfsdk:"port"`
	StoragePath     types.String `tfsdk:"storage_path"`
	installed
}

// readModel is a private registry as the data source shows it.
type readModel struct {
	recordModel
	Status types.String `tfsdk:"status"`
	Drift  types.List   `tfsdk:"drift"`
}

func recordAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"id":               text("Id of the registry, a UUID."),
		"name":             text("Name of the container."),
		"host":             text("Address of the host. Null if the host is a server of a VNF instance."),
		"instance_id":      text("Id of the `vnf_instance` that the host is a server of. Null for any other host."),
		"ssh_cp_name":      text("Connection point (VduCp) by which the server of the instance is reached."),
		"package_id":       text("Id of the `vnf_package` that `image_path` is a file of. Null for the package of the instance."),
		"image_path":       text("Path of the file that holds the image. Null if the image is pulled."),
		"container_image":  text("Image that is pulled, or selected in the file. Null for the distribution registry."),
		"runtime":          text("Engine that runs the registry: `docker` or `podman`."),
		"port":             schema.Int64Attribute{Computed: true, MarkdownDescription: "Port of the registry."},
		"storage_path":     text("Directory on the host for the images. Null for `/var/lib/<name>`."),
		"address":          text("Address at which the host is reached, also if it is a server of a VNF instance."),
		"server":           text("Host and port of the registry: the beginning of the names of its images, and a value of `private_registry_connection_info`."),
		"url":              text("URL of the registry."),
		"image_id":         text("Id of the image that runs."),
		"operating_system": text("Operating system of the host."),
		"runtime_version":  text("Version of the engine."),
	}
}

// readModelOf returns what a registry was seen to be. Of a record this is what the last
// installation saw.
func readModelOf(ctx context.Context, r *vnfm.Registry, diags *diag.Diagnostics) readModel {
	var seen model
	seen.set(ctx, r, diags)
	s := &r.Spec
	return readModel{
		recordModel: recordModel{
			ID: seen.ID, Name: types.StringValue(s.Name), Host: tfutil.OptionalString(s.SSH.Address),
			InstanceID: tfutil.OptionalString(s.InstanceID), ConnectionPoint: tfutil.OptionalString(s.ConnectionPoint),
			PackageID: tfutil.OptionalString(s.PackageID), ImagePath: tfutil.OptionalString(s.ImagePath), ContainerImage: tfutil.OptionalString(s.Image),
			Runtime: types.StringValue(s.Runtime), Port: types.Int64Value(int64(s.Port)), StoragePath: tfutil.OptionalString(s.StoragePath),
			installed: seen.installed,
		},
		Status: seen.Status, Drift: seen.Drift,
	}
}
