// Package multivim drives an instance whose parts are on several VIMs: to the engine it is
// one infra driver.
package multivim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parameters"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/parts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// multiVIMDriver calls the driver of each VIM with the part that is there, all at the same
// time, and merges the answers. An object on a further VIM goes by
// "<connection>: <identity>". A failure on one VIM stops nothing on the others.
type multiVIMDriver struct {
	// targets are the VIMs, the instance's own first.
	targets []vimTarget
}

// vimTarget is one VIM of an instance.
type vimTarget struct {
	// connection is empty for the instance's own VIM.
	connection  string
	driver      vnfm.InfraDriver
	vim         *vnfm.VIM
	credentials vnfm.Credentials
	namespace   string
	part        vnfm.Part
	// vimID is the id of the VIM of a connection.
	vimID string
	// namespaceParam is the additional parameter that gives the namespace on the instance's
	// own VIM.
	namespaceParam string
	// takes reports whether the driver takes an additional parameter.
	takes func(name string) bool
	// unlinked is set where networks that are given are for other VIMs alone.
	unlinked bool
}

var _ vnfm.InfraDriver = (*multiVIMDriver)(nil)

// Lookup finds the VIM of a connection with its credentials, both nil for a preview, and its
// infra driver.
type Lookup func(ctx context.Context, vimID string) (vnfm.InfraDriver, *vnfm.VIM, vnfm.Credentials, error)

// New returns the driver for all VIMs of an instance, given that of its own VIM and the
// target there.
func New(ctx context.Context, own vnfm.InfraDriver, t *vnfm.Target, lookup Lookup) (vnfm.InfraDriver, error) {
	connections := t.Instance.Connections
	if len(connections) == 0 {
		return own, nil
	}
	rest := vimTarget{driver: own, vim: t.VIM, credentials: t.Credentials, namespace: t.Instance.Namespace, part: vnfm.Part{Rest: true}}
	var further []vimTarget
	for _, name := range slices.Sorted(maps.Keys(connections)) {
		c := connections[name]
		rest.part.VDUIDs = append(rest.part.VDUIDs, c.VDUIDs...)
		rest.part.Manifests = append(rest.part.Manifests, c.Manifests...)
		v := vimTarget{
			connection: name, vimID: c.VIMID, namespace: c.Namespace, namespaceParam: own.Params().Namespace,
			part: vnfm.Part{VDUIDs: c.VDUIDs, Manifests: c.Manifests},
		}
		var err error
		if v.driver, v.vim, v.credentials, err = lookup(ctx, c.VIMID); err != nil {
			return nil, fmt.Errorf("VIM connection %q: %w", name, err)
		}
		further = append(further, v)
	}
	all := append([]vimTarget{rest}, further...)
	setKinds(all, t.Flavour)
	for i := range all {
		all[i].takes = parameters.Takes(ctx, all[i].driver, t.Package, t.Flavour)
	}
	return &multiVIMDriver{targets: all}, nil
}

// params are those of some parameters that the driver takes.
func (v *vimTarget) params(all map[string]any) map[string]any {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ any) bool { return !v.takes(name) })
	return out
}

// target is the target on this VIM: with its part and what it has of the inventory.
func (v *vimTarget) target(t *vnfm.Target) *vnfm.Target {
	part, instance, out := v.part, *t.Instance, *t
	instance.Inventory = parts.Inventory(t.Instance, parts.ID{Connection: v.connection})
	if t.Flavour != nil {
		instance.Links = v.links(t.Flavour, t.Instance.Links)
	}
	instance.AdditionalParams, out.SecretParams = v.params(t.Instance.AdditionalParams), v.params(t.SecretParams)
	out.VIM, out.Credentials, out.Part, out.Instance = v.vim, v.credentials, &part, &instance
	out.ReplaceObjects = nil
	for _, key := range t.ReplaceObjects {
		if own, ok := v.ownKey(key); ok {
			out.ReplaceObjects = append(out.ReplaceObjects, own)
		}
	}
	if v.connection != "" {
		// The instance is found on its own VIM.
		out.Arguments = nil
		instance.Namespace, instance.VIMID = v.namespace, v.vimID
		// The parameter means the namespace on the instance's own VIM.
		delete(instance.AdditionalParams, v.namespaceParam)
		delete(instance.AdditionalParams, v.driver.Params().Namespace)
	}
	return &out
}

