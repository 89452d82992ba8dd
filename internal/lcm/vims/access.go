package vims

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// access is the connection that this run brings for a VIM, nil for none.
func (m *Manager) access(id, name string) *vnfm.VIMAccess {
	if a, ok := m.cfg.PerRun.Find(id, name); ok {
		return &a
	}
	return nil
}

// VIMAccess implements vnfm.Manager.
func (m *Manager) VIMAccess(id, name string) (vnfm.VIMAccess, error) {
	if a := m.access(id, name); a != nil {
		return *a, nil
	}
	return vnfm.VIMAccess{}, m.noAccess(name)
}

// noAccess says that nothing gives the connection of a VIM.
func (m *Manager) noAccess(name string) error {
	entries := "vims is not set"
	if names := m.cfg.PerRun.Names(); len(names) > 0 {
		entries = "vims has entries for " + vnfm.QuotedNames(names)
	}
	return &vnfm.InvalidError{Problems: vnfm.Problems{{
		Attribute: "name", Summary: "no connection is given for VIM " + strconv.Quote(name),
		Detail: fmt.Sprintf("the argument vims of the provider has no entry of that name: %s. Add vims = { %q = { kubernetes = { ... } } } to the provider block, or set kubernetes or openstack in the vnf_vim", entries, name),
	}}}
}

// connected returns the specification with which this run connects: its own connection wins.
func (m *Manager) connected(id string, spec vnfm.VIMSpec) (vnfm.VIMSpec, error) {
	a := m.access(id, spec.Name)
	switch {
	case a == nil && !spec.HasConnection():
		return spec, m.noAccess(spec.Name)
	case a == nil:
		return spec, nil
	case a.Unknown:
		return spec, &vnfm.AccessUnknownError{VIM: spec.Name}
	case spec.Type != "" && spec.Type != a.Type:
		return spec, &vnfm.InvalidError{Problems: vnfm.Problems{{
			Attribute: "name", Summary: fmt.Sprintf("VIM %q is of type %s, and %s of type %s", spec.Name, spec.Type, vnfm.PerRunSettings, a.Type),
			Detail: "correct the entry, or give the VIM another name",
		}}}
	}
	var namespace string
	if spec.Kubernetes != nil {
		namespace = spec.Kubernetes.DefaultNamespace
	}
	spec.Type, spec.Kubernetes, spec.OpenStack, spec.Credentials = a.Type, nil, nil, a.Credentials
	if a.Kubernetes != nil {
		k := *a.Kubernetes
		k.DefaultNamespace, k.PerRun = namespace, true
		spec.Kubernetes = &k
	}
	if a.OpenStack != nil {
		o := *a.OpenStack
		o.PerRun = true
		spec.OpenStack = &o
	}
	return spec, nil
}

// opened is a VIM as this run uses it: its connection may be another one than the record's.
type opened struct {
	vnfm.VIM
	// own is the connection in the record.
	own vnfm.VIM
}

// recorded is the VIM with the connection of its record.
func (o *opened) recorded() *vnfm.VIM {
	v := o.VIM
	v.Kubernetes, v.OpenStack = o.own.Kubernetes, o.own.OpenStack
	return &v
}

// openPerRun opens a VIM with the connection of this run.
func (m *Manager) openPerRun(ctx context.Context, v *vnfm.VIM) (*opened, vnfm.Credentials, error) {
	if m.access(v.ID, v.Name) == nil {
		// No finding about an argument: the VIM may be that of any object.
		return nil, nil, errors.New(m.noAccess(v.Name).Error())
	}
	spec, err := m.connected(v.ID, v.Spec(nil))
	if err != nil {
		return nil, nil, err
	}
	concealCredentials(ctx, spec.Credentials)
	o := &opened{VIM: *v, own: *v}
	o.Kubernetes, o.OpenStack = spec.Kubernetes, spec.OpenStack
	return o, spec.Credentials, nil
}

// verify has the connection of this run checked once against what the record says of the VIM.
func (m *Manager) verify(ctx context.Context, v *vnfm.VIM, creds vnfm.Credentials) error {
	if _, done := m.verified.Load(v.ID); done || v.ClusterUID == "" {
		return nil
	}
	spec := v.Spec(creds)
	spec.ClusterUID = ""
	check, err := m.CheckVIM(ctx, spec)
	if err != nil {
		return err
	}
	return m.follow(ctx, v, check)
}

// follow refuses a connection of this run that leads to another cluster or project than the
// one on which the instances of the VIM are. Without instances the record follows.
func (m *Manager) follow(ctx context.Context, v *vnfm.VIM, check vnfm.VIMCheck) error {
	if v.ClusterUID != "" && check.ClusterUID != "" && v.ClusterUID != check.ClusterUID {
		s, err := m.cfg.Store(ctx)
		if err != nil {
			return err
		}
		if err := m.checkSameCluster(ctx, s, v, check); err != nil {
			return fmt.Errorf("%w. The connection is %s", err, vnfm.PerRunSettings)
		}
		if err := store.Spared(m.moveRecord(ctx, s, v.ID, check)); err != nil {
			return err
		}
		v.ClusterUID = check.ClusterUID
	}
	m.verified.Store(v.ID, true)
	return nil
}

// moveRecord writes what a check saw of the other cluster to which a VIM without instances leads.
func (m *Manager) moveRecord(ctx context.Context, s store.Store, id string, check vnfm.VIMCheck) error {
	return m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		en, err := records.Get[Record](ctx, s, store.KindVIM, id)
		if err != nil {
			return err
		}
		if err := m.checkSameCluster(ctx, s, &en.Value.VIM, check); err != nil {
			return err
		}
		moved := en.Value.VIM
		moved.Saw(check)
		if err := en.Value.checkShared(len(en.Value.Shares.Others(""))-1, moved.Name, moved.Place()); err != nil {
			return err
		}
		en.Value.Saw(check)
		en.Value.ClusterUID = check.ClusterUID
		return en.Update(ctx, s)
	})
}

// EnsureVIM implements vnfm.Manager.
func (m *Manager) EnsureVIM(ctx context.Context, known vnfm.KnownVIM) error {
	a := m.access(known.ID, known.Name)
	if a == nil || a.Unknown {
		return nil
	}
	present, err := m.KnownVIM(ctx, known.ID)
	switch {
	case err == nil:
		return known.CheckSame(present.ClusterUID)
	case !errors.Is(err, vnfm.ErrNotFound):
		return err
	}
	_, check, err := m.checkConnected(ctx, known.ID, vnfm.VIMSpec{Name: known.Name})
	if err != nil {
		return err
	}
	if err := known.CheckSame(check.ClusterUID); err != nil {
		return err
	}
	_, _, err = m.RegisterVIM(ctx, known.ID, vnfm.VIMSpec{Name: known.Name})
	return err
}
