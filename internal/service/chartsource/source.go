// Package chartsource has the arguments that say where a Helm chart comes from, for all
// resources that have a chart.
package chartsource

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Embedded are the charts of clusters that need no download. The first one is meant where
// a source may be left out.
var Embedded = []string{"openstack", "in-memory"}

var (
	sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	ociAddress   = regexp.MustCompile(`^oci://[^/@]+/[^:@]+$`)
)

// The arguments that are for a chart of a repository or registry alone.
var (
	choosing = []string{"version", "digest"}
	login    = []string{"username", "password", "password_wo"}
	server   = []string{"ca_certificate", "insecure_skip_tls_verify", "plain_http"}
)

func text(description string, rules ...validator.String) schema.Attribute {
	return schema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: append([]validator.String{stringvalidator.LengthAtLeast(1)}, rules...)}
}

// Attributes are the arguments of a source, but for who asks. Embedded charts are for
// clusters themselves.
func Attributes(embedded ...string) map[string]schema.Attribute {
	name := "Name of the chart in `repository`."
	if len(embedded) > 0 {
		name = "An embedded chart: `openstack`, a cluster on servers of OpenStack (v1beta1 of Cluster API Provider OpenStack, v1beta2 of Cluster API), or `in-memory`, a cluster of machines that exist in the memory of Cluster API's development provider only. " +
			"With `repository`, the name of the chart there."
	}
	return map[string]schema.Attribute{
		"name":       text(name),
		"path":       text("A chart on the machine that Terraform runs on, a directory or an archive. It is read at each plan."),
		"repository": text("URL of a Helm repository, `https://…`: what has an `index.yaml`.", repositoryURL{}),
		"oci":        text("A chart in an OCI registry, `oci://<registry>/<path>`.", stringvalidator.RegexMatches(ociAddress, "must be oci://<registry>/<path>, without a tag or digest: version and digest say which one it is")),
		"version": text("Version of the chart in the repository or registry, or a range such as `~1.16` or `>=1.16, <2`. Default is the newest that is no pre-release. " +
			"A range is resolved when the source is planned first, and again when one of the arguments of the source changes: until then it is the same version, and the network is not needed."),
		"digest": text("Digest that the chart must have, `sha256:…`: of a repository that of the archive, of a registry that of the manifest, as `helm pull` and `helm push` print it.",
			stringvalidator.RegexMatches(sha256Digest, "must be sha256: and 64 hexadecimal digits")),
		"ca_certificate": text("CA certificates that the certificate of the server is verified with, as PEM. Default are those of the system.", tfutil.Certificates()),
		"insecure_skip_tls_verify": schema.BoolAttribute{
			MarkdownDescription: "Leave the certificate of the server unverified. Anybody on the way can then replace the chart, unless `digest` is given.", Optional: true,
		},
		"plain_http": schema.BoolAttribute{
			MarkdownDescription: "Speak to the registry without TLS, and allow a password to be sent without it.", Optional: true,
		},
	}
}

// Login are the arguments that say who asks a repository or registry.
func Login() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{"username": text("Name that the repository or registry asks for.")}
	tfutil.Secret{Name: "password", Description: "Password, or token, that the repository or registry asks for."}.AddTo(attributes)
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
