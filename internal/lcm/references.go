package lcm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/catalog"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// referencesLockTimeout is how long a process waits for others that hold the lease of the
// references, each of which needs it for some reads, commits and deletions.
const referencesLockTimeout = time.Minute

// withReferences runs a function under the lease of the references. Every removal of a package,
// a chart, a VIM or a content holds it, and so does every check that a referenced record exists.
//
// Packages and charts refer to contents; instances, private registries and VIMs refer to
// packages, charts and VIMs. A removal must not miss a reference that is made at the same time.
// So it searches and removes under the lease, and an operation writes its reference first and
// then checks under the same lease that the target exists (confirmReferences): either the removal
// finds the reference, or the check finds the removal. The lease is held for milliseconds. A
// process that lost it removes nothing, since the store verifies it in every write.
//
// It is the last lease that is taken: its holder waits for no other one.
func (e *Engine) withReferences(ctx context.Context, s store.Store, do func(ctx context.Context) error) error {
	// One at a time in this process, whose callers need not poll for the lease.
	turn := &e.deciding
	turn.waiting.Add(1)
	select {
	case turn.taken <- struct{}{}:
		turn.waiting.Add(-1)
	case <-ctx.Done():
		if turn.waiting.Add(-1) == 0 {
			// The lease may have been left for this caller.
			go func() {
				turn.taken <- struct{}{}
				turn.pass(ctx)
			}()
		}
		return context.Cause(ctx)
	}
	defer turn.pass(ctx)
	lease, err := turn.hold(ctx, s)
	if err != nil {
		return err
	}
	work, stop := workUnder(ctx, lease, referencesObject)
	defer stop()
	return do(work)
}

// referencesObject is what the lease of the references is about.
const referencesObject = "the references between the records of the store"

// referencesTurn is how long the callers of this process hand on the lease of the references to each other: then others may have it.
const referencesTurn = time.Second

// referencesPause is how long the lease of a store that is far away is kept for the next caller of the same process: to give it back and to
// take it again are two round trips. referencesAhead is how long one is kept that was taken ahead.
const referencesPause, referencesAhead = 50 * time.Millisecond, time.Second

// decisions are the turns of this process's callers of withReferences. Waiting for one ends with the context.
type decisions struct {
	taken chan struct{}
	// waiting is how many callers wait.
	waiting atomic.Int32
	// uses counts those who have needed the lease.
	uses atomic.Int64
	// lease is what the caller before has left to the next one, and since is when it was taken. far says that its store is far away. Who has
	// the turn has all of them.
	lease store.Lease
	since time.Time
	far   bool
}

// hold returns the lease of the references, for which it waits unless the caller before has left it.
func (d *decisions) hold(ctx context.Context, s store.Store) (store.Lease, error) {
	d.uses.Add(1)
	d.far = store.IsFar(s)
	if d.lease != nil {
		select {
		case <-d.lease.Lost():
			releaseLease(ctx, d.lease)
			d.lease = nil
		default:
			return d.lease, nil
		}
	}
	store.ReadAhead(ctx, s, store.Wanted{Lease: records.ReferencesLease})
	err := vnfm.RetryWhileBusy(vnfm.WithLockTimeout(ctx, referencesLockTimeout), func() (err error) {
		d.lease, err = acquire(ctx, s, records.ReferencesLease, referencesObject, process.Name())
		return err
	})
	if err != nil {
		d.lease = nil
	}
	d.since = time.Now()
	return d.lease, err
}

// pass ends a turn. The lease is left to the next caller, if there is one, and given back otherwise.
func (d *decisions) pass(ctx context.Context) {
	switch next := d.waiting.Load() > 0; {
	case d.lease == nil, next && time.Since(d.since) <= referencesTurn:
	case next || !d.far || !d.keep(ctx, referencesPause):
		releaseLease(ctx, d.lease)
		d.lease = nil
	}
	<-d.taken
}

// keep leaves the lease to whoever needs it in a time, if the caller can wait in the end for that it is given back then.
func (d *decisions) keep(ctx context.Context, pause time.Duration) bool {
	uses := d.uses.Load()
	return vnfm.InBackground(ctx, func(ending <-chan struct{}) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ending:
		}
		if d.uses.Load() != uses {
			// Who has needed it since gives it back.
			return
		}
		d.taken <- struct{}{}
		if d.lease != nil && d.uses.Load() == uses {
			releaseLease(ctx, d.lease)
			d.lease = nil
		}
		<-d.taken
	})
}

