package vims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A name stands for one place in a store. A registration of a name that is there takes a share of its VIM; one of another place is
// refused. So a registration that was killed before its answer reached Terraform is resumed as well: the next one finds its record
// by the name, and the share that the killed process took goes (records.Shares).

// share notes a share of a resource of Terraform, which knows it or not yet.
func (r *Record) share(id string, known bool) bool {
	if known {
		return r.Shares.Acknowledge(id)
	}
	return r.Shares.Take(id)
}

// isHeld reports whether anybody but a share has the VIM. After an import it has no shares until the next read takes one.
func (r *Record) isHeld(share string) bool {
	return len(r.Shares.Others(share)) > 0 || (r.Acknowledged && len(r.Shares) == 0)
}

// checkShared refuses another name and another place for a VIM that so many others share.
func (r *Record) checkShared(others int, name string, place vnfm.VIMPlace) error {
	var detail string
	switch {
	case others <= 0:
		return nil
	case r.Name != name:
		detail = fmt.Sprintf("a change to %q would rename it for all of them", name)
	case r.Place().Differs(place):
		detail = fmt.Sprintf("it is at %s, and this change would lead it to %s for all of them", r.Place(), place)
	default:
		return nil
	}
	return nameError(fmt.Sprintf("VIM %q is shared with other vnf_vim resources of this store", r.Name),
		detail+". Undo the change; or destroy the others first; or add a vnf_vim of another name and destroy this one")
}

func nameError(summary, detail string) error {
	return &vnfm.InvalidError{Problems: vnfm.Problems{{Attribute: "name", Summary: summary, Detail: detail}}}
}

// namesake finds the VIM that a registration of a name at a place shares, or takes over since nobody has it; nil is none. A name that
// somebody else has at another place is an error.
func namesake(ctx context.Context, s store.Store, id, share, name string, place vnfm.VIMPlace) (*records.Entry[Record], error) {
	all, err := records.List[Record](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return nil, err
	}
	var left, taken *records.Entry[Record]
	for _, en := range all {
		switch {
		case en.Rec.ID == id || en.Value.Name != name:
		case !en.Value.Place().Differs(place):
			return en, nil
		case en.Value.isHeld(share):
			taken = en
		default:
			left = en
		}
	}
	if taken == nil {
		return left, nil
	}
	return nil, nameError("the name "+strconv.Quote(name)+" is taken in this store",
		fmt.Sprintf("a VIM of that name is registered at %s, and this one is at %s. Give this vnf_vim another name; or, to share the VIM, the same endpoint, project and region", taken.Value.Place(), place))
}

// checkRename refuses the name of another VIM.
func checkRename(ctx context.Context, s store.Store, id string, spec vnfm.VIMSpec, place vnfm.VIMPlace) error {
	other, err := namesake(ctx, s, id, spec.Share, spec.Name, place)
	if err != nil || other == nil || !other.Value.isHeld(spec.Share) {
		return err
	}
	return nameError("the name "+strconv.Quote(spec.Name)+" is taken in this store",
		fmt.Sprintf("VIM %s has it, at the same place. Choose another name; or, to share that VIM, add a vnf_vim of that name and destroy this one", other.Rec.ID))
}

// createOrShare writes the record of a new VIM, or takes a share of the one that has its name. It returns the id, and whether the
// record is new.
func (m *Manager) createOrShare(ctx context.Context, s store.Store, en *records.Entry[Record], share string) (id string, created bool, err error) {
	err = m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		other, err := namesake(ctx, s, en.Rec.ID, share, en.Value.Name, en.Value.Place())
		if err != nil {
			return err
		}
		if other == nil {
			if err := m.cfg.CheckReferences(ctx, s, &en.Value.VIM); err != nil {
				return err
			}
			id, created = en.Rec.ID, true
			// It is new: no other process has its lease, under which it is written from now on.
			lease := records.VIMLease(id)
			store.ReadAhead(ctx, s, store.Wanted{Lease: lease, New: true})
			return en.Create(store.Foreseeing(ctx, lease), s)
		}
		id = other.Rec.ID
		return edit(ctx, s, id, func(fresh *records.Entry[Record]) error {
			if !fresh.Value.share(share, false) {
				return nil
			}
			return fresh.Update(ctx, s)
		})
	})
	return id, created, err
}

// giveBack gives up the share that a registration took which failed afterwards.
func (m *Manager) giveBack(ctx context.Context, s store.Store, id, share string, failure error) error {
	after, stop := records.Detached(ctx)
	defer stop()
	err := m.cfg.WithReferences(after, s, func(ctx context.Context) error {
		return edit(ctx, s, id, func(en *records.Entry[Record]) error {
			en.Value.Shares.Release(share)
			return en.Update(ctx, s)
		})
	})
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return errors.Join(failure, fmt.Errorf("giving up the share of VIM %q again: %w", id, err))
	}
	return failure
}

