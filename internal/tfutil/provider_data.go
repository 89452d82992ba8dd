package tfutil

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

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
	// OnUnreachable is the provider's argument on_unreachable; empty when it is left out.
	OnUnreachable vnfm.OnUnreachable

	// expected are the ids of the lost records that an update in this plan writes again, and restorers write records again by
	// their ids.
	expected, restorers sync.Map
	// unchecked is set once WarnUnchecked has reported.
	unchecked atomic.Bool
}

// Expect notes that an update in this plan writes the record of an id again.
func (p *ProviderData) Expect(id string) { p.expected.Store(id, true) }

// Expected reports whether Expect was called with an id.
func (p *ProviderData) Expected(id string) bool {
	_, ok := p.expected.Load(id)
	return ok
}

// Restorer writes a record again that the store has lost, from the state of its resource.
type Restorer = func(ctx context.Context, diags *diag.Diagnostics)

// KeepRestorer keeps what writes the record of an id again.
func (p *ProviderData) KeepRestorer(id string, restore Restorer) { p.restorers.Store(id, restore) }

// Restore has the record of an id written again. Whether that went is for the caller to see in the store.
func (p *ProviderData) Restore(ctx context.Context, id string, diags *diag.Diagnostics) {
	kept, _ := p.restorers.Load(id)
	if restore, ok := kept.(Restorer); ok {
		restore(ctx, diags)
	}
}

// DefaultOnFailure is the handling of a failed operation of resources that do not set on_failure.
func (p *ProviderData) DefaultOnFailure() vnfm.OnFailure {
	if p == nil || p.OnFailure == "" {
		return vnfm.OnFailureFail
	}
	return p.OnFailure
}

// DefaultOnUnreachable is what the destroy of a resource that does not set on_unreachable does when its VIM cannot be reached.
func (p *ProviderData) DefaultOnUnreachable() vnfm.OnUnreachable {
	if p == nil || p.OnUnreachable == "" {
		return vnfm.OnUnreachableFail
	}
	return p.OnUnreachable
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
