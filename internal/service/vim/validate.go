package vim

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// validate checks a configured connection as far as it is known. Nothing of a
// secret is repeated in a diagnostic, and none is put at the whole connection or
// at a secret, whose lines Terraform would quote.
func (k *kubernetesModel) validate(at path.Path) diag.Diagnostics {
	var diags diag.Diagnostics
	k.validateAuthentication(&diags)
	k.validateKubeconfig(at, &diags)
	k.validateEndpoint(at, &diags)
	k.validateTLS(at, &diags)
	return diags
}

// addSecretError adds an error about a secret argument. It has no path: Terraform
// quotes the lines of a path, and with them a secret that is written there.
func addSecretError(diags *diag.Diagnostics, name, summary, detail string) {
	diags.AddError(summary, "kubernetes."+name+": "+detail)
}

// wayOfAuthentication is one of the ways of which exactly one is set.
type wayOfAuthentication struct {
	// name is the way as a user says it.
	name string
	// values are what belongs together, by attribute name.
	names  []string
	values []attr.Value
}

func (k *kubernetesModel) ways() []wayOfAuthentication {
	secret := k.credentials()
	return []wayOfAuthentication{
		{"bearer_token", []string{"bearer_token"}, []attr.Value{secret[vnfm.CredentialBearerToken]}},
		{"username and password", []string{"username", "password"}, []attr.Value{k.Username, secret[vnfm.CredentialPassword]}},
		{"client_certificate and client_key", []string{"client_certificate", "client_key"}, []attr.Value{k.ClientCertificate, secret[vnfm.CredentialClientKey]}},
		{"kubeconfig", []string{"kubeconfig"}, []attr.Value{secret[vnfm.CredentialKubeconfig]}},
		{"kubeconfig_ref", []string{"kubeconfig_ref"}, []attr.Value{k.KubeconfigRef}},
		{"token_file", []string{"token_file"}, []attr.Value{k.TokenFile}},
		{"exec", []string{"exec"}, []attr.Value{k.Exec}},
	}
}

const oneWay = "Exactly one way of authentication is set: bearer_token, token_file, exec, username and password, client_certificate and client_key, kubeconfig, or kubeconfig_ref. Each secret has a write-only form with the suffix _wo."

func (k *kubernetesModel) validateAuthentication(diags *diag.Diagnostics) {
	var chosen []string
	open := false
	for _, w := range k.ways() {
		set := slices.ContainsFunc(w.values, tfutil.Set)
		open = open || slices.ContainsFunc(w.values, attr.Value.IsUnknown)
		if !set {
			continue
		}
		chosen = append(chosen, w.name)
		for i, v := range w.values {
			if v.IsNull() {
				diags.AddError("Incomplete Authentication",
					fmt.Sprintf("kubernetes: %s is missing: %s belong together.", w.names[i], w.name))
			}
		}
	}
	switch {
	case len(chosen) > 1:
		diags.AddError("Several Ways of Authentication", fmt.Sprintf("kubernetes: These are set: %s. %s", strings.Join(chosen, "; "), oneWay))
	case len(chosen) == 0 && !open:
		diags.AddError("No Authentication", "kubernetes: "+oneWay)
	}
}

func (k *kubernetesModel) validateKubeconfig(at path.Path, diags *diag.Diagnostics) {
	text := k.credentials()[vnfm.CredentialKubeconfig]
	if text.IsNull() && tfutil.Set(k.KubeconfigContext) {
		diags.AddAttributeError(at.AtName("kubeconfig_context"), "Context Without Kubeconfig", "kubeconfig_context chooses a context of a kubeconfig, and none is set.")
		return
	}
	if !tfutil.Set(text) {
		return
	}
	if k.KubeconfigContext.IsUnknown() {
		return
	}
	where := vnfm.CredentialKubeconfig
	if !tfutil.Set(k.Kubeconfig) {
		where = vnfm.CredentialKubeconfig + tfutil.WriteOnlySuffix
	}
	c, err := kubeconfig.Parse(text.ValueString(), k.KubeconfigContext.ValueString())
	if err != nil {
		addSecretError(diags, where, "Unusable Kubeconfig", tfutil.ErrorDetail(err))
		return
	}
	if err := c.CheckLogin(); err != nil {
		addSecretError(diags, where, "Unusable Kubeconfig", tfutil.ErrorDetail(err))
	}
	if c.Insecure && k.CACertificate.IsNull() && !k.InsecureSkipTLSVerify.IsUnknown() && !k.InsecureSkipTLSVerify.ValueBool() {
		diags.AddAttributeError(at.AtName("insecure_skip_tls_verify"), "Kubeconfig Without Verification",
			fmt.Sprintf("Context %q leaves the certificate of the API server unverified (insecure-skip-tls-verify). Give the CA as ca_certificate, or set insecure_skip_tls_verify = true if nobody can intercept the connection.", c.Context))
	}
}

