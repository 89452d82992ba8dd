package tfutil

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// CheckURL adds an error when text is not an absolute URL of one of the schemes. A
// query is allowed where query is true. The URL is not repeated: it may hold
// credentials, which are an error of their own.
func CheckURL(at path.Path, text string, query bool, diags *diag.Diagnostics, schemes ...string) {
	const summary = "Invalid URL"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		diags.AddAttributeError(at, summary, "This is not a URL.")
	case !slices.Contains(schemes, u.Scheme):
		diags.AddAttributeError(at, summary, fmt.Sprintf("A URL that begins with %s:// is expected.", strings.Join(schemes, ":// or ")))
	case u.Hostname() == "":
		diags.AddAttributeError(at, summary, "The URL has no host.")
	case u.User != nil:
		diags.AddAttributeError(at, summary, "The URL holds credentials, which would be readable in plan, state and store.")
	case u.Fragment != "" || (u.RawQuery != "" && !query):
		diags.AddAttributeError(at, summary, "The URL has a query or a fragment, which has no meaning here.")
	}
}

// CheckCertificates adds an error when a known value is not one or more
// certificates as PEM.
func CheckCertificates(at path.Path, v types.String, diags *diag.Diagnostics) {
	if !Set(v) {
		return
	}
	rest := []byte(v.ValueString())
	for n := 1; ; n++ {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && n == 1:
			diags.AddAttributeError(at, "Invalid PEM", "A certificate as PEM is expected: text between \"-----BEGIN CERTIFICATE-----\" and \"-----END CERTIFICATE-----\".")
			return
		case block == nil:
			return
		case block.Type != "CERTIFICATE":
			diags.AddAttributeError(at, "Invalid PEM", fmt.Sprintf("Block %d is a %s, not a certificate.", n, block.Type))
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			diags.AddAttributeError(at, "Invalid Certificate", fmt.Sprintf("Block %d cannot be read: %s.", n, err))
			return
		}
	}
}
