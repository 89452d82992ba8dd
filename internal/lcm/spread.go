package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// spread is the infra driver of an instance whose parts are on several VIMs. It
// hands every call to the driver of each VIM, with the part that is there, all at
// the same time, and puts the answers together. An object on a further VIM goes by
// "<connection>: <identity>". A failure on one VIM stops nothing on the others.
type spread struct {
	sites []site
}

// site is one VIM of an instance.
type site struct {
	// connection is empty for the instance's own VIM.
	connection  string
	driver      vnfm.InfraDriver
	vim         *vnfm.VIM
	credentials vnfm.Credentials
	namespace   string
	part        vnfm.Part
}

var _ vnfm.InfraDriver = (*spread)(nil)

// spread returns the driver for the VIMs of an instance, given that of its own. VIMs
// are looked up when bound is set; a preview needs their types alone, and takes a VIM that
// is not registered yet for one of the same type.
func (e *Engine) spread(ctx context.Context, own vnfm.InfraDriver, t *vnfm.Target, bound bool) (vnfm.InfraDriver, error) {
	connections := t.Instance.Connections
	if len(connections) == 0 {
		return own, nil
	}
	rest := site{driver: own, vim: t.VIM, credentials: t.Credentials, namespace: t.Instance.Namespace, part: vnfm.Part{Rest: true}}
	var further []site
	for _, name := range slices.Sorted(maps.Keys(connections)) {
		c := connections[name]
		rest.part.VDUIDs = append(rest.part.VDUIDs, c.VDUIDs...)
		rest.part.Manifests = append(rest.part.Manifests, c.Manifests...)
		at := site{connection: name, driver: own, namespace: c.Namespace, part: vnfm.Part{VDUIDs: c.VDUIDs, Manifests: c.Manifests}}
		if bound {
			var err error
			if at.vim, at.credentials, err = e.vimWithCredentials(ctx, c.VIMID); err != nil {
				return nil, fmt.Errorf("VIM connection %q: %w", name, err)
			}
			if at.driver, err = e.driver(at.vim.Type); err != nil {
				return nil, fmt.Errorf("VIM connection %q: %w", name, err)
			}
		} else if d, err := e.registeredDriver(ctx, c.VIMID); err == nil {
			at.driver = d
		} else if !errors.Is(err, vnfm.ErrNotFound) {
			return nil, fmt.Errorf("VIM connection %q: %w", name, err)
		}
		further = append(further, at)
	}
	return &spread{sites: append([]site{rest}, further...)}, nil
}

// target is the target of one VIM: with its part and what it has of the inventory.
func (at *site) target(t *vnfm.Target) *vnfm.Target {
	part, instance, out := at.part, *t.Instance, *t
	instance.Inventory = inventoryOf(t.Instance, at.connection)
	if t.Flavour != nil {
		instance.Links = linksOfPart(t.Flavour, &part, t.Instance.Links)
	}
	out.VIM, out.Credentials, out.Part, out.Instance = at.vim, at.credentials, &part, &instance
	out.ReplaceObjects = nil
	for _, key := range t.ReplaceObjects {
		if own, ok := at.ownKey(key); ok {
			out.ReplaceObjects = append(out.ReplaceObjects, own)
		}
	}
	if at.connection != "" {
		instance.Namespace = at.namespace
		// The parameter means the namespace on the instance's own VIM.
		instance.AdditionalParams = maps.Clone(t.Instance.AdditionalParams)
		delete(instance.AdditionalParams, paramNamespace)
	}
	return &out
}

// paramNamespace is the additional parameter that Tacker's users know for the
// namespace of an instance.
const paramNamespace = "namespace"

// key is how an object of this VIM goes by.
func (at *site) key(own string) string { return vnfm.ConnectionKey(at.connection, own) }

// ownKey is the key without the connection; ok is false when it is of another VIM.
func (at *site) ownKey(key string) (own string, ok bool) {
	connection, own := vnfm.CutConnection(key)
	return own, connection == at.connection
}

