package vnfpackage

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// accessModel says how one gets into the server or registry of a source.
type accessModel struct {
	Username              types.String `tfsdk:"username"`
	Password              types.String `tfsdk:"password"`
	PasswordWO            types.String `tfsdk:"password_wo"`
	PasswordWOVersion     types.Int64  `tfsdk:"password_wo_version"`
	BearerToken           types.String `tfsdk:"bearer_token"`
	BearerTokenWO         types.String `tfsdk:"bearer_token_wo"`
	BearerTokenWOVersion  types.Int64  `tfsdk:"bearer_token_wo_version"`
	Headers               types.Map    `tfsdk:"headers"`
	HeadersWO             types.Map    `tfsdk:"headers_wo"`
	HeadersWOVersion      types.Int64  `tfsdk:"headers_wo_version"`
	CACertificate         types.String `tfsdk:"ca_certificate"`
	InsecureSkipTLSVerify types.Bool   `tfsdk:"insecure_skip_tls_verify"`
	PlainHTTP             types.Bool   `tfsdk:"plain_http"`
}

// addAccess adds the arguments of accessModel.
func addAccess(attributes map[string]schema.Attribute) {
	const changes = " Changing this verifies the package again in place."
	attributes["username"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "User name for the server or registry of `source`." + changes,
		Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	tfutil.Secret{Name: "password", Description: "Password for the server or registry of `source`, sent with `username`; the store keeps it sealed."}.AddTo(attributes)
	tfutil.Secret{Name: "bearer_token", Description: "Bearer token for the server or registry of `source`, instead of a password; the store keeps it sealed."}.AddTo(attributes)
	names := []validator.Map{mapvalidator.KeysAre(tfutil.Matches(headerName, "must be the name of an HTTP header"))}
	attributes["headers"] = schema.MapAttribute{
		Optional: true, Sensitive: true, ElementType: types.StringType, Validators: names,
		MarkdownDescription: "Headers of the requests to the server of `source`, sensitive values in the state; use `headers_wo` for secrets with Terraform 1.11 or later." + changes,
	}
	attributes["headers_wo"] = schema.MapAttribute{
		Optional: true, WriteOnly: true, Sensitive: true, ElementType: types.StringType, Validators: names,
		MarkdownDescription: "Headers that override `headers`, for secrets such as `PRIVATE-TOKEN`. Write-only: it reaches neither plan nor state and accepts ephemeral values. " +
			"Changing this takes effect when `headers_wo_version` is incremented; every plan sends the current value.",
	}
	attributes["headers_wo_version"] = schema.Int64Attribute{
		Optional:            true,
		MarkdownDescription: "Version of `headers_wo`, any number." + changes,
		Validators:          []validator.Int64{int64validator.AlsoRequires(tfutil.Sibling("headers_wo"))},
	}
	attributes["ca_certificate"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "PEM CA bundle used to verify the server of `source`, and those of external artifacts. Defaults to the CA bundle of the system." + changes,
		Validators:          []validator.String{tfutil.Certificates()},
	}
	flag := func(description string) schema.Attribute {
		return schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: description + " Defaults to `false`." + changes}
	}
	attributes["insecure_skip_tls_verify"] = flag("Whether to accept the server without verification. An attacker can then replace the package, unless `checksum` is set or `signature` is `require`.")
	attributes["plain_http"] = flag("Whether to connect to a registry without TLS, and to send credentials unencrypted.")
}

// values are all arguments, write-only ones too, which a configuration alone has.
func (m *accessModel) values() []attr.Value {
	return []attr.Value{
		m.Username, m.Password, m.PasswordWO, m.BearerToken, m.BearerTokenWO, m.Headers, m.HeadersWO, m.CACertificate, m.InsecureSkipTLSVerify, m.PlainHTTP,
	}
}

// known reports whether all arguments are known.
func (m *accessModel) known(ctx context.Context) bool {
	for _, v := range m.values() {
		if !tfutil.FullyKnown(ctx, v) {
			return false
		}
	}
	return true
}

// equal reports whether a plan or state has the same arguments.
func (m *accessModel) equal(other *accessModel) bool {
	return m.Username.Equal(other.Username) && m.Password.Equal(other.Password) && m.PasswordWOVersion.Equal(other.PasswordWOVersion) &&
		m.BearerToken.Equal(other.BearerToken) && m.BearerTokenWOVersion.Equal(other.BearerTokenWOVersion) &&
		m.Headers.Equal(other.Headers) && m.HeadersWOVersion.Equal(other.HeadersWOVersion) && m.CACertificate.Equal(other.CACertificate) &&
		m.InsecureSkipTLSVerify.Equal(other.InsecureSkipTLSVerify) && m.PlainHTTP.Equal(other.PlainHTTP)
}

// toDomain returns how one gets in. It has the write-only arguments if the model is that of a configuration.
func (m *accessModel) toDomain() *vnfm.ChartAccess {
	a := &vnfm.ChartAccess{
		Username: m.Username.ValueString(), Password: vnfm.Secret(tfutil.SecretValue(m.Password, m.PasswordWO).ValueString()),
		Token:         vnfm.Secret(tfutil.SecretValue(m.BearerToken, m.BearerTokenWO).ValueString()),
		CACertificate: m.CACertificate.ValueString(), InsecureSkipTLSVerify: m.InsecureSkipTLSVerify.ValueBool(), PlainHTTP: m.PlainHTTP.ValueBool(),
	}
	for _, headers := range []types.Map{m.Headers, m.HeadersWO} {
		for name, value := range tfutil.Texts(headers) {
			if a.Headers == nil {
				a.Headers = map[string]vnfm.Secret{}
			}
			a.Headers[name] = vnfm.Secret(value)
		}
	}
	return a
}

// withoutSecrets keeps what gets one in out of the logs.
func withoutSecrets(ctx context.Context, a *vnfm.ChartAccess) context.Context {
	secrets := []string{a.Password.Reveal(), a.Token.Reveal()}
	for _, value := range a.Headers {
		secrets = append(secrets, value.Reveal())
		// A scheme such as Bearer is not a secret, and what follows it may stand alone.
		if _, rest, ok := strings.Cut(value.Reveal(), " "); ok {
			secrets = append(secrets, rest)
		}
	}
	return tfutil.Mask(ctx, secrets...)
}

// check reports arguments that contradict each other or the source. An unknown value may become null: Terraform validates again once
// it is known.
func (m *accessModel) check(source types.String, external bool, diags *diag.Diagnostics) {
	basic := tfutil.Set(m.Username) || tfutil.Set(m.Password) || tfutil.Set(m.PasswordWO)
	bearer := tfutil.Set(m.BearerToken) || tfutil.Set(m.BearerTokenWO)
	switch {
	case basic && bearer:
		diags.AddAttributeError(path.Root("username"), "Conflicting Credentials", "username with password and bearer_token are two ways to log in: set one of them.")
	case m.Username.IsNull() && basic:
		diags.AddAttributeError(path.Root("username"), "Missing User Name", "A password is sent with a user name: set username. For a token alone, set bearer_token.")
	}
	if !tfutil.Set(source) || strings.Contains(source.ValueString(), "://") {
		return
	}
	headers := len(m.Headers.Elements()) > 0 || len(m.HeadersWO.Elements()) > 0
	if basic || bearer || headers || tfutil.Set(m.CACertificate) && !external {
		diags.AddAttributeError(path.Root("source"), "Credentials Without a Server", "The source is a path. Credentials, headers and ca_certificate are for an https URL or an oci:// reference; ca_certificate is for external artifacts too (external_artifacts = true).")
	}
}