// takeAhead takes the lease of the references of a store that is far away in the background, unless somebody else has it, for a caller that
// will need it in a moment.
func (d *decisions) takeAhead(ctx context.Context, s store.Store) {
	if !store.IsFar(s) {
		return
	}
	select {
	case d.taken <- struct{}{}:
	default:
		return
	}
	taking := d.lease == nil && vnfm.InBackground(ctx, func(<-chan struct{}) {
		lease, err := acquire(ctx, s, records.ReferencesLease, referencesObject, process.Name())
		if err == nil {
			d.lease, d.since, d.far = lease, time.Now(), true
			if !d.keep(ctx, referencesAhead) {
				releaseLease(ctx, lease)
				d.lease = nil
			}
		}
		<-d.taken
	})
	if !taking {
		<-d.taken
	}
}

// reference is an object of the store that another one needs, and the argument that names it.
type reference struct {
	kind           store.Kind
	id             string
	attribute, key string
}

// referencesOf are what an instance that is led to a spec refers to. A chart is one of them where
// it was fetched already: add-ons fetch theirs again when need be.
func referencesOf(spec *vnfm.InstanceSpec) []reference {
	vimAttribute := "vim_id"
	if spec.Cluster != nil {
		vimAttribute = "management_vim_id"
	}
	out := []reference{{kind: store.KindVIM, id: spec.VIMID, attribute: vimAttribute}}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		out = append(out, reference{kind: store.KindVIM, id: spec.Connections[name].VIMID, attribute: vnfm.AttributeConnections, key: name})
	}
	c := spec.Cluster
	if c == nil {
		return append(out, reference{kind: store.KindPackage, id: spec.PackageID, attribute: "package_id"})
	}
	if c.OpenStack != nil {
		out = append(out, reference{kind: store.KindVIM, id: c.OpenStack.VIMID, attribute: "openstack.vim_id"})
	}
	if c.Chart != nil && c.Chart.Fetched() && c.Chart.Chart != nil {
		out = append(out, reference{kind: store.KindChart, id: c.Chart.Chart.Digest, attribute: "chart"})
	}
	return out
}

// vimReferences are what a VIM refers to.
func vimReferences(v *vnfm.VIM) []reference {
	if v.Kubernetes == nil || v.Kubernetes.KubeconfigRef == nil {
		return nil
	}
	return []reference{{kind: store.KindVIM, id: v.Kubernetes.KubeconfigRef.VIMID, attribute: "kubernetes.kubeconfig_ref.management_vim_id"}}
}

// registryReferences are what a private registry refers to: each look at it reads its image. Of
// an instance it has the server, and goes with it.
func registryReferences(spec *vnfm.RegistrySpec) []reference {
	if spec.ImagePath == "" || filepath.IsAbs(spec.ImagePath) || spec.PackageID == "" {
		return nil
	}
	return []reference{{kind: store.KindPackage, id: spec.PackageID, attribute: "package_id"}}
}

// confirmReferences looks, under the lease of the references, whether what a record refers to that
// was written before is in the store. All that is gone is one *vnfm.InvalidError.
func (e *Engine) confirmReferences(ctx context.Context, s store.Store, needed []reference) error {
	return e.withReferences(ctx, s, func(ctx context.Context) error { return checkReferences(ctx, s, needed) })
}

// writeReferring writes a record that refers to others, while these are there.
func (e *Engine) writeReferring(ctx context.Context, s store.Store, needed []reference, write func(context.Context) error) error {
	if len(needed) == 0 {
		return write(ctx)
	}
	return e.withReferences(ctx, s, func(ctx context.Context) error {
		if err := checkReferences(ctx, s, needed); err != nil {
			return err
		}
		return write(ctx)
	})
}

// checkReferences is called under withReferences.
func checkReferences(ctx context.Context, s store.Store, needed []reference) error {
	var problems vnfm.Problems
	found := make([]error, len(needed))
	var all sync.WaitGroup
	for i, r := range needed {
		all.Go(func() { found[i] = r.check(ctx, s) })
	}
	all.Wait()
	for i, r := range needed {
		err := found[i]
		if errors.Is(err, vnfm.ErrNotFound) {
			problems = append(problems, vnfm.Problem{
				Attribute: r.attribute, Key: r.key, Summary: records.Noun(r.kind) + " " + strconv.Quote(r.id) + " is no longer in the store",
				Detail: "another process has removed it since this one began; nothing was done; run plan again",
			})
		} else if err != nil {
			return err
		}
	}
	return problems.Err()
}

func (r reference) check(ctx context.Context, s store.Store) error {
	switch r.kind {
	case store.KindPackage:
		return catalog.CheckPackage(ctx, s, r.id)
	case store.KindChart:
		return catalog.UseChart(ctx, s, r.id)
	default:
		_, err := s.Get(ctx, r.kind, r.id)
		if errors.Is(err, store.ErrNotFound) {
			err = records.NotFound(r.kind, r.id)
		}
		return err
	}
}

