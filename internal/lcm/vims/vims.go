// Package vims registers VIMs, seals their credentials and opens them.
package vims

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Record is a VIM as stored.
type Record struct {
	vnfm.VIM
	// Acknowledged is set by the first read of the VIM: the user knows its id. A registration that was killed before, and that nobody
	// shares, leaves a record that the next one of that name takes over.
	Acknowledged bool `json:"acknowledged"`
	// Shares name the resources that have registered the VIM. It stays until the last of them is gone.
	Shares records.Shares `json:"shares,omitempty"`
}

// Config says what a Manager stands on.
type Config struct {
	// Store opens the store, which is open after the first call.
	Store   func(ctx context.Context) (*seal.Store, error)
	Keyring *seal.Keyring
	// Drivers are the infra drivers by type of VIM.
	Drivers map[vnfm.VIMType]vnfm.InfraDriver
	// PerRun are the connections that come with this run. They win over those in records.
	PerRun vnfm.VIMAccesses
	// Kubeconfig reads the kubeconfig of a workload cluster.
	Kubeconfig func(ctx context.Context, ref vnfm.ClusterRef) (*vnfm.Kubeconfig, error)
	// WithReferences runs a function under the lease of the references between records.
	WithReferences func(ctx context.Context, s store.Store, do func(ctx context.Context) error) error
	// CheckReferences checks, under WithReferences, that what a VIM refers to is in the store.
	CheckReferences func(ctx context.Context, s store.Store, v *vnfm.VIM) error
	// WriteReferring calls a function that writes a VIM while what it refers to is in the store.
	WriteReferring func(ctx context.Context, s store.Store, v *vnfm.VIM, write func(ctx context.Context) error) error
	// WithVIM runs a function under the lease of one VIM, which is taken before that of the references.
	WithVIM func(ctx context.Context, s store.Store, id, name string, do func(ctx context.Context) error) error
	// InstancesOn names the instances that are, or have a part, on a VIM, and Users whatever
	// needs it.
	InstancesOn func(ctx context.Context, s store.Store, id string) ([]string, error)
	Users       func(ctx context.Context, s store.Store, id string) ([]string, error)
	// ForeignOn names the instances on a VIM of configurations that do not have the share.
	ForeignOn func(ctx context.Context, s store.Store, id, share string) ([]string, error)
	// RemovalWanted is what Users and RemoveNotes read.
	RemovalWanted func(id string) []store.Wanted
	// RemoveNotes removes what other records note of a VIM that is deregistered.
	RemoveNotes func(ctx context.Context, s store.Store, id string) error
}

// Manager registers VIMs. It is safe for concurrent use.
type Manager struct {
	cfg Config
	// held are the shares that the resources of this process have, by the id of the VIM.
	held   map[string][]string
	heldMu sync.Mutex
	// verified holds the ids of the VIMs whose connection of this run was seen to lead to the
	// cluster or project of the record.
	verified sync.Map
	// changing holds the ids of the VIMs of which ExpectVIM was told that they change, former the users that VIMs had.
	changing, former sync.Map
}

// New returns a Manager.
func New(cfg Config) *Manager { return &Manager{cfg: cfg, held: map[string][]string{}} }

// CheckRecord is called by package records when the record is read.
func (r *Record) CheckRecord(id string) error { return records.CheckID(r.ID, id) }

// Driver returns the infra driver of a type of VIM.
func (m *Manager) Driver(t vnfm.VIMType) (vnfm.InfraDriver, error) {
	d, ok := m.cfg.Drivers[t]
	if !ok {
		return nil, fmt.Errorf("there is no infra driver for VIMs of type %q", t)
	}
	return d, nil
}

