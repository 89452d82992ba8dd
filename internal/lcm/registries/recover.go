package registries

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RecoverRegistry implements vnfm.Manager. What the state does not have of the secrets is taken for what is on the host.
func (m *Manager) RecoverRegistry(ctx context.Context, id string, spec vnfm.RegistrySpec, ending *vnfm.RegistryRemoval) (*vnfm.Registry, error) {
	s, en, err := m.newEntry(ctx, id, &spec)
	if err != nil {
		return nil, err
	}
	en.Value.ID, en.Value.Spec = id, spec
	takePins(&en.Value)
	h, err := m.host(ctx, &en.Value)
	if err != nil {
		return nil, fmt.Errorf("finding the host of private registry %q: %w", spec.Name, err)
	}
	users, err := m.cfg.Driver.FindRegistry(ctx, h)
	if ending != nil && vnfm.IsGone(err) && m.forgets(ctx, &spec, *ending) {
		// The removal asks the host again, and forgets the registry if it is gone.
		err = nil
	}
	if err != nil {
		return nil, err
	}
	en.Value.Address = h.Address
	for _, user := range users {
		if _, known := en.Value.Spec.Users[user]; known {
			continue
		}
		if en.Value.Spec.Users == nil {
			en.Value.Spec.Users = map[string]vnfm.Secret{}
		}
		en.Value.Spec.Users[user] = ""
	}
	if err := m.sealSecrets(ctx, en); err != nil {
		return nil, err
	}
	create := func(ctx context.Context) error { return en.Create(ctx, s) }
	if ending != nil {
		err = create(ctx)
	} else {
		err = m.cfg.WriteReferring(ctx, s, &spec, create)
	}
	if errors.Is(err, store.ErrExists) {
		// Another process has recovered it meanwhile.
		return m.Registry(ctx, id)
	}
	return &en.Value, err
}
