// Package lcm is the embedded VNF manager: it keeps records, runs LCM operations
// one at a time per instance and drives the infra drivers. It implements
// vnfm.Manager and knows neither Terraform nor any VIM.
package lcm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/catalog"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parameters"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/registries"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Config says what an Engine stands on.
type Config struct {
	// OpenStore opens the store. It is called once, at the first use.
	OpenStore func(ctx context.Context) (store.Store, error)
	// Keyring seals credentials and package contents.
	Keyring *seal.Keyring
	// Drivers are the infra drivers by type of VIM.
	Drivers map[vnfm.VIMType]vnfm.InfraDriver
	// VIMs are the connections that come with this run.
	VIMs vnfm.VIMAccesses
	// Params are the parameters of management drivers that come with this run.
	Params vnfm.RunParams
	// Clusters makes workload clusters through Cluster API; nil makes none.
	Clusters vnfm.ClusterDriver
	// Management are the management drivers by the name that a VNFD gives.
	Management map[string]vnfm.ManagementDriver
	// Registries installs private registries; nil installs none.
	Registries vnfm.RegistryDriver
	// Concurrency bounds the requests in flight of one operation.
	Concurrency int
	// RunID is the same for all processes of one run: those that plan, and those that apply
	// what was planned.
	RunID string
	// Progress, when set, is called with every line of progress of an operation, and when it enters a state.
	Progress func(ctx context.Context, p vnfm.Progress)
}

// Engine is the embedded VNF manager. New opens nothing; the store is opened at
// the first use. All methods are safe for concurrent use.
type Engine struct {
	// The parts of the port that are not operations of instances.
	vnfm.VIMManager
	vnfm.PackageManager
	vnfm.ChartManager
	vnfm.RegistryManager

	cfg Config
	// id tells this engine from those of other processes.
	id string

	// params is which driver takes which additional parameter.
	params *parameters.Table

	openMu sync.Mutex
	opened *seal.Store

	// catalog keeps packages and charts, vims the VIMs with their credentials.
	catalog *catalog.Catalog
	vims    *vims.Manager
	// registries installs private registries.
	registries *registries.Manager

	// ownKey keys digests that only this process compares.
	ownKey []byte

	// deciding is whose turn it is of this process's callers of withReferences.
	deciding decisions

	// uses knows users of packages.
	uses packageUse

	// created are the creations that Terraform may not have in its state yet.
	created creations

	// plannedAs has the place and name that this process has planned for instances that exist, by their ids.
	plannedAs sync.Map

	// applying is set once this process changes something: objects that are planned after
	// that were planned before, by another process of the run.
	applying atomic.Bool
}

var _ vnfm.Manager = (*Engine)(nil)

// New returns an Engine.
func New(cfg Config) *Engine {
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 16
	}
	e := &Engine{cfg: cfg, id: uuid.NewString(), params: paramTable(&cfg), deciding: decisions{taken: make(chan struct{}, 1)}, ownKey: newKey()}
	e.catalog = catalog.New(catalog.Config{
		Store: e.store, WithReferences: e.withReferences, PackageInUse: e.uses.inUse, PackageUse: e.uses.wanted, Concurrency: cfg.Concurrency,
	})
	e.vims, e.registries = e.newVIMs(), e.newRegistries()
	e.VIMManager, e.PackageManager, e.ChartManager, e.RegistryManager = e.vims, e.catalog, e.catalog, e.registries
	return e
}

// noteChange notes that this process changes something, which a refresh does not.
func (e *Engine) noteChange(ctx context.Context) {
	if !vnfm.IsRefresh(ctx) {
		e.applying.Store(true)
	}
}

// RegisterVIM implements vnfm.Manager.
func (e *Engine) RegisterVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.noteChange(ctx)
	return e.vims.RegisterVIM(ctx, id, spec)
}

// UpdateVIM implements vnfm.Manager.
func (e *Engine) UpdateVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.applying.Store(true)
	return e.vims.UpdateVIM(ctx, id, spec)
}

