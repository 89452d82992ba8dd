package lcm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// errNoRegistries says that the manager was made without a driver for registries.
var errNoRegistries = errors.New("there is no driver for private registries")

// CheckRegistry implements vnfm.Manager.
func (e *Engine) CheckRegistry(ctx context.Context, spec vnfm.RegistrySpec) (vnfm.Problems, error) {
	if e.cfg.Registries == nil {
		return nil, errNoRegistries
	}
	content, err := e.registryContent(ctx, &spec)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		return nil, err
	}
	return e.cfg.Registries.CheckRegistry(&spec, content), nil
}

// InstallRegistry implements vnfm.Manager. There is no record before the registry is
// installed: what an interrupted installation has left on the host is found there by the
// next one.
func (e *Engine) InstallRegistry(ctx context.Context, id string, spec vnfm.RegistrySpec) (*vnfm.Registry, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if e.cfg.Registries == nil {
		return nil, errNoRegistries
	}
	en := &entry[vnfm.Registry]{rec: store.Record{Kind: store.KindRegistry, ID: id, Owner: spec.InstanceID}}
	fresh := id == ""
	if fresh {
		en.rec.ID = uuid.NewString()
	} else if found, err := get[vnfm.Registry](ctx, s, store.KindRegistry, id); err == nil {
		en = found
	} else if !errors.Is(err, vnfm.ErrNotFound) {
		return nil, err
	} else {
		fresh = true
	}
	ctx, done, err := e.work(ctx, s, "registry/"+en.rec.ID, "private registry "+quote(spec.Name))
	if err != nil {
		return nil, err
	}
	defer done()
	if err := e.checkRegistry(ctx, s, en); err != nil {
		return nil, err
	}
	en.value.ID, en.value.Spec = en.rec.ID, spec
	h, err := e.registryHost(ctx, &en.value)
	if err == nil {
		h.Content, err = e.registryContent(ctx, &spec)
	}
	if err != nil {
		return nil, err
	}
	ctx, left, err := e.onHost(ctx, s, h)
	if err != nil {
		return nil, err
	}
	defer left()
	state, err := e.cfg.Registries.InstallRegistry(ctx, h)
	if err != nil {
		return nil, err
	}
	en.value.State, en.value.Address = *state, h.Address
	if err := e.sealRegistry(ctx, en); err != nil {
		return nil, err
	}
	write := en.update
	if fresh {
		write = en.create
	}
	err = e.refer(ctx, s, registryNeeds(&spec), func(ctx context.Context) error { return write(ctx, s) })
	if err == nil && !fresh {
		err = e.leavePackages(ctx, s)
	}
	return &en.value, err
}

// Registry implements vnfm.Manager.
func (e *Engine) Registry(ctx context.Context, id string) (*vnfm.Registry, error) {
	en, err := e.openRegistry(ctx, id)
	if err != nil {
		return nil, err
	}
	return &en.value, nil
}

// ReadRegistry implements vnfm.Manager. What it sees is in the answer and not in the record.
func (e *Engine) ReadRegistry(ctx context.Context, id string) (*vnfm.Registry, error) {
	en, err := e.openRegistry(ctx, id)
	if errors.As(err, new(*vnfm.EditedError)) {
		return &en.value, err
	}
	if err != nil {
		return nil, err
	}
	h, err := e.registryHost(ctx, &en.value)
	if err == nil {
		h.Content, err = e.registryContent(ctx, &en.value.Spec)
	}
	if err != nil {
		return &en.value, err
	}
	state, err := e.cfg.Registries.ReadRegistry(ctx, h)
	if err != nil {
		return &en.value, err
	}
	en.value.State, en.value.Address = *state, h.Address
	return &en.value, nil
}

// RemoveRegistry implements vnfm.Manager.
func (e *Engine) RemoveRegistry(ctx context.Context, id string, data bool) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	en, err := e.openRegistry(ctx, id)
	if errors.Is(err, vnfm.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, done, err := e.work(ctx, s, "registry/"+id, "private registry "+quote(en.value.Spec.Name))
	if err != nil {
		return err
	}
	defer done()
	h, err := e.registryHost(ctx, &en.value)
	switch {
	case errors.Is(err, vnfm.ErrNotFound) && en.value.Spec.InstanceID != "":
		// Its server went with the instance.
	case err != nil:
		return err
	default:
		work, left, err := e.onHost(ctx, s, h)
		if err != nil {
			return err
		}
		defer left()
		if err := e.cfg.Registries.RemoveRegistry(work, h, data); err != nil {
			return err
		}
	}
	if err := s.Delete(ctx, store.KindRegistry, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of private registry %q: %w", en.value.Spec.Name, err)
	}
	return e.leavePackages(ctx, s)
}

// hostPatience is how long an installation waits for others on the same host, each of which
// loads an engine and an image.
const hostPatience = time.Hour

// onHost waits until no other registry is installed on, or removed from, a host: they share
// its container engine, its package manager and the directories that they make. It takes
// the lease of the host, as work does.
func (e *Engine) onHost(ctx context.Context, s store.Store, h *vnfm.RegistryHost) (work context.Context, left func(), err error) {
	err = vnfm.AwaitTurn(vnfm.WithPatience(ctx, hostPatience), func() (err error) {
		work, left, err = e.work(ctx, s, "host/"+h.Address, "the host "+h.Address)
		return err
	})
	return work, left, err
}