func (k *kubernetesModel) validateEndpoint(at path.Path, diags *diag.Diagnostics) {
	if k.Endpoint.IsNull() && k.Kubeconfig.IsNull() && k.KubeconfigWO.IsNull() && k.KubeconfigRef.IsNull() {
		diags.AddAttributeError(at.AtName("endpoint"), "Missing Endpoint", "endpoint is required unless a kubeconfig contains it or kubeconfig_ref is set.")
	}
	if tfutil.Set(k.Endpoint) {
		tfutil.CheckURL(at.AtName("endpoint"), k.Endpoint.ValueString(), false, diags, "https", "http")
		if u, err := url.Parse(k.Endpoint.ValueString()); err == nil && endpoint.IsPlain(u) {
			diags.AddAttributeError(at.AtName("endpoint"), "Endpoint Without TLS", "The credentials would travel unencrypted. Use https; http is for addresses of this machine only.")
		}
	}
	if tfutil.Set(k.ProxyURL) {
		tfutil.CheckURL(at.AtName("proxy_url"), k.ProxyURL.ValueString(), false, diags, "http", "https", "socks5", "socks5h")
	}
}

func (k *kubernetesModel) validateTLS(at path.Path, diags *diag.Diagnostics) {
	if k.InsecureSkipTLSVerify.ValueBool() && tfutil.Set(k.CACertificate) {
		diags.AddAttributeError(at.AtName("insecure_skip_tls_verify"), "CA Certificate Without Verification",
			"ca_certificate is never used while insecure_skip_tls_verify is true. Remove one of the two.")
	}
	tfutil.CheckCertificates(at.AtName("ca_certificate"), k.CACertificate, diags)
	tfutil.CheckCertificates(at.AtName("client_certificate"), k.ClientCertificate, diags)
	key := k.credentials()[vnfm.CredentialClientKey]
	if !tfutil.Set(key) {
		return
	}
	where := vnfm.CredentialClientKey
	if !tfutil.Set(k.ClientKey) {
		where = vnfm.CredentialClientKey + tfutil.WriteOnlySuffix
	}
	block, _ := pem.Decode([]byte(key.ValueString()))
	switch {
	case block == nil:
		addSecretError(diags, where, "Invalid PEM", "A private key as PEM is expected.")
	case !strings.HasSuffix(block.Type, "PRIVATE KEY"):
		addSecretError(diags, where, "Invalid PEM", fmt.Sprintf("A private key is expected, not %s.", block.Type))
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		addSecretError(diags, where, "Encrypted Private Key", "The private key is protected by a passphrase. Give the decrypted key, in the write-only form if it must not reach the state.")
	case tfutil.Set(k.ClientCertificate) && hasCertificate(k.ClientCertificate.ValueString()):
		// The error of the library says why the two do not fit, and nothing of the key.
		if _, err := tls.X509KeyPair([]byte(k.ClientCertificate.ValueString()), []byte(key.ValueString())); err != nil {
			addSecretError(diags, where, "Key Does Not Fit the Certificate", tfutil.ErrorDetail(err))
		}
	}
}

func hasCertificate(text string) bool {
	block, _ := pem.Decode([]byte(text))
	return block != nil && block.Type == "CERTIFICATE"
}