// OnboardPackage implements vnfm.Manager.
func (e *Engine) OnboardPackage(ctx context.Context, spec vnfm.PackageSpec, wantID string) (*vnfm.Package, vnfm.Problems, error) {
	e.noteChange(ctx)
	return e.catalog.OnboardPackage(ctx, spec, wantID)
}

// Close closes the store when it was opened.
func (e *Engine) Close() error {
	e.openMu.Lock()
	defer e.openMu.Unlock()
	if e.opened == nil {
		return nil
	}
	err := e.opened.Close()
	e.opened = nil
	return err
}

// store opens the store at the first call. A failure is not remembered: the next
// call tries again.
func (e *Engine) store(ctx context.Context) (*seal.Store, error) {
	e.openMu.Lock()
	defer e.openMu.Unlock()
	if e.opened != nil {
		return e.opened, nil
	}
	s, err := e.cfg.OpenStore(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	e.opened = seal.NewStore(store.KeepUnwritten(store.Traced(s)), e.cfg.Keyring)
	return e.opened, nil
}

// leaseLost reports whether the objects of the work may be in another process's hands.
func leaseLost(err error) bool { return errors.As(err, new(*vnfm.LeaseLostError)) }

// lockForChange takes the lease of that name and returns a context that ends when the
// lease is lost, and a function that gives it back. Writes with that context, and
// with those derived from it, are rejected once somebody else has had the lease.
func (e *Engine) lockForChange(ctx context.Context, s store.Store, name, object string) (context.Context, func(), error) {
	e.applying.Store(true)
	return e.lock(ctx, s, name, object)
}

// lock is lockForChange of a process that may be planning, whose dry runs stay valid.
func (e *Engine) lock(ctx context.Context, s store.Store, name, object string) (context.Context, func(), error) {
	lease, err := acquire(ctx, s, name, object, process.Name())
	if err != nil {
		return nil, nil, err
	}
	work, done := underLease(ctx, lease, object)
	return work, done, nil
}

// acquire takes the lease of that name for a holder. A *vnfm.BusyError says who has it.
func acquire(ctx context.Context, s store.Store, name, object, holder string) (store.Lease, error) {
	lease, err := s.Acquire(ctx, name, holder)
	var held *store.HeldError
	switch {
	case errors.As(err, &held):
		busy := &vnfm.BusyError{Object: object, Holder: process.Describe(held.Holder), Since: held.Since, Runs: process.Runs(held.Holder)}
		if !busy.Runs {
			busy.Renewed, busy.Expires = held.Renewed, held.Expires
		}
		return nil, busy
	case err != nil:
		return nil, fmt.Errorf("taking the lease of %s: %w", object, err)
	}
	return lease, nil
}

// underLease returns a context that ends when a lease is lost, and a function that gives it back.
func underLease(ctx context.Context, lease store.Lease, object string) (context.Context, func()) {
	work, stop := workUnder(ctx, lease, object)
	return work, sync.OnceFunc(func() {
		stop()
		releaseLease(ctx, lease)
	})
}

// releaseLease gives a lease back, whether ctx has ended or not. One that cannot be given back expires by itself.
func releaseLease(ctx context.Context, lease store.Lease) {
	release, stop := records.Detached(ctx)
	defer stop()
	_ = lease.Release(release)
}

// workUnder returns a context that ends when a lease is lost, and a function that ends it without giving the lease back.
func workUnder(ctx context.Context, lease store.Lease, object string) (context.Context, func()) {
	work, cancel := vnfm.WithCancelCause(store.Under(ctx, lease.Fence()))
	done := make(chan struct{})
	go func() {
		select {
		case <-lease.Lost():
			cancel(&vnfm.LeaseLostError{Object: object, Cause: lease.Unanswered()})
		case <-done:
		}
	}()
	return work, func() {
		close(done)
		cancel(nil)
	}
}