// key is how an object of this VIM goes by.
func (v *vimTarget) key(own string) string { return vnfm.ConnectionKey(v.connection, own) }

// ownKey is the key without the connection; ok is false when it is of another VIM.
func (v *vimTarget) ownKey(key string) (own string, ok bool) {
	connection, own := vnfm.CutConnection(key)
	return own, connection == v.connection
}

// wrap names the VIM connection in an error.
func (v *vimTarget) wrap(err error) error {
	if err == nil || v.connection == "" {
		return err
	}
	return fmt.Errorf("VIM connection %q: %w", v.connection, err)
}

// each makes one call per VIM, all at the same time.
func (m *multiVIMDriver) each(t *vnfm.Target, call func(i int, v *vimTarget, t *vnfm.Target) error) error {
	errs := make([]error, len(m.targets))
	// All of them before the first call, which changes the inventory that they are parts of.
	targets := make([]*vnfm.Target, len(m.targets))
	for i := range m.targets {
		targets[i] = m.targets[i].target(t)
	}
	var calls sync.WaitGroup
	for i := range m.targets {
		calls.Go(func() {
			v := &m.targets[i]
			errs[i] = v.wrap(call(i, v, targets[i]))
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// operate makes one call per VIM that changes something.
func (m *multiVIMDriver) operate(t *vnfm.Target, r vnfm.Recorder, call func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error) error {
	return m.operateWith(t, parts.NewRecorder(r, t.Instance.Inventory), call)
}

func (m *multiVIMDriver) operateWith(t *vnfm.Target, all *parts.Recorder, call func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error) error {
	recorders := make([]vnfm.Recorder, len(m.targets))
	for i := range m.targets {
		recorders[i] = all.Part(parts.ID{Connection: m.targets[i].connection})
	}
	return m.each(t, func(i int, v *vimTarget, t *vnfm.Target) error { return call(v, t, recorders[i]) })
}

// Params implements vnfm.InfraDriver: those of the instance's own VIM.
func (m *multiVIMDriver) Params() vnfm.InfraParams { return m.targets[0].driver.Params() }

// PackageParams implements vnfm.InfraDriver: those of the instance's own VIM.
func (m *multiVIMDriver) PackageParams(ctx context.Context, p *vnfm.Package, f *vnfm.Flavour) ([]string, bool) {
	return m.targets[0].driver.PackageParams(ctx, p, f)
}

// Supports implements vnfm.InfraDriver: as the instance's own VIM does.
func (m *multiVIMDriver) Supports(p *vnfm.Package, f *vnfm.Flavour) bool {
	return m.targets[0].driver.Supports(p, f)
}

// CheckVIM implements vnfm.InfraDriver.
func (m *multiVIMDriver) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return m.targets[0].driver.CheckVIM(ctx, spec)
}

// Preview implements vnfm.InfraDriver.
func (m *multiVIMDriver) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	return m.preview(ctx, t, func(v *vimTarget, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) { return v.driver.Preview(ctx, t) })
}

// Render implements vnfm.InfraDriver.
func (m *multiVIMDriver) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	all := &vnfm.Rendering{Contents: map[string]string{}, Fields: map[string]any{}, Kept: map[string]string{}, Units: map[string]vnfm.Unit{}}
	merged, problems := m.preview(ctx, t, func(v *vimTarget, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		r, found := v.driver.Render(ctx, t)
		if r == nil {
			return nil, found
		}
		for key, text := range r.Contents {
			all.Contents[v.key(key)] = text
		}
		for key, fields := range r.Fields {
			all.Fields[v.key(key)] = fields
		}
		for key, stays := range r.Kept {
			all.Kept[v.key(key)] = v.key(stays)
		}
		for name, unit := range r.Units {
			if unit.Object != "" {
				unit.Object = v.key(unit.Object)
			}
			all.Units[name] = unit
		}
		all.FieldRules = append(all.FieldRules, r.FieldRules...)
		all.Created, all.Upgraded = all.Created.With(r.Created), all.Upgraded.With(r.Upgraded)
		all.Revision += r.Revision
		return &r.Preview, found
	})
	if merged == nil {
		return nil, problems
	}
	all.Preview = *merged
	return all, problems
}

// preview merges the previews of all VIMs. Problems of the package are the same for all
// VIMs and are reported once.
func (m *multiVIMDriver) preview(ctx context.Context, t *vnfm.Target,
	look func(*vimTarget, *vnfm.Target) (*vnfm.Preview, vnfm.Problems),
) (*vnfm.Preview, vnfm.Problems) {
	var merged *vnfm.Preview
	var problems vnfm.Problems
	for i := range m.targets {
		v := &m.targets[i]
		p, found := look(v, v.target(t))
		for _, f := range found {
			if !slices.Contains(problems, f) {
				problems = append(problems, f)
			}
		}
		switch {
		case p == nil:
			continue
		case merged == nil:
			own := *p
			own.VDUs, own.Objects = map[string]vnfm.VDUState{}, map[string]string{}
			merged = &own
		}
		for _, path := range p.ShownSecrets {
			if !slices.Contains(merged.ShownSecrets, path) {
				merged.ShownSecrets = append(merged.ShownSecrets, path)
			}
		}
		merged.NamespaceNeeded = merged.NamespaceNeeded || p.NamespaceNeeded
		merged.NamesLater = merged.NamesLater || p.NamesLater
		maps.Copy(merged.VDUs, p.VDUs)
		for key, digest := range p.Objects {
			merged.Objects[v.key(key)] = digest
		}
	}
	if !problems.HasErrors() {
		problems = append(problems, m.unplaced(ctx, t, merged)...)
	}
	if problems.HasErrors() {
		return nil, problems
	}
	return merged, problems
}

// DryRun implements vnfm.InfraDriver. Problems of a further VIM name it.
func (m *multiVIMDriver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	found := make([]vnfm.Problems, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		var own []string
		for _, key := range keys {
			if k, ok := v.ownKey(key); ok {
				own = append(own, k)
			}
		}
		if len(own) == 0 {
			return nil
		}
		found[i], err = v.driver.DryRun(ctx, t, own)
		for j := range found[i] {
			found[i][j].Summary = v.key(found[i][j].Summary)
		}
		return err
	})
	return slices.Concat(found...), err
}