// says names the VIM in an error.
func (at *site) says(err error) error {
	if err == nil || at.connection == "" {
		return err
	}
	return fmt.Errorf("VIM connection %q: %w", at.connection, err)
}

// each makes one call per VIM, all at the same time.
func (s *spread) each(t *vnfm.Target, call func(i int, at *site, t *vnfm.Target) error) error {
	errs := make([]error, len(s.sites))
	// All of them before the first call, which changes the inventory that they are parts of.
	targets := make([]*vnfm.Target, len(s.sites))
	for i := range s.sites {
		targets[i] = s.sites[i].target(t)
	}
	var calls sync.WaitGroup
	for i := range s.sites {
		calls.Go(func() {
			at := &s.sites[i]
			errs[i] = at.says(call(i, at, targets[i]))
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// operate makes one call per VIM that changes something.
func (s *spread) operate(t *vnfm.Target, r vnfm.Recorder, call func(at *site, t *vnfm.Target, r vnfm.Recorder) error) error {
	whole := newWholeRecorder(r, t.Instance.Inventory)
	parts := make([]vnfm.Recorder, len(s.sites))
	for i, at := range s.sites {
		parts[i] = whole.of(at.connection)
	}
	return s.each(t, func(i int, at *site, t *vnfm.Target) error { return call(at, t, parts[i]) })
}

// CheckVIM implements vnfm.InfraDriver.
func (s *spread) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	return s.sites[0].driver.CheckVIM(ctx, spec)
}

// Preview implements vnfm.InfraDriver.
func (s *spread) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	return s.preview(t, func(at *site, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) { return at.driver.Preview(ctx, t) })
}

// Render implements vnfm.InfraDriver.
func (s *spread) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	contents := map[string]string{}
	whole, problems := s.preview(t, func(at *site, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
		r, found := at.driver.Render(ctx, t)
		if r == nil {
			return nil, found
		}
		for key, text := range r.Contents {
			contents[at.key(key)] = text
		}
		return &r.Preview, found
	})
	if whole == nil {
		return nil, problems
	}
	return &vnfm.Rendering{Preview: *whole, Contents: contents}, problems
}

// preview puts together what each VIM will have. Findings of the package are the
// same for all VIMs and are told once.
func (s *spread) preview(t *vnfm.Target, look func(*site, *vnfm.Target) (*vnfm.Preview, vnfm.Problems)) (*vnfm.Preview, vnfm.Problems) {
	var whole *vnfm.Preview
	var problems vnfm.Problems
	for i := range s.sites {
		at := &s.sites[i]
		p, found := look(at, at.target(t))
		for _, f := range found {
			if !slices.Contains(problems, f) {
				problems = append(problems, f)
			}
		}
		switch {
		case p == nil:
			continue
		case whole == nil:
			own := *p
			own.VDUs, own.Objects = map[string]vnfm.VDUState{}, map[string]string{}
			whole = &own
		}
		for _, path := range p.ShownSecrets {
			if !slices.Contains(whole.ShownSecrets, path) {
				whole.ShownSecrets = append(whole.ShownSecrets, path)
			}
		}
		maps.Copy(whole.VDUs, p.VDUs)
		for key, digest := range p.Objects {
			whole.Objects[at.key(key)] = digest
		}
	}
	if problems.HasErrors() {
		return nil, problems
	}
	return whole, problems
}

// DryRun implements vnfm.InfraDriver. What is found on a further VIM names it.
func (s *spread) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	found := make([]vnfm.Problems, len(s.sites))
	err := s.each(t, func(i int, at *site, t *vnfm.Target) (err error) {
		var own []string
		for _, key := range keys {
			if k, ok := at.ownKey(key); ok {
				own = append(own, k)
			}
		}
		if len(own) == 0 {
			return nil
		}
		found[i], err = at.driver.DryRun(ctx, t, own)
		for j := range found[i] {
			found[i][j].Summary = at.key(found[i][j].Summary)
		}
		return err
	})
	return slices.Concat(found...), err
}

