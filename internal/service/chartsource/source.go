// Package chartsource has the arguments that say where a Helm chart comes from, for all
// resources that have a chart.
package chartsource

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Embedded are the embedded charts of clusters. The first one is the default where a
// source is optional.
var Embedded = []string{"openstack", "in-memory"}

var (
	sha256Digest = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	ociAddress   = lazyregexp.New(`^oci://[^/@]+/[^:@]+$`)
)

// The arguments that are for a chart of a repository or registry alone.
var (
	choosing = []string{"version", "digest"}
	login    = []string{"username", "password", "password_wo"}
	server   = []string{"ca_certificate", "insecure_skip_tls_verify", "plain_http"}
)

func flag(description string) schema.Attribute {
	return schema.BoolAttribute{MarkdownDescription: description, Optional: true, Computed: true, Default: booldefault.StaticBool(false)}
}

// Attributes are the arguments of a source without those of Login. Embedded charts are
// allowed for clusters, not for add-ons.
func Attributes(embedded ...string) map[string]schema.Attribute {
	name := "Name of the chart in `repository`."
	if len(embedded) > 0 {
		name = "Embedded chart, or the name of the chart in `repository`. The embedded charts are `openstack`, for servers of OpenStack (v1beta1 of Cluster API Provider OpenStack, v1beta2 of Cluster API), and `in-memory`, for simulated machines of the development provider of Cluster API."
	}
	return map[string]schema.Attribute{
		"name":       tfutil.OptionalText(name),
		"path":       tfutil.OptionalText("Directory or archive of a chart on the machine that runs Terraform. Every plan reads it."),
		"repository": tfutil.OptionalText("URL of a Helm repository with an `index.yaml`, `https://…`.", repositoryURL{}),
		"oci":        tfutil.OptionalText("Chart in an OCI registry, `oci://<registry>/<path>`.", tfutil.Matches(ociAddress, "must be oci://<registry>/<path>, without a tag or digest: version and digest say which one it is")),
		"version":    tfutil.OptionalText("Version of the chart in the repository or registry, or a range such as `~1.16` or `>=1.16, <2`. Defaults to the newest version that is not a pre-release. A range is resolved by the first plan, and again if an argument of the source changes."),
		"digest": tfutil.OptionalText("Expected digest, `sha256:…`: of the archive in a repository, of the manifest in a registry, as `helm pull` and `helm push` print it.",
			tfutil.Matches(sha256Digest, "must be sha256: and 64 hexadecimal digits")),
		"ca_certificate":           tfutil.OptionalText("PEM CA bundle used to verify the server. Defaults to the CA bundle of the system.", tfutil.Certificates()),
		"insecure_skip_tls_verify": flag("Whether to accept the server without verification. An attacker can then replace the chart, unless `digest` is set. Defaults to `false`."),
		"plain_http":               flag("Whether to connect to the registry without TLS, and to send a password unencrypted. Defaults to `false`."),
	}
}

// Login are the credentials for a repository or registry.
func Login() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{"username": tfutil.OptionalText("User name for the repository or registry.")}
	tfutil.Secret{Name: "password", Description: "Password or token for the repository or registry."}.AddTo(attributes)
	return attributes
}

// SourceModel has the arguments that Attributes describes.
type SourceModel struct {
	Name                  types.String `tfsdk:"name"`
	Path                  types.String `tfsdk:"path"`
	Repository            types.String `tfsdk:"repository"`
	OCI                   types.String `tfsdk:"oci"`
	Version               types.String `tfsdk:"version"`
	Digest                types.String `tfsdk:"digest"`
	CACertificate         types.String `tfsdk:"ca_certificate"`
	InsecureSkipTLSVerify types.Bool   `tfsdk:"insecure_skip_tls_verify"`
	PlainHTTP             types.Bool   `tfsdk:"plain_http"`
}

// LoginModel has the arguments that Login describes.
type LoginModel struct {
	Username          types.String `tfsdk:"username"`
	Password          types.String `tfsdk:"password"`
	PasswordWO        types.String `tfsdk:"password_wo"`
	PasswordWOVersion types.Int64  `tfsdk:"password_wo_version"`
}

// Model is a source with the login of its server.
type Model struct {
	SourceModel
	LoginModel
}

// ToDomain returns the source of the chart.
func (m *SourceModel) ToDomain() vnfm.ChartSource {
	return vnfm.ChartSource{
		Name: m.Name.ValueString(), Path: m.Path.ValueString(), Repository: m.Repository.ValueString(), OCI: m.OCI.ValueString(),
		Version: m.Version.ValueString(), Digest: m.Digest.ValueString(),
	}
}

// Access returns how the server of a source is reached. The model must come from a
// configuration, which alone has the write-only password. Access is nil while a secret
// is unknown.
func (m *Model) Access() *vnfm.ChartAccess {
	for _, v := range []attr.Value{m.Username, m.Password, m.PasswordWO, m.CACertificate, m.InsecureSkipTLSVerify, m.PlainHTTP} {
		if v.IsUnknown() {
			return nil
		}
	}
	return &vnfm.ChartAccess{
		Username: m.Username.ValueString(), Password: vnfm.Secret(tfutil.SecretValue(m.Password, m.PasswordWO).ValueString()),
		CACertificate: m.CACertificate.ValueString(), InsecureSkipTLSVerify: m.InsecureSkipTLSVerify.ValueBool(), PlainHTTP: m.PlainHTTP.ValueBool(),
	}
}
