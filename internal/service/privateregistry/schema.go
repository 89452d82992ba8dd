package privateregistry

import (
	"context"
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
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

	"github.com/nfv-iac/terraform-provider-vnf/internal/service/base"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// timeoutOpts are the operations of the resource that have a time limit.
var timeoutOpts = timeouts.Opts{
	Create: true, Read: true, Update: true, Delete: true,
	CreateDescription: "Limit of an installation, the boot of the host included. Defaults to `30m`.",
	ReadDescription:   "Limit of a refresh. Defaults to `30s`.",
	UpdateDescription: "Limit of an update. Defaults to `30m`.",
	DeleteDescription: "Limit of a removal. Defaults to `5m`.",
}

// Schema implements resource.Resource.
func (r *Resource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"id": schema.StringAttribute{
			Computed:            true,
			MarkdownDescription: "Id of the registry, a UUID.",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
		"on_unreachable": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Handling of a destroy whose host cannot be reached: connection refused, no route, no such host, no answer, or another host key than the known one. `fail` is an error. " +
				"`forget` removes the registry from Terraform's state and from the store after a few tries, and a warning names what was left behind; a rejected login is always an error. " +
				"Defaults to `on_unreachable` of the `vnf_vim` if the host is a server of an instance, then to that of the provider, else to `fail`. Changing this alone asks the host nothing and applies to the destroy.",
			Validators: base.OnUnreachableValidators(),
		},
		"timeouts": tfutil.Timeouts(ctx, timeoutOpts),
	}
	for _, more := range []map[string]schema.Attribute{hostAttributes(), imageAttributes(), serviceAttributes(), computedAttributes()} {
		maps.Copy(attributes, more)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A private container registry on a server: a host reachable over SSH, or a server of a VNF instance. " +
			"Creating it installs the engine from the packages of the distribution (Debian and Ubuntu) unless it is there, loads or pulls the image, runs the registry under supervision, and waits until it answers. " +
			"Changes made outside of Terraform appear in `drift`; the next apply repairs them. An update in place touches only what differs. Destroying removes the container, and the images if `deletion_policy.images` is `delete`.",
		Attributes: attributes,
	}
}

// fixed are the arguments that only a new registry can have.
var fixed = []string{"name", "host", "instance_id", "runtime"}

// hostAttributes say where the registry is.
func hostAttributes() map[string]schema.Attribute {
	ssh := sshAttributes()
	jump := sshAttributes()
	jump["address"] = schema.StringAttribute{Required: true, MarkdownDescription: "Address of the jump host.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}}
	delete(jump, "sudo_password")
	delete(jump, "sudo_password_wo")
	delete(jump, "sudo_password_wo_version")
	ssh["jump_host"] = schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Jump host for the connection to the host.", Attributes: jump}
	return map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("private_registry"),
			MarkdownDescription: "Name of the container. Defaults to `private_registry`. Changing this replaces the registry.",
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1), tfutil.Name()},
		},
		"host": tfutil.OptionalText("Address of the host. Set exactly one of `host` and `instance_id`. Changing this replaces the registry.",
			stringvalidator.ExactlyOneOf(path.MatchRoot("instance_id"))),
		"instance_id": tfutil.OptionalText("Id of the `vnf_instance` that the host is a server of. Changing this replaces the registry.",
			stringvalidator.AlsoRequires(path.MatchRoot("ssh_cp_name"))),
		"ssh_cp_name": tfutil.OptionalText("Connection point (VduCp) of the server to connect to; exactly one server of the instance must have it. Its floating address takes precedence. Changing this updates in place.",
			stringvalidator.AlsoRequires(path.MatchRoot("instance_id"))),
		"instance_generation": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "The `generation` of the `vnf_instance`, which increases when its servers can change. Changing this installs the registry on the present server in the same apply.",
			Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("instance_id"))},
		},
		"ssh": schema.SingleNestedAttribute{
			Required:            true,
			MarkdownDescription: "SSH login to the host. The host key is verified against `host_keys`, or against the key pinned at first contact. Changing anything here updates in place.",
			Attributes:          ssh,
		},
	}
}

func sshAttributes() map[string]schema.Attribute {
	out := map[string]schema.Attribute{
		"username": schema.StringAttribute{Required: true, MarkdownDescription: "Name of the user: root, or a user with sudo rights.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
		"port": schema.Int64Attribute{
			Optional: true, Computed: true, Default: int64default.StaticInt64(22),
			MarkdownDescription: "Port of the SSH server. Defaults to `22`.", Validators: []validator.Int64{int64validator.Between(1, 65535)},
		},
		"use_agent": schema.BoolAttribute{
			Optional: true, Computed: true, Default: booldefault.StaticBool(false),
			MarkdownDescription: "Whether to offer the keys of the SSH agent of the machine that runs Terraform. Defaults to `false`.",
		},
		"host_key_policy": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString(hostKeyPin),
			MarkdownDescription: "Policy for an unknown host key: `pin` stores the first key and rejects any other later, `strict` rejects it before any password is sent. Defaults to `pin`. " +
				"Changing this updates in place.",
			Validators: []validator.String{stringvalidator.OneOf(hostKeyPin, hostKeyStrict)},
		},
		"host_keys": schema.SetAttribute{
			Optional: true, ElementType: types.StringType, MarkdownDescription: "Accepted public keys of the host, in the format of `authorized_keys`.",
			Validators: []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		},
	}
	for _, s := range []tfutil.Secret{
		{Name: "password", Description: "Password of the user, for the login and for sudo."},
		{Name: "sudo_password", Description: "Password for sudo, if it differs from the login password."},
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
		"image_path": tfutil.OptionalText("Path of a file that `docker save` wrote: an absolute path on the machine that runs Terraform, or a path in a VNF package. If omitted, the image is pulled. Changing this updates in place."),
		"package_id": tfutil.OptionalText("Id of the `vnf_package` that `image_path` is a file of. Defaults to the package of the instance. Changing this updates in place.",
			stringvalidator.AlsoRequires(path.MatchRoot("image_path"))),
		"container_image": tfutil.OptionalText("Image to pull, or to select if the file holds several. Defaults to the distribution registry. Changing this updates in place."),
		"runtime": schema.StringAttribute{
			Optional: true, Computed: true, Default: stringdefault.StaticString("docker"),
			MarkdownDescription: "Engine that runs the registry: `docker` or `podman`. Defaults to `docker`. Changing this replaces the registry.",
			Validators:          []validator.String{stringvalidator.OneOf("docker", "podman")},
		},
	}
}