// CheckVIM implements vnfm.Manager.
func (m *Manager) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	d, err := m.Driver(spec.Type)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	if spec.Kubernetes, spec.Credentials, err = m.liveCredentials(ctx, spec.Kubernetes, spec.Credentials); err != nil {
		return vnfm.VIMCheck{}, err
	}
	// A management driver registers a VIM in the middle of an operation.
	concealCredentials(ctx, spec.Credentials)
	return d.CheckVIM(ctx, spec)
}

// checkConnected checks a VIM with the connection that this run uses, whose type it returns.
func (m *Manager) checkConnected(ctx context.Context, id string, spec vnfm.VIMSpec) (vnfm.VIMType, vnfm.VIMCheck, error) {
	used, err := m.connected(id, spec)
	if err != nil {
		return "", vnfm.VIMCheck{}, err
	}
	check, err := m.CheckVIM(ctx, used)
	return used.Type, check, err
}

// RegisterVIM implements vnfm.Manager.
func (m *Manager) RegisterVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	store.ReadAhead(ctx, s, store.Wanted{Lease: records.ReferencesLease})
	vimType, check, err := m.checkConnected(ctx, id, spec)
	if err != nil {
		return nil, nil, err
	}
	known := id != ""
	if !known {
		id = uuid.NewString()
	}
	en := &records.Entry[Record]{Rec: store.Record{Kind: store.KindVIM, ID: id}}
	en.Value.ID, en.Value.Acknowledged = id, known
	if en.Value.CreatedAt = spec.CreatedAt; en.Value.CreatedAt.IsZero() {
		en.Value.CreatedAt = time.Now().UTC()
	}
	describeVIM(&en.Value.VIM, spec, vimType, check)
	en.Value.share(spec.Share, known)
	sealed := !m.cfg.Keyring.HasVault()
	if sealed {
		if err := m.sealCredentials(ctx, en, spec); err != nil {
			return nil, nil, err
		}
	}
	created := true
	if known {
		err = m.cfg.WriteReferring(ctx, s, &en.Value.VIM, func(ctx context.Context) error { return en.Create(ctx, s) })
		if errors.Is(err, store.ErrExists) {
			created, err = false, nil
		}
	} else {
		id, created, err = m.createOrShare(ctx, s, en, spec.Share)
	}
	if err != nil {
		return nil, nil, err
	}
	if created && sealed {
		m.holds(id, spec.Share)
		return &en.Value.VIM, check.Problems, nil
	}
	// The record is written before its key in a vault: when the process is killed in between,
	// the key is found by the id.
	v, keyed, err := m.write(ctx, s, id, writing{spec: spec, vimType: vimType, check: check, known: known})
	switch {
	case err == nil:
		return v, check.Problems, nil
	case created:
		return nil, nil, m.undoRegistration(ctx, s, id, spec.Share, err, keyed)
	case !known:
		return nil, nil, m.giveBack(ctx, s, id, spec.Share, err)
	default:
		return nil, nil, err
	}
}

// undoRegistration takes back what a registration that failed has written, unless others share it already. While a key may be
// in the vault that cannot be removed, the record stays, and the next registration of
// the VIM goes on with both.
func (m *Manager) undoRegistration(ctx context.Context, s store.Store, id, share string, failure error, keyed bool) error {
	after, stop := records.Detached(ctx)
	defer stop()
	err := m.cfg.WithReferences(after, s, func(ctx context.Context) error {
		return edit(ctx, s, id, func(en *records.Entry[Record]) error {
			en.Value.Shares = en.Value.Shares.Others(share)
			if len(en.Value.Shares) > 0 || (keyed && m.cfg.Keyring.Forget(ctx, id) != nil) {
				return en.Update(ctx, s)
			}
			return s.Delete(ctx, store.KindVIM, id)
		})
	})
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return errors.Join(failure, fmt.Errorf("removing the record of VIM %q again: %w", id, err))
	}
	return failure
}