// Apply implements vnfm.InfraDriver.
func (m *multiVIMDriver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return m.operate(t, r, func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error { return v.driver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (m *multiVIMDriver) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return m.operate(t, r, func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error { return v.driver.Scale(ctx, t, r) })
}

// Leaving implements vnfm.InfraDriver.
func (m *multiVIMDriver) Leaving(ctx context.Context, t *vnfm.Target) ([]string, error) {
	found := make([][]string, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		found[i], err = v.driver.Leaving(ctx, t)
		return err
	})
	return slices.Concat(found...), err
}

// Replacing implements vnfm.InfraDriver.
func (m *multiVIMDriver) Replacing(ctx context.Context, t *vnfm.Target) ([]vnfm.Replacement, error) {
	found := make([][]vnfm.Replacement, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		found[i], err = v.driver.Replacing(ctx, t)
		return err
	})
	return slices.Concat(found...), err
}

// Heal implements vnfm.InfraDriver. A further VIM with nothing of what is healed is left alone; the instance's own one keeps the
// arguments.
func (m *multiVIMDriver) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return m.operate(t, r, func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error {
		if v.connection != "" && !h.EntireInstance() && t.Flavour != nil && !heals(t, &h) {
			return nil
		}
		return v.driver.Heal(ctx, t, h, r)
	})
}

// heals reports whether a heal concerns a VDU that is on the VIM of a target.
func heals(t *vnfm.Target, h *vnfm.HealSpec) bool {
	return slices.ContainsFunc(h.VDUIDs, t.Part.Has) || slices.ContainsFunc(h.VNFCIDs, func(id string) bool {
		vdu := t.Flavour.VDUOf(id)
		return vdu == "" || t.Part.Has(vdu)
	})
}

