package privateregistry

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create: true, Read: true, Update: true, Delete: true,
	CreateDescription: "Limit of an installation, the boot of the host included. The default is `30m`.",
	ReadDescription:   "Limit of a refresh. The default is `30s`.",
	UpdateDescription: "Limit of an update. The default is `30m`.",
	DeleteDescription: "Limit of a removal. The default is `5m`.",
}

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Identifier of the registry, a UUID.",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"timeouts": tfutil.Timeouts(ctx, timeoutOpts),
	}
	for _, more := range []map[string]schema.Attribute{hostAttributes(), imageAttributes(), serviceAttributes(), computedAttributes()} {
		maps.Copy(attributes, more)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A private container registry on a server: a host that is reached over SSH, or a server of a VNF instance. " +
			"Creating it installs the engine from the packages of the distribution (Debian and Ubuntu) unless it is there, loads or pulls the image, runs the registry under supervision, and waits until it answers. " +
			"What was changed behind Terraform's back is shown in `drift` and put right by the next apply. A change is made in place and touches what differs alone; destroying removes the container, and the images when `keep_data` is `false`.",
		Attributes: attributes,
	}
}

func optional(description string, rules ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, rules...)}
}

// fixed is an argument that only a new registry can have.
func fixed(a schema.StringAttribute) schema.StringAttribute {
	a.PlanModifiers = append(a.PlanModifiers, stringplanmodifier.RequiresReplace())
	return a
}

// hostAttributes say where the registry is.
func hostAttributes() map[string]schema.Attribute {
	ssh := sshAttributes()
	jump := sshAttributes()
	jump["address"] = schema.StringAttribute{Required: true, MarkdownDescription: "Address of the jump host.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
	delete(jump, "sudo_password")
	delete(jump, "sudo_password_wo")
	delete(jump, "sudo_password_wo_version")
	ssh["jump_host"] = schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Host through which the host is reached.", Attributes: jump}
	return map[string]schema.Attribute{
		"name": fixed(schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("private_registry"),
			MarkdownDescription: "Name of the container. Default `private_registry`. A change replaces the registry.",
		}),
		"host": fixed(optional("Address of the host. Exactly one of `host` and `vnf_instance_id` is given. A change replaces the registry.",
			stringvalidator.ExactlyOneOf(path.MatchRoot("vnf_instance_id")))),
		"vnf_instance_id": fixed(optional("Id of the `vnf_instance` that the host is a server of. A change replaces the registry.",
			stringvalidator.AlsoRequires(path.MatchRoot("ssh_cp_name")))),
		"ssh_cp_name": optional("Connection point (VduCp) of the server. One server of the instance has it; its floating address is dialled where there is one.",
			stringvalidator.AlsoRequires(path.MatchRoot("vnf_instance_id"))),
		"vnf_instance_generation": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "The `generation` of the `vnf_instance`. It rises when the instance is healed or scaled, and the registry is installed again, in the same apply, on the server that is there then.",
			Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("vnf_instance_id"))},
		},
		"ssh": schema.SingleNestedAttribute{
			Required:            true,
			MarkdownDescription: "How one logs in. The key of the host is verified: with `host_keys`, or with the key that it showed first. A change is made in place.",
			Attributes:          ssh,
		},
	}
}

func sshAttributes() map[string]schema.Attribute {
	out := map[string]schema.Attribute{
		"username": schema.StringAttribute{Required: true, MarkdownDescription: "Name of the user, who is root or may use sudo.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
		"port": schema.Int64Attribute{
			Optional: true, MarkdownDescription: "Port of the SSH server. Default `22`.", Validators: []validator.Int64{int64validator.Between(1, 65535)},
		},
		"agent": schema.BoolAttribute{Optional: true, MarkdownDescription: "Offer the keys of the SSH agent of the machine that runs Terraform."},
		"host_key_policy": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "What is done with a host whose key is neither in `host_keys` nor kept from before: `pin` (default) keeps the key that it shows and accepts no other from then on, `strict` refuses it before any password is sent. " +
				"A change is made in place.",
			Validators: []validator.String{stringvalidator.OneOf("pin", "strict")},
		},
		"host_keys": schema.ListAttribute{
			Optional: true, ElementType: types.StringType, MarkdownDescription: "Public keys of the host, as in `authorized_keys`. Any of them is accepted, and no other.",
			Validators: []validator.List{listvalidator.SizeAtLeast(1)},
		},
	}
	for _, s := range []tfutil.Secret{
		{Name: "password", Description: "Password of the user, for the login and for sudo."},
		{Name: "sudo_password", Description: "Password for sudo, when it is not that of the login."},
		{Name: "private_key", Description: "Private key of the user, in PEM or OpenSSH's form."},
		{Name: "passphrase", Description: "Passphrase of the private key."},
	} {
		s.AddTo(out)
	}
	return out
}