// Apply implements vnfm.InfraDriver.
func (s *spread) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return s.operate(t, r, func(at *site, t *vnfm.Target, r vnfm.Recorder) error { return at.driver.Apply(ctx, t, r) })
}

// Scale implements vnfm.InfraDriver.
func (s *spread) Scale(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	return s.operate(t, r, func(at *site, t *vnfm.Target, r vnfm.Recorder) error { return at.driver.Scale(ctx, t, r) })
}

// Leaving implements vnfm.InfraDriver.
func (s *spread) Leaving(ctx context.Context, t *vnfm.Target) ([]string, error) {
	found := make([][]string, len(s.sites))
	err := s.each(t, func(i int, at *site, t *vnfm.Target) (err error) {
		found[i], err = at.driver.Leaving(ctx, t)
		return err
	})
	return slices.Concat(found...), err
}

// Heal implements vnfm.InfraDriver. VDUs and VNFCs of other VIMs are not found and
// nothing is done about them.
func (s *spread) Heal(ctx context.Context, t *vnfm.Target, h vnfm.HealSpec, r vnfm.Recorder) error {
	return s.operate(t, r, func(at *site, t *vnfm.Target, r vnfm.Recorder) error { return at.driver.Heal(ctx, t, h, r) })
}

// CheckTermination implements vnfm.InfraDriver: nothing goes anywhere as long as
// something stands against it on one of the VIMs.
func (s *spread) CheckTermination(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec) error {
	return s.each(t, func(_ int, at *site, t *vnfm.Target) error { return at.driver.CheckTermination(ctx, t, spec) })
}

// Terminate implements vnfm.InfraDriver.
func (s *spread) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	var one sync.Mutex
	return s.operate(t, r, func(at *site, t *vnfm.Target, r vnfm.Recorder) error {
		own := spec
		if spec.LeftBehind != nil {
			own.LeftBehind = func(object, reason string) {
				one.Lock()
				defer one.Unlock()
				spec.LeftBehind(at.key(object), reason)
			}
		}
		return at.driver.Terminate(ctx, t, own, r)
	})
}

// Observe implements vnfm.InfraDriver. What was seen is returned also when a VIM could
// not be looked at, and an error says why.
func (s *spread) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	seen := make([]*vnfm.Observation, len(s.sites))
	err := s.each(t, func(i int, at *site, t *vnfm.Target) (err error) {
		seen[i], err = at.driver.Observe(ctx, t)
		return err
	})
	whole := &vnfm.Observation{VDUs: map[string]vnfm.VDUState{}, Objects: map[string]string{}}
	for i, o := range seen {
		if o == nil {
			whole.Unseen = append(whole.Unseen, s.sites[i].connection)
			continue
		}
		maps.Copy(whole.VDUs, o.VDUs)
		for key, text := range o.Objects {
			whole.Objects[s.sites[i].key(key)] = text
		}
	}
	if len(whole.Unseen) == len(s.sites) {
		return nil, err
	}
	return whole, err
}

// DigestKey implements vnfm.InfraDriver: all VIMs keep the same key, and one that cannot be
// looked at, or has lost it, matters only when no other one tells.
func (s *spread) DigestKey(ctx context.Context, t *vnfm.Target) ([]byte, error) {
	keys, lost := make([][]byte, len(s.sites)), make([]error, len(s.sites))
	err := s.each(t, func(i int, at *site, t *vnfm.Target) (err error) {
		if keys[i], err = at.driver.DigestKey(ctx, t); errors.Is(err, vnfm.ErrKeyLost) {
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

// Resources implements vnfm.InfraDriver.
func (s *spread) Resources(ctx context.Context, t *vnfm.Target) (*vnfm.ResourceInfo, error) {
	found := make([]*vnfm.ResourceInfo, len(s.sites))
	err := s.each(t, func(i int, at *site, t *vnfm.Target) (err error) {
		found[i], err = at.driver.Resources(ctx, t)
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