// describeVIM writes into a VIM what a spec and a check say of it. The type is that of the
// connection that was checked.
func describeVIM(v *vnfm.VIM, spec vnfm.VIMSpec, t vnfm.VIMType, check vnfm.VIMCheck) {
	v.Name, v.Description, v.Type, v.OnUnreachable = spec.Name, spec.Description, t, spec.OnUnreachable
	v.Kubernetes, v.OpenStack, v.PerRun = spec.Kubernetes, spec.OpenStack, !spec.HasConnection()
	v.Saw(check)
	if check.ClusterUID != "" {
		v.ClusterUID = check.ClusterUID
	}
	v.UpdatedAt = time.Now().UTC()
}

// UpdateVIM implements vnfm.Manager.
func (m *Manager) UpdateVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	store.ReadAhead(ctx, s, store.Wanted{Lease: records.ReferencesLease})
	vimType, check, err := m.checkConnected(ctx, id, spec)
	if err != nil {
		return nil, nil, err
	}
	before := m.userBefore(ctx, id, check)
	v, _, err := m.write(ctx, s, id, writing{spec: spec, vimType: vimType, check: check})
	if err != nil {
		return nil, nil, err
	}
	m.keepFormer(before)
	m.ExpectVIM(id, false)
	return v, check.Problems, nil
}

// SetOnUnreachable implements vnfm.Manager.
func (m *Manager) SetOnUnreachable(ctx context.Context, id string, value vnfm.OnUnreachable) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	return edit(ctx, s, id, func(en *records.Entry[Record]) error {
		en.Value.OnUnreachable = value
		return en.Update(ctx, s)
	})
}

// writing is what a registration or an update writes into the record of a VIM.
type writing struct {
	spec    vnfm.VIMSpec
	vimType vnfm.VIMType
	check   vnfm.VIMCheck
	// known says that the user knows the id, and so the share.
	known bool
}

// write writes the record of a VIM that is there, with its credentials. The lease of the VIM keeps two that share it from making two
// keys in a vault. It reports whether the vault may have a new key.
func (m *Manager) write(ctx context.Context, s store.Store, id string, w writing) (v *vnfm.VIM, keyed bool, err error) {
	err = m.cfg.WithVIM(ctx, s, id, w.spec.Name, func(ctx context.Context) error {
		en, err := records.Get[Record](ctx, s, store.KindVIM, id)
		if err != nil {
			return err
		}
		// Here, since a vault is changed next, and under the lease below, since an instance or somebody who shares the VIM may
		// have come by then.
		if err := m.checkWrite(ctx, s, &en.Value, w); err != nil {
			return err
		}
		describeVIM(&en.Value.VIM, w.spec, w.vimType, w.check)
		if err := m.sealCredentials(ctx, en, w.spec); err != nil {
			_, keyed = errors.AsType[*seal.InDoubtError](err)
			return err
		}
		keyed = true
		return m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			return edit(ctx, s, id, func(fresh *records.Entry[Record]) error {
				if err := errors.Join(m.checkWrite(ctx, s, &fresh.Value, w), m.cfg.CheckReferences(ctx, s, &en.Value.VIM)); err != nil {
					return err
				}
				fresh.Value.VIM, fresh.Rec.Sealed = en.Value.VIM, en.Rec.Sealed
				fresh.Value.share(w.spec.Share, w.known)
				v = &fresh.Value.VIM
				return fresh.Update(ctx, s)
			})
		})
	})
	if err != nil {
		return nil, keyed, err
	}
	m.holds(id, w.spec.Share)
	return v, keyed, nil
}

// checkWrite refuses what would take a VIM away from instances, or from others who share it.
func (m *Manager) checkWrite(ctx context.Context, s store.Store, r *Record, w writing) error {
	if w.spec.Rebuilt {
		return nil
	}
	after := r.VIM
	describeVIM(&after, w.spec, w.vimType, w.check)
	if err := r.checkShared(len(r.Shares.Others(w.spec.Share)), w.spec.Name, after.Place()); err != nil {
		return err
	}
	if r.Name != w.spec.Name {
		if err := checkRename(ctx, s, r.ID, w.spec, after.Place()); err != nil {
			return err
		}
	}
	return m.checkSameCluster(ctx, s, &r.VIM, w.check)
}