// edit has a function change the record of a VIM, under Config.WithReferences. An acknowledgement takes no lease: the function is
// called again when one came in between.
func edit(ctx context.Context, s store.Store, id string, do func(en *records.Entry[Record]) error) error {
	var err error
	for range 3 {
		en, getErr := records.Get[Record](ctx, s, store.KindVIM, id)
		if getErr != nil {
			return getErr
		}
		if err = do(en); !errors.Is(err, store.ErrStale) {
			break
		}
	}
	return err
}

// HoldVIM implements vnfm.Manager.
func (m *Manager) HoldVIM(ctx context.Context, id, share string) (*vnfm.VIM, error) {
	if share == "" {
		return m.VIM(ctx, id)
	}
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, err
	}
	hold := func(r *Record) bool {
		changed := r.share(share, true) || !r.Acknowledged
		r.Acknowledged = true
		return changed
	}
	// Each refresh looks; a lease is taken where there is something to note.
	if hold(&en.Value) {
		err := m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			return edit(ctx, s, id, func(fresh *records.Entry[Record]) error {
				if !hold(&fresh.Value) {
					return nil
				}
				return fresh.Update(ctx, s)
			})
		})
		if store.Spared(err) != nil {
			return nil, err
		}
	}
	m.holds(id, share)
	v := en.Value.VIM
	v.Shared = len(en.Value.Shares.Others(share)) > 0
	return &v, nil
}

// holds notes a share that a resource of this process has.
func (m *Manager) holds(id, share string) {
	m.heldMu.Lock()
	defer m.heldMu.Unlock()
	if share != "" && !slices.Contains(m.held[id], share) {
		m.held[id] = append(m.held[id], share)
	}
}

// Held are the shares of a VIM that resources of this process have.
func (m *Manager) Held(id string) []string {
	m.heldMu.Lock()
	defer m.heldMu.Unlock()
	return slices.Clone(m.held[id])
}

// ReleaseVIM implements vnfm.Manager.
func (m *Manager) ReleaseVIM(ctx context.Context, id, share string) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	shared := false
	err = m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		// Without a share it is removed.
		store.ReadAhead(ctx, s, append(m.cfg.RemovalWanted(id), store.Wanted{Kind: store.KindVIM, ID: id})...)
		err := edit(ctx, s, id, func(en *records.Entry[Record]) error {
			en.Value.Shares = en.Value.Shares.Others(share)
			if shared = len(en.Value.Shares) > 0; shared {
				return en.Update(ctx, s)
			}
			return m.removeRecord(ctx, s, id)
		})
		if errors.Is(err, vnfm.ErrNotFound) {
			// Notes of one that was being removed may be left.
			return m.removeRecord(ctx, s, id)
		}
		return err
	})
	if err != nil || shared {
		return err
	}
	return m.forgetKey(ctx, id)
}

// ForgetShares implements vnfm.Manager.
func (m *Manager) ForgetShares(ctx context.Context, id string) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	return store.Spared(m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		return edit(ctx, s, id, func(en *records.Entry[Record]) error {
			before := len(en.Value.Shares)
			en.Value.Shares = slices.DeleteFunc(en.Value.Shares, func(share records.Share) bool { return !vnfm.IsInstanceShare(share.ID) })
			if len(en.Value.Shares) == before {
				return nil
			}
			en.Value.Acknowledged = true
			return en.Update(ctx, s)
		})
	}))
}

// PlanVIM implements vnfm.Manager.
func (m *Manager) PlanVIM(ctx context.Context, id string, spec vnfm.VIMSpec, place vnfm.VIMPlace) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	if id == "" {
		_, err := namesake(ctx, s, "", spec.Share, spec.Name, place)
		return err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := en.Value.checkShared(len(en.Value.Shares.Others(spec.Share)), spec.Name, place); err != nil || en.Value.Name == spec.Name {
		return err
	}
	return checkRename(ctx, s, id, spec, place)
}

// ForeignInstances implements vnfm.Manager.
func (m *Manager) ForeignInstances(ctx context.Context, id, share string) ([]string, error) {
	if share == "" {
		return nil, nil
	}
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if errors.Is(err, vnfm.ErrNotFound) || (err == nil && len(en.Value.Shares.Others(share)) > 0) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m.cfg.ForeignOn(ctx, s, id, share)
}
