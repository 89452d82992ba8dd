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
	// The versions say that a write-only value has changed.
	ignored := []string{"timeouts", "status", "password_wo_version", "bearer_token_wo_version", "headers_wo_version"}
	for name := range describedAttributes() {
		ignored = append(ignored, name)
	}
	modeltest.EachArgument(t, modeltest.Full(t, NewResource(), nil), ignored, func(m *resourceModel, diags *diag.Diagnostics) any {
		stored := m.accessModel
		stored.PasswordWO, stored.BearerTokenWO, stored.HeadersWO = types.StringNull(), types.StringNull(), types.MapNull(types.StringType)
		return []any{m.spec(t.Context(), diags), stored.toDomain()}
	})
}

// TestRestoredDefaults: an import has the defaults of the schema, and a refresh keeps what is set.
func TestRestoredDefaults(t *testing.T) {
	t.Parallel()
	with := func(integrity, signature string, flag bool) inputs {
		is := types.BoolValue(flag)
		return inputs{
			Integrity: types.StringValue(integrity), Signature: types.StringValue(signature), External: is,
			accessModel: accessModel{InsecureSkipTLSVerify: is, PlainHTTP: is},
		}
	}
	imported := inputs{}
	imported.restoreDefaults()
	assert.Equal(t, with("enforce", "verify_if_present", false), imported)
	kept := with("warn", "ignore", true)
	kept.restoreDefaults()
	assert.Equal(t, with("warn", "ignore", true), kept)
}

// TestWarningsAreToldOnce: until the content, or the way that it is read, changes.
func TestWarningsAreToldOnce(t *testing.T) {
	t.Parallel()
	state := resourceModel{Status: types.StringValue(statusOnboarded), inputs: inputs{Source: types.StringValue("a"), Integrity: types.StringValue("warn")}}
	state.ID, state.Headers = types.StringValue("core@1"), types.MapNull(types.StringType)
	plan := state
	assert.True(t, reported(&plan, &state, "core@1"))
	assert.False(t, reported(&plan, &state, "core@2"))
	plan.Integrity = types.StringValue("ignore")
	assert.False(t, reported(&plan, &state, "core@1"))
	plan, state.Status = state, types.StringValue(statusUnknown)
	assert.False(t, reported(&plan, &state, "core@1"))
}

// TestEverythingIsDescribed: a package that has everything leaves no attribute null.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	p := modeltest.Filled[vnfm.Package]()
	modeltest.NothingNull(t, describe(&p))
}
