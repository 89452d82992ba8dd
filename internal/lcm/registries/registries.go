// Package registries installs private registries on hosts and keeps their records.
package registries

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// errNoRegistries says that the manager was made without a driver for registries.
var errNoRegistries = errors.New("there is no driver for private registries")

// Config says what a Manager stands on.
type Config struct {
	// Store opens the store, which is open after the first call.
	Store func(ctx context.Context) (*seal.Store, error)
	// Driver installs registries; nil installs none.
	Driver vnfm.RegistryDriver
	// Lock takes the lease of a name. The context that it returns ends when the lease is lost,
	// and the function gives it back.
	Lock func(ctx context.Context, s store.Store, name, object string) (context.Context, func(), error)
	// WriteReferring calls a function that writes a registry while what it refers to is in the
	// store.
	WriteReferring func(ctx context.Context, s store.Store, spec *vnfm.RegistrySpec, write func(ctx context.Context) error) error
	// Resources looks what an instance has on its VIM.
	Resources func(ctx context.Context, instance *records.Entry[vnfm.Instance]) (*vnfm.ResourceInfo, error)
	// Forgets reports whether what cannot be reached is forgotten: by its own argument, else by that of a VIM, else by a default.
	Forgets func(ctx context.Context, vimID string, own, fallback vnfm.OnUnreachable) bool
	// Package finds a package, and RemoveUnusedPackages removes unused superseded packages.
	Package              func(ctx context.Context, id string) (*vnfm.Package, error)
	RemoveUnusedPackages func(ctx context.Context, s store.Store) error
	// Progress, when set, is called with every line of progress.
	Progress func(ctx context.Context, p vnfm.Progress)
}

// Manager installs registries. It is safe for concurrent use.
type Manager struct{ cfg Config }

// New returns a Manager.
func New(cfg Config) *Manager { return &Manager{cfg: cfg} }

// CheckRegistry implements vnfm.Manager.
func (m *Manager) CheckRegistry(ctx context.Context, spec vnfm.RegistrySpec) (vnfm.Problems, error) {
	if m.cfg.Driver == nil {
		return nil, errNoRegistries
	}
	content, err := m.content(ctx, &spec)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return nil, err
	}
	return m.cfg.Driver.CheckRegistry(&spec, content), nil
}

// newEntry opens the store, and returns a record that it does not have yet.
func (m *Manager) newEntry(ctx context.Context, id string, spec *vnfm.RegistrySpec) (*seal.Store, *records.Entry[vnfm.Registry], error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, nil, err
	}
	if m.cfg.Driver == nil {
		return nil, nil, errNoRegistries
	}
	return s, &records.Entry[vnfm.Registry]{Rec: store.Record{Kind: store.KindRegistry, ID: id, Owner: spec.InstanceID}}, nil
}

// InstallRegistry implements vnfm.Manager.
func (m *Manager) InstallRegistry(ctx context.Context, id string, spec vnfm.RegistrySpec) (*vnfm.Registry, error) {
	s, en, err := m.newEntry(ctx, id, &spec)
	if err != nil {
		return nil, err
	}
	fresh := id == ""
	if fresh {
		en.Rec.ID = uuid.NewString()
	} else if found, err := records.Get[vnfm.Registry](ctx, s, store.KindRegistry, id); err == nil {
		en = found
	} else if !errors.Is(err, vnfm.ErrNotFound) {
		return nil, err
	} else {
		fresh = true
	}
	ctx, done, err := m.lock(ctx, s, registryLockTimeout, "registry/"+en.Rec.ID, "private registry "+strconv.Quote(spec.Name))
	if err != nil {
		return nil, err
	}
	defer done()
	if err := m.checkHostKeys(ctx, s, en); err != nil {
		return nil, err
	}
	en.Value.ID, en.Value.Spec = en.Rec.ID, spec
	takePins(&en.Value)
	h, err := m.host(ctx, &en.Value)
	if err == nil {
		h.Content, err = m.content(ctx, &spec)
	}
	if err != nil {
		return nil, err
	}
	ctx, left, err := m.onHost(ctx, s, h)
	if err != nil {
		return nil, err
	}
	defer left()
	en.Value.Address = h.Address
	write := func(ctx context.Context, change func(ctx context.Context, s store.Store) error) error {
		if err := m.sealSecrets(ctx, en); err != nil {
			return err
		}
		return m.cfg.WriteReferring(ctx, s, &spec, func(ctx context.Context) error { return change(ctx, s) })
	}
	// What a failed or killed installation leaves on the host is found by its record.
	recorded := false
	h.Begin = func(ctx context.Context) error {
		if !fresh {
			return nil
		}
		err := write(ctx, en.Create)
		recorded = err == nil
		return err
	}
	state, err := m.cfg.Driver.InstallRegistry(ctx, h)
	if err != nil {
		if recorded {
			return &en.Value, err
		}
		return nil, err
	}
	en.Value.State = *state
	err = write(ctx, en.Update)
	if err == nil && !fresh {
		err = m.cfg.RemoveUnusedPackages(ctx, s)
	}
	return &en.Value, err
}

// Registry implements vnfm.Manager.
func (m *Manager) Registry(ctx context.Context, id string) (*vnfm.Registry, error) {
	en, err := m.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return &en.Value, nil
}

