package vnfpackage

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/modeltest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestEveryArgumentIsRead: each argument reaches the specification of the package.
func TestEveryArgumentIsRead(t *testing.T) {
	t.Parallel()
	ignored := []string{"timeouts", "status"}
	for name := range describedAttributes() {
		ignored = append(ignored, name)
	}
	modeltest.EachArgument(t, modeltest.Full(t, NewResource(), nil), ignored, func(m *resourceModel, diags *diag.Diagnostics) any {
		return m.spec(t.Context(), diags)
	})
}

// TestEverythingIsDescribed: a package that has everything leaves no attribute null.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	p := modeltest.Filled[vnfm.Package]()
	modeltest.NothingNull(t, describe(&p))
}
