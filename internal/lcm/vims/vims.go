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
	// Acknowledged is set by the first read of the VIM: the user knows its id. A registration
	// that was killed before is resumed by the next one.
	Acknowledged bool `json:"acknowledged"`
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
	// InstancesOn names the instances that are, or have a part, on a VIM, and Users whatever
	// needs it.
	InstancesOn func(ctx context.Context, s store.Store, id string) ([]string, error)
	Users       func(ctx context.Context, s store.Store, id string) ([]string, error)
	// RemoveNotes removes what other records note of a VIM that is deregistered.
	RemoveNotes func(ctx context.Context, s store.Store, id string) error
}

// Manager registers VIMs. It is safe for concurrent use.
type Manager struct {
	cfg Config
	// answered holds the ids of the VIMs that this process has registered and returned: the
	// user knows them although no read has acknowledged them yet.
	answered sync.Map
	// verified holds the ids of the VIMs whose connection of this run was seen to lead to the
	// cluster or project of the record.
	verified sync.Map
}

// New returns a Manager.
func New(cfg Config) *Manager { return &Manager{cfg: cfg} }

// CheckRecord is called by package records when the record is read.
func (r *Record) CheckRecord(id string) error { return records.CheckID(r.ID, id) }

// Get reads a VIM without its credentials, and acknowledges nothing.
func Get(ctx context.Context, s store.Store, id string) (*vnfm.VIM, error) {
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, err
	}
	return &en.Value.VIM, nil
}

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

// RegisterVIM implements vnfm.Manager.
func (m *Manager) RegisterVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	known := id != ""
	if !known {
		interrupted, err := m.interruptedRegistration(ctx, s, spec)
		if err != nil {
			return nil, nil, err
		}
		if interrupted != "" {
			m.answered.Store(interrupted, true)
			return m.UpdateVIM(ctx, interrupted, spec)
		}
		id = uuid.NewString()
	}
	used, err := m.connected(id, spec)
	if err != nil {
		return nil, nil, err
	}
	check, err := m.CheckVIM(ctx, used)
	if err != nil {
		return nil, nil, err
	}
	en := &records.Entry[Record]{Rec: store.Record{Kind: store.KindVIM, ID: id}}
	en.Value.ID, en.Value.Acknowledged = id, known
	if en.Value.CreatedAt = spec.CreatedAt; en.Value.CreatedAt.IsZero() {
		en.Value.CreatedAt = time.Now().UTC()
	}
	describeVIM(&en.Value.VIM, spec, used.Type, check)
	// Set before the record exists: a concurrent registration must not resume this one.
	m.answered.Store(id, true)
	// The record is written before its key in a vault: when the process is killed in between,
	// the key is found by the id.
	if err := m.cfg.WriteReferring(ctx, s, &en.Value.VIM, func(ctx context.Context) error { return en.Create(ctx, s) }); err != nil {
		if errors.Is(err, store.ErrExists) {
			return m.UpdateVIM(ctx, id, spec)
		}
		return nil, nil, err
	}
	if err := m.sealCredentials(ctx, en, spec); err != nil {
		_, inDoubt := errors.AsType[*seal.InDoubtError](err)
		return nil, nil, m.undoRegistration(ctx, s, id, err, inDoubt)
	}
	if err := en.Update(ctx, s); err != nil {
		return nil, nil, m.undoRegistration(ctx, s, id, err, true)
	}
	return &en.Value.VIM, check.Problems, nil
}

// undoRegistration takes back what a registration that failed has written. While a key may be
// in the vault that cannot be removed, the record stays, and the next registration of
// the VIM goes on with both.
func (m *Manager) undoRegistration(ctx context.Context, s store.Store, id string, failure error, keyed bool) error {
	after, stop := records.Detached(ctx)
	defer stop()
	if keyed && m.cfg.Keyring.Forget(after, id) != nil {
		m.answered.Delete(id)
		return failure
	}
	if err := s.Delete(after, store.KindVIM, id); err != nil {
		return errors.Join(failure, fmt.Errorf("removing the record of VIM %q again: %w", id, err))
	}
	return failure
}

// interruptedRegistration finds the record of a registration of the same VIM that
// no process has returned.
func (m *Manager) interruptedRegistration(ctx context.Context, s store.Store, spec vnfm.VIMSpec) (string, error) {
	all, err := records.List[Record](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return "", err
	}
	for _, en := range all {
		v := en.Value
		if _, answered := m.answered.Load(v.ID); !answered && !v.Acknowledged && v.Name == spec.Name && v.SameServer(spec) {
			return v.ID, nil
		}
	}
	return "", nil
}

// describeVIM writes into a VIM what a spec and a check say of it. The type is that of the
// connection that was checked.
func describeVIM(v *vnfm.VIM, spec vnfm.VIMSpec, t vnfm.VIMType, check vnfm.VIMCheck) {
	v.Name, v.Description, v.Type = spec.Name, spec.Description, t
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
	used, err := m.connected(id, spec)
	if err != nil {
		return nil, nil, err
	}
	check, err := m.CheckVIM(ctx, used)
	if err != nil {
		return nil, nil, err
	}
	en, err := records.Get[Record](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, nil, err
	}
	before := en.Value.VIM
	stays := func(ctx context.Context) error {
		if spec.Rebuilt {
			return nil
		}
		return m.checkSameCluster(ctx, s, &before, check)
	}
	// Here, since a vault is changed next, and under the lease below, since an instance may
	// have come by then.
	if err := stays(ctx); err != nil {
		return nil, nil, err
	}
	describeVIM(&en.Value.VIM, spec, used.Type, check)
	if err := m.sealCredentials(ctx, en, spec); err != nil {
		return nil, nil, err
	}
	err = m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		if err := errors.Join(stays(ctx), m.cfg.CheckReferences(ctx, s, &en.Value.VIM)); err != nil {
			return err
		}
		return en.Update(ctx, s)
	})
	if err != nil {
		return nil, nil, err
	}
	return &en.Value.VIM, check.Problems, nil
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
		// Somebody else who wrote at the same time acknowledged it as well.
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
		// A look by name does not acknowledge: it may be somebody else's.
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
	err = m.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
		users, err := m.cfg.Users(ctx, s, id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return &vnfm.InUseError{Kind: records.Noun(store.KindVIM), ID: id, By: users}
		}
		if err := m.cfg.RemoveNotes(ctx, s, id); err != nil {
			return err
		}
		if err := s.Delete(ctx, store.KindVIM, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("removing the record of VIM %q: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The key goes last, since the credentials cannot be opened without it. An interrupted
	// deregistration is repeated and reaches this step.
	if err := m.cfg.Keyring.Forget(ctx, id); err != nil {
		return fmt.Errorf("the record of VIM %q is removed, the key of its credentials is not: %w", id, err)
	}
	return nil
}
