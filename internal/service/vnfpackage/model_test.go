package vnfpackage

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"

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

// TestRestoredDefaults: an import has the defaults of the schema, and a refresh keeps what is set.
func TestRestoredDefaults(t *testing.T) {
	t.Parallel()
	imported := inputs{}
	imported.restoreDefaults()
	assert.Equal(t, inputs{Integrity: types.StringValue("enforce"), Signature: types.StringValue("verify_if_present")}, imported)
	kept := inputs{Integrity: types.StringValue("warn"), Signature: types.StringValue("ignore")}
	kept.restoreDefaults()
	assert.Equal(t, inputs{Integrity: types.StringValue("warn"), Signature: types.StringValue("ignore")}, kept)
}

// TestEverythingIsDescribed: a package that has everything leaves no attribute null.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	p := modeltest.Filled[vnfm.Package]()
	modeltest.NothingNull(t, describe(&p))
}