// CheckTermination implements vnfm.InfraDriver: nothing goes anywhere as long as
// something stands against it on one of the VIMs.
func (m *multiVIMDriver) CheckTermination(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec) error {
	return m.each(t, func(_ int, v *vimTarget, t *vnfm.Target) error { return v.driver.CheckTermination(ctx, t, spec) })
}

// Terminate implements vnfm.InfraDriver. The instance's own VIM is the last one, once all others have nothing any more: the instance is
// found there, with the arguments that lead to the others, should the record be lost meanwhile.
func (m *multiVIMDriver) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	var one sync.Mutex
	all := parts.NewRecorder(r, t.Instance.Inventory)
	for _, some := range [][]vimTarget{m.targets[1:], m.targets[:1]} {
		turn := multiVIMDriver{targets: some}
		err := turn.operateWith(t, all, func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error {
			own := spec
			if spec.LeftBehind != nil {
				own.LeftBehind = func(object, reason string) {
					one.Lock()
					defer one.Unlock()
					spec.LeftBehind(v.key(object), reason)
				}
			}
			return v.driver.Terminate(ctx, t, own, r)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Observe implements vnfm.InfraDriver. The observation is returned also when a VIM
// could not be observed; the error says why.
func (m *multiVIMDriver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	seen := make([]*vnfm.Observation, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		seen[i], err = v.driver.Observe(ctx, t)
		return err
	})
	merged := &vnfm.Observation{VDUs: map[string]vnfm.VDUState{}, Objects: map[string]string{}}
	for i, o := range seen {
		if o == nil {
			merged.Unseen = append(merged.Unseen, m.targets[i].connection)
			continue
		}
		maps.Copy(merged.VDUs, o.VDUs)
		for key, text := range o.Objects {
			merged.Objects[m.targets[i].key(key)] = text
		}
		for _, key := range o.Gone {
			merged.Gone = append(merged.Gone, m.targets[i].key(key))
		}
		for _, key := range o.Unread {
			merged.Unread = append(merged.Unread, m.targets[i].key(key))
		}
		merged.Warnings = append(merged.Warnings, o.Warnings...)
	}
	if len(merged.Unseen) == len(m.targets) {
		return nil, err
	}
	return merged, err
}

// DigestKey implements vnfm.InfraDriver: all VIMs keep the same key, and one that cannot be
// looked at, or has lost it, matters only when no other one tells.
func (m *multiVIMDriver) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	keys, lost := make([][]byte, len(m.targets)), make([]error, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		if keys[i], err = v.driver.DigestKey(ctx, t); errors.Is(err, vnfm.ErrKeyLost) {
			lost[i], err = err, nil
		}
		return err
	})
	for _, key := range keys {
		if len(key) > 0 {
			return key, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(lost...)
}

// Recover implements vnfm.InfraDriver.
func (m *multiVIMDriver) Recover(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return m.operate(t, r, func(v *vimTarget, t *vnfm.Target, r vnfm.Recorder) error { return v.driver.Recover(ctx, t, r) })
}

// Find implements vnfm.InfraDriver: an instance is found on its own VIM.
func (m *multiVIMDriver) Find(ctx context.Context, t *vnfm.Target, p vnfm.InstancePlace) ([]vnfm.FoundInstance, error) {
	return m.targets[0].driver.Find(ctx, t, p)
}

// Resources implements vnfm.InfraDriver.
func (m *multiVIMDriver) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	found := make([]*vnfm.ResourceInfo, len(m.targets))
	err := m.each(t, func(i int, v *vimTarget, t *vnfm.Target) (err error) {
		found[i], err = v.driver.Resources(ctx, t)
		return err
	})
	all := &vnfm.ResourceInfo{VirtualLinks: map[string]string{}}
	for _, one := range found {
		if one != nil {
			all.VNFCs = append(all.VNFCs, one.VNFCs...)
			maps.Copy(all.VirtualLinks, one.VirtualLinks)
		}
	}
	slices.SortFunc(all.VNFCs, func(a, b vnfm.VNFC) int { return strings.Compare(a.ID+" "+a.Namespace, b.ID+" "+b.Namespace) })
	return all, err
}
