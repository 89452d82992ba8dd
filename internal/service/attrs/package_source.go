package attrs

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// The defaults of the verification of a package.
const (
	IntegrityEnforce         = "enforce"
	SignatureVerifyIfPresent = "verify_if_present"
)

// CheckSource adds an error when a known source of a package looks like a URL and is
// none that a package can be read from, and a warning when anybody on the way could
// replace the package. A protected one would be noticed.
func CheckSource(at path.Path, source types.String, protected bool, diags *diag.Diagnostics) {
	text := source.ValueString()
	if !strings.Contains(text, "://") {
		return
	}
	var found diag.Diagnostics
	tfutil.CheckURL(at, text, true, &found, "https", "http", "oci")
	diags.Append(found...)
	if !found.HasError() && strings.HasPrefix(text, "http://") && !protected {
		diags.AddAttributeWarning(at, "Unprotected Download",
			"Over plain http anybody on the way can replace the package. Use https, set checksum, or set signature = \"require\".")
	}
}