// Registries implements vnfm.Manager.
func (m *Manager) Registries(ctx context.Context, f vnfm.RegistryFilter) ([]vnfm.Registry, error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	return records.Values(ctx, s, store.KindRegistry, func(r *vnfm.Registry) (vnfm.Registry, bool) { return *r, f.Selects(r) })
}

// ReadRegistry implements vnfm.Manager. The state is in the answer and not in the record.
func (m *Manager) ReadRegistry(ctx context.Context, id string) (*vnfm.Registry, error) {
	en, err := m.open(ctx, id)
	if errors.As(err, new(*vnfm.EditedError)) || errors.Is(err, vnfm.ErrUnopened) {
		return &en.Value, err
	}
	if err != nil {
		return nil, err
	}
	h, err := m.host(ctx, &en.Value)
	if err == nil {
		h.Content, err = m.content(ctx, &en.Value.Spec)
	}
	if err != nil {
		return &en.Value, err
	}
	state, err := m.cfg.Driver.ReadRegistry(ctx, h)
	if err != nil {
		return &en.Value, err
	}
	en.Value.State, en.Value.Address = *state, h.Address
	return &en.Value, nil
}

const (
	// registryLockTimeout is how long an operation waits for another one on the same registry. A process that was killed is waited
	// for until its lease expires.
	registryLockTimeout = time.Minute
	// hostLockTimeout is how long an installation waits for others on the same host, each of which
	// loads an engine and an image.
	hostLockTimeout = time.Hour
)

// lock takes a lease as Config.Lock does, after a wait of at most limit for another process.
func (m *Manager) lock(ctx context.Context, s store.Store, limit time.Duration, name, object string) (work context.Context, done func(), err error) {
	err = vnfm.RetryWhileBusy(vnfm.WithLockTimeout(ctx, limit), func() (err error) {
		work, done, err = m.cfg.Lock(ctx, s, name, object)
		return err
	})
	return work, done, err
}

// onHost waits until no other registry is installed on, or removed from, a host: they share
// its container engine, its package manager and the directories that they make.
func (m *Manager) onHost(ctx context.Context, s store.Store, h *vnfm.RegistryHost) (work context.Context, left func(), err error) {
	return m.lock(ctx, s, hostLockTimeout, "host/"+h.Address, "the host "+h.Address)
}

// open reads a record with its secrets. With an error of these it returns what is
// not secret.
func (m *Manager) open(ctx context.Context, id string) (*records.Entry[vnfm.Registry], error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	if m.cfg.Driver == nil {
		return nil, errNoRegistries
	}
	en, err := records.Get[vnfm.Registry](ctx, s, store.KindRegistry, id)
	if err != nil {
		return nil, err
	}
	if len(en.Rec.Sealed) == 0 {
		return en, nil
	}
	to, err := destination(&en.Value)
	if err != nil {
		return nil, err
	}
	plain, err := s.OpenFor(ctx, id, to, en.Rec.Sealed)
	if err != nil {
		return en, records.EditedError(err, vnfm.EditedRegistry, fmt.Sprintf("opening the credentials of private registry %q", en.Value.Spec.Name))
	}
	secrets := map[string]vnfm.Secret{}
	for name, text := range plain {
		secrets[name] = vnfm.Secret(text)
	}
	en.Value.Spec.SetSecrets(secrets)
	return en, nil
}

func (m *Manager) sealSecrets(ctx context.Context, en *records.Entry[vnfm.Registry]) error {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return err
	}
	plain := map[string]string{}
	for name, secret := range en.Value.Spec.Secrets() {
		plain[name] = secret.Reveal()
	}
	to, err := destination(&en.Value)
	if err != nil {
		return err
	}
	if en.Rec.Sealed, err = s.SealFor(ctx, en.Rec.ID, to, plain); err != nil {
		return fmt.Errorf("sealing the credentials of private registry %q: %w", en.Value.Spec.Name, err)
	}
	return nil
}

// checkHostKeys returns an error, once, for a record whose host keys were edited, and removes
// the keys. This gives an editor of the store no more power than deleting them.
func (m *Manager) checkHostKeys(ctx context.Context, s *seal.Store, en *records.Entry[vnfm.Registry]) error {
	if len(en.Rec.Sealed) == 0 {
		return nil
	}
	to, err := destination(&en.Value)
	if err != nil {
		return err
	}
	_, err = s.OpenFor(ctx, en.Rec.ID, to, en.Rec.Sealed)
	if _, ok := errors.AsType[*seal.EditedError](err); !ok {
		return nil
	}
	refused := records.EditedError(err, vnfm.EditedHostKeys, fmt.Sprintf("opening the credentials of private registry %q", en.Value.Spec.Name))
	en.Value.HostKeys, en.Rec.Sealed = nil, nil
	return errors.Join(refused, en.Update(ctx, s))
}

// destination is where the secrets of a private registry go: what was asked for,
// and the keys of the hosts that were met.
func destination(r *vnfm.Registry) (seal.Destination, error) {
	return seal.DestinationOf(map[string]any{"spec": r.Spec, "host_keys": r.HostKeys})
}
