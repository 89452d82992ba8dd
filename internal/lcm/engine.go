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
	"time"

	"github.com/google/uuid"

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
	// Clusters makes workload clusters through Cluster API; nil makes none.
	Clusters vnfm.ClusterDriver
	// Management are the management drivers by the name that a VNFD gives.
	Management map[string]vnfm.ManagementDriver
	// Registries installs private registries; nil installs none.
	Registries vnfm.RegistryDriver
	// Concurrency bounds the requests in flight of one operation.
	Concurrency int
	// Progress, when set, hears every line of progress of an operation.
	Progress func(ctx context.Context, op vnfm.Operation, line string)
}

// Engine is the embedded VNF manager. New opens nothing; the store is opened at
// the first use. All methods are safe for concurrent use.
type Engine struct {
	cfg Config
	// id tells this engine from those of other processes.
	id string

	openMu sync.Mutex
	opened *seal.Store

	// read holds the packages that this process has read, so that an instance
	// can be previewed in the same plan that introduces its package.
	readMu sync.Mutex
	read   map[string]*vnfm.Package

	// deciding is the turn of this process's callers of withReferences; waiting for it ends
	// with their context.
	deciding chan struct{}

	// contents are the small files of packages that this process has opened.
	contents contentCache

	// answered holds the ids of the VIMs and instances whose creation this process
	// has answered: Terraform has heard of them although no Read has acknowledged them.
	answered sync.Map

	// applying is set once this process changes something: Terraform plans in one
	// process and applies in another, where it plans each object once more.
	applying atomic.Bool
}

var _ vnfm.Manager = (*Engine)(nil)

// New returns an Engine.
func New(cfg Config) *Engine {
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 16
	}
	return &Engine{cfg: cfg, id: uuid.NewString(), read: map[string]*vnfm.Package{}, deciding: make(chan struct{}, 1)}
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
	e.opened = seal.NewStore(s, e.cfg.Keyring)
	return e.opened, nil
}

func (e *Engine) driver(t vnfm.VIMType) (vnfm.InfraDriver, error) {
	d, ok := e.cfg.Drivers[t]
	if !ok {
		return nil, fmt.Errorf("there is no infra driver for VIMs of type %q", t)
	}
	return d, nil
}

// leaseLost reports whether the objects of the work may be in another process's hands.
func leaseLost(err error) bool { return errors.As(err, new(*vnfm.LeaseLostError)) }

// work takes the lease of that name and returns a context that ends when the
// lease is lost, and a function that gives it back. What is written with that context,
// and with those derived from it, is refused once somebody else has had the lease.
func (e *Engine) work(ctx context.Context, s store.Store, name, object string) (context.Context, func(), error) {
	e.applying.Store(true)
	return e.hold(ctx, s, name, object)
}

// hold is work of a process that may be planning, which keeps what it has found.
func (e *Engine) hold(ctx context.Context, s store.Store, name, object string) (context.Context, func(), error) {
	lease, err := s.Acquire(ctx, name, store.Holder())
	if err != nil {
		var held *store.HeldError
		if errors.As(err, &held) {
			return nil, nil, &vnfm.BusyError{Object: object, Holder: held.Holder, Since: held.Since}
		}
		return nil, nil, fmt.Errorf("taking the lease of %s: %w", object, err)
	}
	work, cancel := vnfm.WithCancelCause(store.Under(ctx, lease.Fence()))
	done := make(chan struct{})
	go func() {
		select {
		case <-lease.Lost():
			cancel(&vnfm.LeaseLostError{Object: object})
		case <-done:
		}
	}()
	return work, func() {
		close(done)
		cancel(nil)
		release, stop := detached(ctx)
		defer stop()
		// A lease that cannot be given back expires by itself.
		_ = lease.Release(release)
	}, nil
}

// detachedLimit bounds what is still written after the caller gave up: an
// interrupted apply must return within two seconds.
const detachedLimit = 1500 * time.Millisecond

// detached returns a context for the last writes of an operation, which must
// happen although ctx has ended.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), detachedLimit)
}