// checkSameCluster refuses to lead a VIM to another cluster or project while instances
// are on the present one: they would be taken for lost, and what they consist of orphaned.
func (m *Manager) checkSameCluster(ctx context.Context, s store.Store, v *vnfm.VIM, check vnfm.VIMCheck) error {
	if v.ClusterUID == "" || check.ClusterUID == "" || v.ClusterUID == check.ClusterUID {
		return nil
	}
	users, err := m.cfg.InstancesOn(ctx, s, v.ID)
	if err != nil || len(users) == 0 {
		return err
	}
	place, other := "cluster", check.Endpoint
	if check.Cloud != nil {
		place, other = "project", fmt.Sprintf("%s of %s", strconv.Quote(check.Cloud.ProjectName), check.Endpoint)
	}
	return fmt.Errorf("VIM %q now leads to another %s, %s, and %s are on the one it was registered with: destroy them first, or register the other %s as a VIM of its own",
		v.Name, place, other, strings.Join(users, ", "), place)
}

// CheckRegisteredVIM checks a registered VIM with the credentials of this run or the sealed ones. What it
// saw is in the answer and not in the record; a VIM that cannot be checked is
// returned together with the error. The limit is the VIM's: the key of its credentials
// may be somewhere else.
func (m *Manager) CheckRegisteredVIM(ctx context.Context, id string, limit time.Duration) (*vnfm.VIM, error) {
	v, creds, perRun, err := m.openVIM(ctx, id)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if v.Kubernetes, creds, err = m.liveCredentials(ctx, v.Kubernetes, creds); err != nil {
		return nil, err
	}
	spec := v.Spec(creds)
	if perRun {
		spec.ClusterUID = ""
	}
	check, err := m.CheckVIM(ctx, spec)
	if err != nil {
		v.Status = vnfm.VIMUnreachable
		return v.recorded(), err
	}
	if perRun {
		if err := m.follow(ctx, &v.VIM, check); err != nil {
			return nil, err
		}
	}
	v.Saw(check)
	return v.recorded(), nil
}

// DeregisterVIM implements vnfm.Manager.
func (m *Manager) DeregisterVIM(ctx context.Context, id string) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	if err := m.cfg.WithReferences(ctx, s, func(ctx context.Context) error { return m.removeRecord(ctx, s, id) }); err != nil {
		return err
	}
	return m.forgetKey(ctx, id)
}

// NameOf is how a VIM is called in messages: by its name, or by its id where its record cannot be read.
func NameOf(ctx context.Context, s store.Store, id string) string {
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return id
	}
	return en.Value.Name
}

// removeRecord removes the record of a VIM that nothing uses, under Config.WithReferences.
func (m *Manager) removeRecord(ctx context.Context, s store.Store, id string) error {
	store.ReadAhead(ctx, s, m.cfg.RemovalWanted(id)...)
	users, err := m.cfg.Users(ctx, s, id)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return &vnfm.InUseError{Kind: records.Noun(store.KindVIM), Name: NameOf(ctx, s, id), By: users}
	}
	if err := m.cfg.RemoveNotes(ctx, s, id); err != nil {
		return err
	}
	if err := s.Delete(ctx, store.KindVIM, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of VIM %q: %w", id, err)
	}
	return nil
}

// forgetKey removes the key of a VIM, which goes last, since the credentials cannot be opened without it. An interrupted
// deregistration is repeated and reaches this step.
func (m *Manager) forgetKey(ctx context.Context, id string) error {
	if err := m.cfg.Keyring.Forget(ctx, id); err != nil {
		return fmt.Errorf("the record of VIM %q is removed, the key of its credentials is not: %w", id, err)
	}
	return nil
}