// openRegistry reads a record with its secrets. With an error of these it returns what is
// not secret.
func (e *Engine) openRegistry(ctx context.Context, id string) (*entry[vnfm.Registry], error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	if e.cfg.Registries == nil {
		return nil, errNoRegistries
	}
	en, err := get[vnfm.Registry](ctx, s, store.KindRegistry, id)
	if err != nil {
		return nil, err
	}
	if len(en.rec.Sealed) == 0 {
		return en, nil
	}
	to, err := registryDestination(&en.value)
	if err != nil {
		return nil, err
	}
	plain, err := s.OpenFor(ctx, id, to, en.rec.Sealed)
	if err != nil {
		return en, edited(err, fmt.Sprintf("opening the credentials of private registry %q", en.value.Spec.Name),
			"find out who writes the store, and apply its vnf_private_registry, which installs it as it is configured")
	}
	secrets := map[string]vnfm.Secret{}
	for name, text := range plain {
		secrets[name] = vnfm.Secret(text)
	}
	en.value.Spec.SetSecrets(secrets)
	return en, nil
}

func (e *Engine) sealRegistry(ctx context.Context, en *entry[vnfm.Registry]) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	plain := map[string]string{}
	for name, secret := range en.value.Spec.Secrets() {
		plain[name] = secret.Reveal()
	}
	to, err := registryDestination(&en.value)
	if err != nil {
		return err
	}
	if en.rec.Sealed, err = s.SealFor(ctx, en.rec.ID, to, plain); err != nil {
		return fmt.Errorf("sealing the credentials of private registry %q: %w", en.value.Spec.Name, err)
	}
	return nil
}

// registryHost finds the host of a registry. Its content is left to those who read it: a
// registry is removed without.
func (e *Engine) registryHost(ctx context.Context, r *vnfm.Registry) (*vnfm.RegistryHost, error) {
	spec := &r.Spec
	h := &vnfm.RegistryHost{Spec: spec, Address: spec.SSH.Address, HostKeys: &recordKeys{registry: r}, Progress: func(string) {}}
	if e.cfg.Progress != nil {
		h.Progress = func(line string) {
			e.cfg.Progress(ctx, vnfm.Operation{InstanceID: r.ID, Type: "INSTALL_REGISTRY"}, line)
		}
	}
	h.Pin = "host/" + h.Address
	if h.Address == "" {
		i, err := e.instanceRecord(ctx, spec.InstanceID)
		if err != nil {
			return nil, err
		}
		has, err := e.resourcesOf(ctx, i)
		if err != nil {
			return nil, err
		}
		if h.Address, h.Pin, err = serverAt(&i.value, has, spec.ConnectionPoint); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (e *Engine) instanceRecord(ctx context.Context, id string) (*entry[vnfm.Instance], error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	return get[vnfm.Instance](ctx, s, store.KindInstance, id)
}

// serverAt is the one server of an instance that has a connection point: its address, and
// the name under which its key is kept.
func serverAt(i *vnfm.Instance, has *vnfm.ResourceInfo, point string) (address, pin string, err error) {
	known := map[string]bool{}
	for _, c := range has.VNFCs {
		for name := range c.ConnectionPoints {
			known[name] = true
		}
		addresses := c.ConnectionPoints[point]
		if len(addresses) == 0 || c.State == vnfm.VNFCGone {
			continue
		}
		if address != "" {
			return "", "", fmt.Errorf("VNF instance %q has several servers with connection point %s, and a registry is on one: give its address as host", i.Name, point)
		}
		address, pin = c.Dialled(point), "vnfc/"+c.ID
	}
	if address == "" {
		return "", "", fmt.Errorf("VNF instance %q has no server with connection point %q; its servers have %s", i.Name, point, listOf(slices.Sorted(maps.Keys(known))))
	}
	return address, pin, nil
}

// registryContent is where the image of a registry is read from; nil when none is.
func (e *Engine) registryContent(ctx context.Context, spec *vnfm.RegistrySpec) (fs.FS, error) {
	if spec.ImagePath == "" {
		return nil, nil
	}
	if filepath.IsAbs(spec.ImagePath) {
		return localFile{FS: os.DirFS(filepath.Dir(spec.ImagePath)), path: spec.ImagePath}, nil
	}
	id := spec.PackageID
	if id == "" && spec.InstanceID != "" {
		i, err := e.instanceRecord(ctx, spec.InstanceID)
		if err != nil {
			return nil, err
		}
		id = i.value.PackageID
	}
	if id == "" {
		return nil, fmt.Errorf("image_path %s is relative, and there is no package that it could be a file of: give package_id, or an absolute path of this machine", spec.ImagePath)
	}
	p, err := e.packageOf(ctx, id)
	if err != nil {
		return nil, err
	}
	return p.Content, nil
}

// localFile is one file of this machine under the path by which it was given.
type localFile struct {
	fs.FS
	path string
}

// Open implements fs.FS.
func (f localFile) Open(name string) (fs.File, error) {
	if name == f.path {
		name = filepath.Base(f.path)
	}
	return f.FS.Open(name)
}

// recordKeys keeps keys of hosts in the record of a registry, which is written when it is
// installed.
type recordKeys struct {
	mu       sync.Mutex
	registry *vnfm.Registry
}

// Pinned implements vnfm.HostKeys.
func (k *recordKeys) Pinned(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.registry.HostKeys[name]
}

// Pin implements vnfm.HostKeys.
func (k *recordKeys) Pin(_ context.Context, name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := maps.Clone(k.registry.HostKeys)
	if keys == nil {
		keys = map[string]string{}
	}
	keys[name] = key
	k.registry.HostKeys = keys
	return nil
}
