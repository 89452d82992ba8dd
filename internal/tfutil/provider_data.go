package tfutil

import (
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ProviderData is what the provider hands to its resources, data sources and
// ephemeral resources.
type ProviderData struct {
	// Manager is the VNF manager. It is nil while the configuration of the
	// provider holds a value that is not known yet.
	Manager vnfm.Manager
	// Version is the version of the provider.
	Version string
	// OnFailure is the provider's argument on_failure; empty when it is left out.
	OnFailure vnfm.OnFailure

	// seen has the ids of the records that a resource of this configuration has brought to this process.
	seen sync.Map
}

// See notes that a resource of the configuration has the record of an id, and has seen to it in this process.
func (p *ProviderData) See(id string) { p.seen.Store(id, true) }

// Seen reports whether See was called with an id. Terraform calls no resource in the apply of a saved plan that the plan neither
// changes nor has a condition for.
func (p *ProviderData) Seen(id string) bool {
	_, ok := p.seen.Load(id)
	return ok
}

// DefaultOnFailure is the handling of a failed operation of resources that do not set on_failure.
func (p *ProviderData) DefaultOnFailure() vnfm.OnFailure {
	if p == nil || p.OnFailure == "" {
		return vnfm.OnFailureFail
	}
	return p.OnFailure
}

// Configure returns the provider data of a Configure request. It is nil before
// the provider is configured, that is during validation.
func Configure(data any, diags *diag.Diagnostics) *ProviderData {
	if data == nil {
		return nil
	}
	pd, ok := data.(*ProviderData)
	if !ok {
		diags.AddError(
			"Unexpected Provider Data",
			fmt.Sprintf("The provider handed %T instead of *tfutil.ProviderData to one of its objects. This is always a bug in the provider and should be reported to its developers.", data),
		)
		return nil
	}
	return pd
}

// Known reports whether there is a manager to talk to.
func (p *ProviderData) Known() bool { return p != nil && p.Manager != nil }

// RequireManager returns the manager, or nil and an error diagnostic when the
// configuration of the provider is still unknown where it is needed.
func (p *ProviderData) RequireManager(diags *diag.Diagnostics) vnfm.Manager {
	if !p.Known() {
		diags.AddError(
			"Provider Configuration Unknown",
			"The configuration of provider \"vnf\" depends on values that are not known yet, so its store cannot be opened. "+
				"Apply the source of these values first (terraform apply -target=...), or configure the provider with values that are known.",
		)
		return nil
	}
	return p.Manager
}
