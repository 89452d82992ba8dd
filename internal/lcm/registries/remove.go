package registries

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// RemoveRegistry implements vnfm.Manager.
func (m *Manager) RemoveRegistry(ctx context.Context, id string, how vnfm.RegistryRemoval) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	en, err := m.open(ctx, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, done, err := m.lock(ctx, s, registryLockTimeout, "registry/"+id, "private registry "+strconv.Quote(en.Value.Spec.Name))
	if err != nil {
		return err
	}
	defer done()
	remove := func() error { return m.removeFromHost(ctx, s, en, how.Images) }
	if m.forgets(ctx, &en.Value.Spec, how) {
		var gone bool
		if gone, err = vnfm.UntilGone(ctx, remove); gone {
			if how.LeftBehind != nil {
				how.LeftBehind(err)
			}
			err = nil
		}
	} else {
		err = remove()
	}
	if err != nil {
		return err
	}
	if err := s.Delete(ctx, store.KindRegistry, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of private registry %q: %w", en.Value.Spec.Name, err)
	}
	return m.cfg.RemoveUnusedPackages(ctx, s)
}

// removeFromHost removes a registry from its host. A server that went with its instance needs nothing.
func (m *Manager) removeFromHost(ctx context.Context, s *seal.Store, en *records.Entry[vnfm.Registry], images bool) error {
	h, err := m.host(ctx, &en.Value)
	if errors.Is(err, vnfm.ErrNotFound) && en.Value.Spec.InstanceID != "" {
		return nil
	}
	if err != nil {
		return err
	}
	work, left, err := m.onHost(ctx, s, h)
	if err != nil {
		return err
	}
	defer left()
	return m.cfg.Driver.RemoveRegistry(work, h, images)
}

// forgets reports whether a registry is forgotten whose host is gone.
func (m *Manager) forgets(ctx context.Context, spec *vnfm.RegistrySpec, how vnfm.RegistryRemoval) bool {
	vim := ""
	if spec.InstanceID != "" {
		// An instance without a record has no VIM whose argument could hold.
		if i, err := m.instanceRecord(ctx, spec.InstanceID); err == nil {
			vim = i.Value.VIMID
		}
	}
	return m.cfg.Forgets(ctx, vim, how.OnUnreachable, how.DefaultOnUnreachable)
}
