package registries

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// host finds the host of a registry. Its content is left to those who read it: a
// registry is removed without.
func (m *Manager) host(ctx context.Context, r *vnfm.Registry) (*vnfm.RegistryHost, error) {
	spec := &r.Spec
	h := &vnfm.RegistryHost{Spec: spec, Address: spec.SSH.Address, HostKeys: &recordKeys{registry: r}, Begin: func(context.Context) error { return nil }, Progress: func(string) {}}
	if m.cfg.Progress != nil {
		begin := time.Now().UTC()
		h.Progress = func(line string) {
			m.cfg.Progress(ctx, vnfm.Progress{Instance: r.Address, Operation: vnfm.Operation{InstanceID: r.ID, Type: "INSTALL_REGISTRY", StartedAt: begin}, Line: line})
		}
	}
	h.Pin = "host/" + h.Address
	if h.Address == "" {
		i, err := m.instanceRecord(ctx, spec.InstanceID)
		if err != nil {
			return nil, err
		}
		has, err := m.cfg.Resources(ctx, i)
		if err != nil {
			return nil, err
		}
		if h.Address, h.Pin, err = serverAt(&i.Value, has, spec.ConnectionPoint); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (m *Manager) instanceRecord(ctx context.Context, id string) (*records.Entry[vnfm.Instance], error) {
	s, err := m.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	return records.Get[vnfm.Instance](ctx, s, store.KindInstance, id)
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
			return "", "", fmt.Errorf("VNF instance %q has several servers with connection point %s, but a registry runs on one: set host to its address", i.Name, point)
		}
		address, pin = c.Dialled(point), "vnfc/"+c.ID
	}
	if address == "" {
		return "", "", fmt.Errorf("VNF instance %q has no server with connection point %q; its servers have %s", i.Name, point, vnfm.QuotedNames(slices.Collect(maps.Keys(known))))
	}
	return address, pin, nil
}

// content is where the image of a registry is read from; nil when none is.
func (m *Manager) content(ctx context.Context, spec *vnfm.RegistrySpec) (fs.FS, error) {
	if spec.ImagePath == "" {
		return nil, nil
	}
	if filepath.IsAbs(spec.ImagePath) {
		return localFile{FS: os.DirFS(filepath.Dir(spec.ImagePath)), path: spec.ImagePath}, nil
	}
	id := spec.PackageID
	if id == "" && spec.InstanceID != "" {
		i, err := m.instanceRecord(ctx, spec.InstanceID)
		if err != nil {
			return nil, err
		}
		id = i.Value.PackageID
	}
	if id == "" {
		return nil, fmt.Errorf("image_path %s is relative, but no package is given: set package_id, or give an absolute path on this machine", spec.ImagePath)
	}
	p, err := m.cfg.Package(ctx, id)
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

// takePins takes over the keys of hosts that Terraform's state remembers and the record does not have: a lost record must not make
// another key a trusted one.
func takePins(r *vnfm.Registry) {
	if len(r.Spec.Pins) == 0 {
		return
	}
	keys := maps.Clone(r.Spec.Pins)
	maps.Copy(keys, r.HostKeys)
	r.HostKeys = keys
}