// instancesOn returns the instances that are, or have a part, on a VIM.
func instancesOn(ctx context.Context, s store.Store, vimID string) ([]*records.Entry[vnfm.Instance], error) {
	all, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
	return slices.DeleteFunc(all, func(en *records.Entry[vnfm.Instance]) bool { return !en.Value.OnVIM(vimID) }), err
}

// vimUsers names what is, or has a part, on a VIM, or is reached through it.
func vimUsers(ctx context.Context, s store.Store, id string) ([]string, error) {
	instances, err := instancesOn(ctx, s, id)
	if err != nil {
		return nil, err
	}
	users := instanceNames(instances)
	vims, err := records.List[vims.Record](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return nil, err
	}
	for _, en := range vims {
		refersTo := func(r reference) bool { return r.id == id }
		if en.Rec.ID != id && slices.ContainsFunc(vimReferences(&en.Value.VIM), refersTo) {
			users = append(users, fmt.Sprintf("VIM %q (%s)", en.Value.Name, en.Value.ID))
		}
	}
	return users, nil
}

// wanted is what inUse reads of a package of which no known user is left, or else that user.
func (u *packageUse) wanted(id string) []store.Wanted {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known, ok := u.known[id]; ok {
		return []store.Wanted{{Kind: store.KindInstance, ID: known}}
	}
	return []store.Wanted{{Kind: store.KindInstance}, {Kind: store.KindOperation}, {Kind: store.KindRegistry}}
}

// left notes that an instance has no package but this one.
func (u *packageUse) left(instance, has string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.known, func(id, user string) bool { return user == instance && id != has })
}

// packageUse tells whether a package is in use. It remembers one user of each package: each of the N updates of a fleet
// asks for the package before, and reads all N instances only when that user has left it as well. The user is chosen by
// chance, so that half of the users that are left have gone by then on average, and all instances are read some log N times.
type packageUse struct {
	mu sync.Mutex
	// known is an instance that had the package, by the id of the package.
	known map[string]string
}

// inUse reports whether something needs a package: an instance that runs it or is being changed to it, or a private registry
// whose image is in it.
func (u *packageUse) inUse(ctx context.Context, s store.Store, id string) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known, ok := u.known[id]; ok {
		en, err := records.Get[vnfm.Instance](ctx, s, store.KindInstance, known)
		switch {
		case err == nil && en.Value.PackageID == id:
			return true, nil
		case err != nil && !errors.Is(err, vnfm.ErrNotFound):
			return false, err
		}
		delete(u.known, id)
	}
	instances, err := records.Values(ctx, s, store.KindInstance, func(i *vnfm.Instance) (string, bool) { return i.ID, i.PackageID == id })
	if err != nil {
		return false, err
	}
	if len(instances) > 0 {
		if u.known == nil {
			u.known = map[string]string{}
		}
		u.known[id] = instances[rand.IntN(len(instances))] //nolint:gosec // Any of them will do.
		return true, nil
	}
	// If nothing else has it either, it is removed.
	store.ReadAhead(ctx, s, catalog.UnusedWanted()...)
	var coming, registries []string
	both, reading := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		coming, err = records.Values(reading, s, store.KindOperation, func(o *vnfm.Operation) (string, bool) {
			return o.InstanceID, !o.State.Final() && o.Parameters[paramPackage] == id
		})
		return err
	})
	both.Go(func() (err error) {
		registries, err = records.Values(reading, s, store.KindRegistry, func(r *vnfm.Registry) (string, bool) {
			return r.ID, slices.ContainsFunc(registryReferences(&r.Spec), func(r reference) bool { return r.id == id })
		})
		return err
	})
	if err := both.Wait(); err != nil {
		return false, err
	}
	for _, instance := range coming {
		switch _, err := s.Get(ctx, store.KindInstance, instance); {
		case err == nil:
			return true, nil
		case !errors.Is(err, store.ErrNotFound):
			return false, err
		}
	}
	return len(registries) > 0, nil
}

// paramPackage and paramFlavour are the parameters of an operation that name the package and the flavour which its instance is
// to have, and paramFromPackage that which names the package before.
const (
	paramPackage     = "package_id"
	paramFlavour     = "flavour_id"
	paramFromPackage = "from_package_id"
)

func instanceNames(entries []*records.Entry[vnfm.Instance]) []string {
	names := make([]string, 0, len(entries))
	for _, en := range entries {
		names = append(names, fmt.Sprintf("%s %q (%s)", en.Value.Noun(), en.Value.Name, en.Value.ID))
	}
	return names
}