// serviceAttributes say how it serves.
func serviceAttributes() map[string]schema.Attribute {
	tls := map[string]schema.Attribute{
		"certificate": schema.StringAttribute{Required: true, MarkdownDescription: "PEM certificate chain of the registry, leaf first.", Validators: []validator.String{stringvalidator.LengthAtLeast(1)}},
	}
	tfutil.Secret{Name: "key", Description: "Private key of the certificate in PEM."}.AddTo(tls)
	proxy := map[string]schema.Attribute{
		"no_proxy": tfutil.OptionalText("Hosts that bypass the proxy, separated by commas."),
	}
	for _, name := range []string{"http_proxy", "https_proxy"} {
		tfutil.Secret{Name: name, Description: "URL of the proxy, with user and password where it needs them."}.AddTo(proxy)
	}
	return map[string]schema.Attribute{
		"port": schema.Int64Attribute{
			Optional: true, Computed: true, Default: int64default.StaticInt64(5000), MarkdownDescription: "Port of the registry. Defaults to `5000`. Changing this updates in place.",
			Validators: []validator.Int64{int64validator.Between(1, 65535)},
		},
		"tls": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "HTTPS for the registry. If omitted, the registry serves plain HTTP. Changing anything here updates in place.", Attributes: tls},
		"users": schema.MapAttribute{
			Optional: true, Sensitive: true, ElementType: types.StringType,
			MarkdownDescription: "Passwords by user, sensitive values in the state; use `users_wo` with Terraform 1.11 or later. Without `users` and `users_wo` the registry requires no login. Changing this updates in place.",
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues()},
		},
		"users_wo": schema.MapAttribute{
			Optional: true, Sensitive: true, WriteOnly: true, ElementType: types.StringType,
			MarkdownDescription: "Passwords by user that override `users` by key. Write-only: it reaches neither plan nor state and accepts ephemeral values. Changing this takes effect when `users_wo_version` is incremented.",
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1), mapvalidator.NoNullValues()},
		},
		"users_wo_version": schema.Int64Attribute{
			Optional: true, MarkdownDescription: "Version of `users_wo`, any number. Changing this sends the current value of `users_wo`, in place.",
			Validators: []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("users_wo"))},
		},
		"storage_path": tfutil.OptionalText("Directory on the host for the images. Defaults to `/var/lib/<name>`. Changing this updates in place and does not move existing images."),
		"deletion_policy": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Treatment of data when the registry is destroyed. Changing anything here affects the destruction only.",
			Attributes: map[string]schema.Attribute{
				"images": schema.StringAttribute{
					Optional: true, Computed: true, Default: stringdefault.StaticString(imagesKeep),
					MarkdownDescription: "Images on the host: `keep` leaves them in `storage_path`, `delete` deletes them. Defaults to `keep`, also if `deletion_policy` is omitted.",
					Validators:          []validator.String{stringvalidator.OneOf(imagesKeep, imagesDelete)},
				},
			},
		},
		"proxy": schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Proxy of the host for packages and images. Changing anything here updates in place.", Attributes: proxy},
	}
}

// The values of ssh.host_key_policy.
const (
	hostKeyPin    = "pin"
	hostKeyStrict = "strict"
)

// The values of deletion_policy.images.
const (
	imagesKeep   = "keep"
	imagesDelete = "delete"
)

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
		"status": text(fmt.Sprintf("`%s` if the registry answers and matches its configuration, `%s` if not, `%s` if the host cannot be reached, `%s` if the store has lost the record or it was edited there. Any value other than `%[1]s`: the next apply repairs the registry.",
			statusReady, statusDrifted, statusUnreachable, statusUnknown)),
		"drift": schema.ListAttribute{
			Computed: true, ElementType: types.StringType, MarkdownDescription: "Differences from the desired configuration.",
		},
		"operations": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "What the last apply was planned to do, in words: the arguments that change, and indented lines that say what is replaced or restarted ([Reading plans](../guides/reading-plans.md)). A refresh sets it to null.",
		},
		"pinned_host_keys": schema.MapAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Public keys of hosts that were pinned at first contact, in the format of `authorized_keys`: of `host/<address>`, of a jump host also, or of `vnfc/<id>` for a server of an instance. They hold also if the store has lost the record.",
		},
		"address":          text("Address at which the host is reached, also if it is a server of a VNF instance."),
		"server":           text("Host and port of the registry: the beginning of the names of its images, and a value of `private_registry_connection_info`."),
		"url":              text("URL of the registry."),
		"image_id":         text("Id of the image that runs."),
		"operating_system": text("Operating system of the host."),
		"runtime_version":  text("Version of the engine that runs the registry."),
	}
}