// imageAttributes say what is run.
func imageAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"image_path": optional("Path of a file that `docker save` wrote: an absolute path on the machine that runs Terraform, or a path in a VNF package. Without it the image is pulled. A change is made in place."),
		"package_id": optional("Id of the `vnf_package` that `image_path` is a file of. Default is the package of the instance. A change is made in place.",
			stringvalidator.AlsoRequires(path.MatchRoot("image_path"))),
		"image": optional("Image that is pulled, or chosen of several in the file. Default is the distribution registry. A change is made in place."),
		"runtime": fixed(schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("docker"),
			MarkdownDescription: "Engine that runs the registry: `docker` (default), `podman` or `containerd`. A change replaces the registry.",
			Validators:          []validator.String{stringvalidator.OneOf("docker", "podman", "containerd")},
		}),
	}
}

// serviceAttributes say how it serves.
func serviceAttributes() map[string]schema.Attribute {
	tls := map[string]schema.Attribute{
		"certificate": schema.StringAttribute{Required: true, MarkdownDescription: "Certificate of the registry in PEM, its own first.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
	}
	tfutil.Secret{Name: "key", Description: "Private key of the certificate in PEM."}.AddTo(tls)
	proxy := map[string]schema.Attribute{
		"no_proxy": optional("What is reached without the proxy, separated by commas."),
	}
	for _, name := range []string{"http_proxy", "https_proxy"} {
		tfutil.Secret{Name: name, Description: "URL of the proxy, with user and password where it needs them."}.AddTo(proxy)
	}
	return map[string]schema.Attribute{
		"port": schema.Int64Attribute{
			Optional: true, Computed: true, Default: int64default.StaticInt64(5000), MarkdownDescription: "Port at which the registry listens. Default `5000`. A change is made in place.",
			Validators: []validator.Int64{int64validator.Between(1, 65535)},
		},
		"tls": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Serve over HTTPS. Without it the registry is served over HTTP. A change is made in place.", Attributes: tls},
		"users": schema.MapAttribute{
			Optional: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "Passwords by user. Without any the registry asks for none. They are kept in the state as sensitive values; use `users_wo` with Terraform 1.11 or later. A change is made in place.",
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues(), mapvalidator.ConflictsWith(path.MatchRoot("users_wo"))},
		},
		"users_wo": schema.MapAttribute{
			Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
			MarkdownDescription: "Passwords by user. This form is write-only: it reaches neither plan nor state and accepts ephemeral values. A change alone is not noticed; raise `users_wo_version` as well.",
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues()},
		},
		"users_wo_version": schema.Int64Attribute{
			Optional: true, MarkdownDescription: "Version of `users_wo`, any number. Changing this sends the current value of `users_wo`, in place.",
			Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("users_wo"))},
		},
		"storage_path": optional("Folder of the host that holds the images. Default is `/var/lib/<name>`. A change is made in place and leaves the images that are there where they are."),
		"keep_data": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(true),
			MarkdownDescription: "Whether the images stay on the host when the registry is destroyed. Default `true`. A change takes effect with the destruction.",
		},
		"proxy": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Proxy through which the host reaches packages and images. A change is made in place.", Attributes: proxy},
	}
}

// The values of status.
const (
	statusReady       = "READY"
	statusDrifted     = "DRIFTED"
	statusUnreachable = "UNREACHABLE"
	statusUnknown     = "UNKNOWN"
)

func computedAttributes() map[string]schema.Attribute {
	text := func(description string) schema.Attribute {
		return schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	return map[string]schema.Attribute{
		"status": text(fmt.Sprintf("`%s` when the registry answers and is as it should be, `%s` when it is not, `%s` when the host could not be looked at, `%s` when the store has lost the record. Whatever it is other than `%[1]s`, the next apply puts it right.",
			statusReady, statusDrifted, statusUnreachable, statusUnknown)),
		"drift": schema.ListAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "What is not as it should be.",
		},
		"address":        text("Address of the host."),
		"server":         text("Host and port of the registry, as names of images begin with and `private_registry_connection_info` takes it."),
		"url":            text("URL of the registry."),
		"image_id":       text("Identifier of the image that runs."),
		"system":         text("Operating system of the host."),
		"engine_version": text("Version of the engine."),
	}
}
