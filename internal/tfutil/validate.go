package tfutil

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

var dnsLabel = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// DNSLabel is the rule for a name that can be part of others (RFC 1123).
func DNSLabel() validator.String { return dnsLabelOf("") }

// Namespace is the rule for the name of a Kubernetes namespace.
func Namespace() validator.String { return dnsLabelOf("the name of a Kubernetes namespace: ") }

func dnsLabelOf(what string) validator.String {
	return Matches(dnsLabel, "must be "+what+"at most 63 lower case letters, digits and '-', beginning and ending with a letter or digit")
}

// CheckURL adds an error when text is not an absolute URL of one of the schemes. A
// query is allowed where query is true. The URL is not repeated: it may hold
// credentials, which are an error of their own.
func CheckURL(at path.Path, text string, query bool, diags *diag.Diagnostics, schemes ...string) {
	const summary = "Invalid URL"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		diags.AddAttributeError(at, summary, "This is not a URL.")
	case u.User != nil:
		refuseUserInfo(at, diags)
	case !slices.Contains(schemes, u.Scheme):
		diags.AddAttributeError(at, summary, fmt.Sprintf("A URL that begins with %s:// is expected.", strings.Join(schemes, ":// or ")))
	case u.Hostname() == "":
		diags.AddAttributeError(at, summary, "The URL has no host.")
	case u.Fragment != "" || (u.RawQuery != "" && !query):
		diags.AddAttributeError(at, summary, "The URL has a query or a fragment, which has no meaning here.")
	}
}

// CheckCertificates adds an error when a known value is not one or more
// certificates as PEM.
func CheckCertificates(at path.Path, v types.String, diags *diag.Diagnostics) {
	checkPEM(at, v, "CERTIFICATE", "certificate", "Invalid Certificate", func(der []byte) error {
		_, err := x509.ParseCertificate(der)
		return err
	}, diags)
}

// CheckRevocationLists adds an error when a known value is not one or more
// certificate revocation lists as PEM.
func CheckRevocationLists(at path.Path, v types.String, diags *diag.Diagnostics) {
	checkPEM(at, v, "X509 CRL", "revocation list", "Invalid Revocation List", func(der []byte) error {
		_, err := x509.ParseRevocationList(der)
		return err
	}, diags)
}

// checkPEM adds an error when a known value is not one or more blocks of a type that parse.
func checkPEM(at path.Path, v types.String, label, noun, invalid string, parse func([]byte) error, diags *diag.Diagnostics) {
	if !Set(v) {
		return
	}
	rest := []byte(v.ValueString())
	for n := 1; ; n++ {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && n == 1:
			diags.AddAttributeError(at, "Invalid PEM", fmt.Sprintf("A %s as PEM is expected: text between \"-----BEGIN %s-----\" and \"-----END %s-----\".", noun, label, label))
			return
		case block == nil:
			return
		case block.Type != label:
			diags.AddAttributeError(at, "Invalid PEM", fmt.Sprintf("Block %d is a %s, not a %s.", n, block.Type, noun))
			return
		}
		if err := parse(block.Bytes); err != nil {
			diags.AddAttributeError(at, invalid, fmt.Sprintf("Block %d cannot be read: %s.", n, err))
			return
		}
	}
}

// Address accepts an IP address.
func Address() validator.String { return address{} }

type address struct{}

func (address) Description(context.Context) string { return "must be an IP address" }

func (a address) MarkdownDescription(ctx context.Context) string { return a.Description(ctx) }

func (address) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if _, err := netip.ParseAddr(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid Address", fmt.Sprintf("%q is not a valid IP address.", req.ConfigValue.ValueString()))
	}
}

// Certificates is the rule for certificates as PEM.
func Certificates() validator.String { return certificates{} }

type certificates struct{}

// Description implements validator.Describer.
func (certificates) Description(context.Context) string { return "must be certificates as PEM" }

// MarkdownDescription implements validator.Describer.
func (v certificates) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

// ValidateString implements validator.String.
func (certificates) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	CheckCertificates(req.Path, req.ConfigValue, &resp.Diagnostics)
}

// Matches returns a validator of texts that match a pattern, which is compiled when there is a text.
func Matches(form *lazyregexp.Regexp, message string) validator.String { return matches{form, message} }

type matches struct {
	form    *lazyregexp.Regexp
	message string
}

// Description implements validator.String.
func (m matches) Description(context.Context) string { return m.message }

// MarkdownDescription implements validator.String.
func (m matches) MarkdownDescription(context.Context) string { return m.message }

// ValidateString implements validator.String.
func (m matches) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown() {
		stringvalidator.RegexMatches(m.form.Compiled(), m.message).ValidateString(ctx, req, resp)
	}
}
