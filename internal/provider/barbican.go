package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/service/attrs"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// barbicanEnv begins the names of the environment variables with the secrets of the
	// connection to Barbican.
	barbicanEnv = "VNF_BARBICAN_"
	// maxRotation keeps what is written into each secret short.
	maxRotation = 255
	// barbicanAuth is where the connection is configured.
	barbicanAuth = "encryption.barbican.auth"
)

type barbicanModel struct {
	Auth            types.Object `tfsdk:"auth"`
	RotationTrigger types.String `tfsdk:"rotation_trigger"`
	DecryptOnly     types.Bool   `tfsdk:"decrypt_only"`
}

func barbicanAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Keeps the keys in Barbican, the key manager of an OpenStack: one for each VIM and one for the contents of the store, as secrets named `terraform-provider-vnf/<id>`. The sealed data stay in the store. " +
			"The user needs the role `creator`. A key is read once in a run, when it is needed, and removed with its VIM. " +
			"`key_file` or `key` beside it, the environment variable and a key file beside the store still decrypt older data: one run with both re-encrypts all credentials that it reads, and the key of the contents, with Barbican.",
		Attributes: map[string]schema.Attribute{
			"auth": schema.SingleNestedAttribute{
				Required: true,
				MarkdownDescription: "Connection to the project of an OpenStack that has the secrets, with the arguments that `openstack` of a `vnf_vim` has. It cannot refer to a `vnf_vim`, whose credentials these keys encrypt. " +
					"The secrets may be ephemeral values. When none of them is set, they are read from the environment variables `VNF_BARBICAN_PASSWORD`, `VNF_BARBICAN_APPLICATION_CREDENTIAL_SECRET`, `VNF_BARBICAN_TOKEN` and `VNF_BARBICAN_CLOUDS_YAML`.",
				Attributes: barbicanAuthAttributes(),
			},
			"rotation_trigger": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Any string, such as a month. Changing this rotates all keys; a plan is enough, and an interrupted rotation resumes on the next run. Removing it does nothing. " +
					"Package contents stay as they are: only their key is re-encrypted.",
				Validators: []validator.String{stringvalidator.LengthBetween(1, maxRotation)},
			},
			"decrypt_only": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Whether Barbican decrypts only. Use this to migrate away from Barbican: `key_file`, `key`, the environment variable or the key file beside the store re-encrypts what is read, and the old key is removed from Barbican. " +
					"After one run Barbican can be left out. Defaults to `false`.",
			},
		},
	}
}

func barbicanAuthAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{}
	for _, s := range attrs.OpenStackSwitches() {
		attributes[s.Name] = schema.BoolAttribute{Optional: true, MarkdownDescription: s.Description}
	}
	for _, a := range attrs.OpenStackArguments() {
		attributes[a.Name] = schema.StringAttribute{
			Optional: true, MarkdownDescription: a.Description,
			Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}
	for _, s := range attrs.OpenStackSecrets() {
		attributes[s.Name] = schema.StringAttribute{
			Optional: true, Sensitive: true,
			MarkdownDescription: s.Description + " The environment variable is `" + envOf(s) + "`.",
			Validators:          []validator.String{stringvalidator.LengthAtLeast(1)},
		}
	}
	return attributes
}

func envOf(s tfutil.Secret) string { return barbicanEnv + strings.ToUpper(s.Name) }

// readBarbican writes into a source what the argument barbican says. It sends no request.
func readBarbican(ctx context.Context, value types.Object, src *seal.Source, userAgent string, diags *diag.Diagnostics) {
	if value.IsNull() {
		return
	}
	var m barbicanModel
	diags.Append(tfutil.Into(ctx, value, &m)...)
	if diags.HasError() {
		return
	}
	connection, credentials := readAuth(m.Auth.Attributes())
	keys, err := openstack.NewKeyManager(openstack.Config{
		Connection: connection, Credentials: credentials, UserAgent: userAgent,
		Peer: vnfm.Peer{Name: "the OpenStack of encryption.barbican", Settings: barbicanAuth},
	})
	if err != nil {
		diags.Append(authProblems(err)...)
		return
	}
	src.Vault, src.Rotation, src.VaultOpensOnly = keys, m.RotationTrigger.ValueString(), m.DecryptOnly.ValueBool()
}

// readAuth reads a connection. Its secrets are those of the configuration, or those of
// the environment when it has none.
func readAuth(auth map[string]attr.Value) (connection vnfm.OpenStackConnection, credentials vnfm.Credentials) {
	text := func(name string) string {
		v, _ := auth[name].(types.String)
		return v.ValueString()
	}
	for _, a := range attrs.OpenStackArguments() {
		*a.Field(&connection) = text(a.Name)
	}
	for _, s := range attrs.OpenStackSwitches() {
		on, _ := auth[s.Name].(types.Bool)
		*s.Field(&connection) = on.ValueBool()
	}
	configured, environment := vnfm.Credentials{}, vnfm.Credentials{}
	for _, s := range attrs.OpenStackSecrets() {
		if secret := text(s.Name); secret != "" {
			configured[s.Name] = vnfm.Secret(secret)
		}
		if secret := os.Getenv(envOf(s)); secret != "" {
			environment[s.Name] = vnfm.Secret(secret)
		}
	}
	if len(configured) == 0 {
		return connection, environment
	}
	return connection, configured
}

// authProblems names the argument in the text of each finding about a connection. None has
// a path: Terraform would quote its lines, which may hold a secret.
func authProblems(err error) diag.Diagnostics {
	var invalid *vnfm.InvalidError
	if !errors.As(err, &invalid) {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Unusable Connection to Barbican", tfutil.ErrorDetail(err))}
	}
	named := make(vnfm.Problems, 0, len(invalid.Problems))
	for _, p := range invalid.Problems {
		p.Summary = fmt.Sprintf("%s.%s: %s", barbicanAuth, p.Attribute, p.Summary)
		p.Attribute = ""
		named = append(named, p)
	}
	return tfutil.Problems(named, path.Empty())
}
