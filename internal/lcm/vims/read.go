package vims

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Get reads a VIM without its credentials, and acknowledges nothing.
func Get(ctx context.Context, s store.Store, id string) (*vnfm.VIM, error) {
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, err
	}
	return &en.Value.VIM, nil
}

// VIM implements vnfm.Manager.
func (m *Manager) VIM(ctx context.Context, id string) (*vnfm.VIM, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, err
	}
	if !en.Value.Acknowledged {
		en.Value.Acknowledged = true
		// A process that wrote at the same time has acknowledged it as well.
		if err := store.Spared(en.Update(ctx, s)); err != nil && !errors.Is(err, store.ErrStale) {
			return nil, err
		}
	}
	return &en.Value.VIM, nil
}

// VIMByName implements vnfm.Manager. Names are not unique; an ambiguous one is an
// error that lists the ids.
func (m *Manager) VIMByName(ctx context.Context, name string) (*vnfm.VIM, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := records.List[Record](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return nil, err
	}
	var found []*vnfm.VIM
	var ids []string
	for _, en := range all {
		if en.Value.Name == name {
			found, ids = append(found, &en.Value.VIM), append(ids, en.Value.ID)
		}
	}
	switch len(found) {
	case 0:
		return nil, records.NotFound(store.KindVIM, name)
	case 1:
		// A look by name does not acknowledge: the VIM may belong to another resource.
		return found[0], nil
	default:
		return nil, fmt.Errorf("several VIMs are named %q (%v): give the id of one", name, ids)
	}
}

// VIMs implements vnfm.Manager.
func (m *Manager) VIMs(ctx context.Context, f vnfm.VIMFilter) ([]vnfm.VIM, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	return records.Values(ctx, s, store.KindVIM, func(r *Record) (vnfm.VIM, bool) { return r.VIM, f.Selects(&r.VIM) })
}

// Connection reads a VIM with the connection that this run uses, without credentials. A
// connection that a plan does not know yet is ErrNotFound.
func (m *Manager) Connection(ctx context.Context, s store.Store, id string) (*vnfm.VIM, error) {
	v, err := Get(ctx, s, id)
	if err != nil || m.access(id, v.Name) == nil {
		return v, err
	}
	o, _, err := m.openPerRun(ctx, v)
	if errors.As(err, new(*vnfm.AccessUnknownError)) {
		return nil, records.NotFound(store.KindVIM, id)
	}
	if err != nil {
		return nil, err
	}
	return &o.VIM, nil
}

// KnownVIM implements vnfm.Manager.
func (m *Manager) KnownVIM(ctx context.Context, id string) (vnfm.KnownVIM, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return vnfm.KnownVIM{}, err
	}
	v, err := Get(ctx, s, id)
	if err != nil {
		return vnfm.KnownVIM{}, err
	}
	return vnfm.KnownVIM{ID: id, Name: v.Name, ClusterUID: v.ClusterUID}, nil
}
