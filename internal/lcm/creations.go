package lcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// creations are what this process has created, by natural key. Until Acknowledge the lease of each creation is held: Terraform may be
// killed before the instance is in its state, and the next Create has to continue the creation then. While the lease is held, and once
// the record is acknowledged, the instance belongs to somebody else for every other Create.
type creations struct {
	mu   sync.Mutex
	kept map[string]creation
}

// creation is one that this process has answered.
type creation struct {
	instance *records.Entry[vnfm.Instance]
	// completed says that its operation was COMPLETED.
	completed bool
	// release gives the lease of the creation back.
	release func()
}

func (c *creations) keep(one creation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]creation{}
	}
	c.kept[one.instance.Rec.Key] = one
}

// take returns all and forgets them.
func (c *creations) take() []creation {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := slices.Collect(maps.Values(c.kept))
	c.kept = nil
	return taken
}

// drop gives back the lease of a creation whose instance is gone.
func (c *creations) drop(key string) {
	c.mu.Lock()
	one, ok := c.kept[key]
	delete(c.kept, key)
	c.mu.Unlock()
	if ok {
		one.release()
	}
}

// Acknowledge implements vnfm.Manager.
func (e *Engine) Acknowledge(ctx context.Context) {
	var all errgroup.Group
	all.SetLimit(e.cfg.Concurrency)
	for _, one := range e.created.take() {
		all.Go(func() error {
			defer one.release()
			if !one.completed {
				return nil
			}
			s, err := e.store(ctx)
			if err != nil {
				return err
			}
			one.instance.Value.Acknowledged = true
			// A stale record was read since, which acknowledges it too.
			return one.instance.Update(ctx, s)
		})
	}
	// What is not acknowledged here is by the next Read.
	_ = all.Wait()
}

// lockCreation takes the lease of a creation. It waits, until the lock timeout of ctx, for a process of another machine: that one may
// have been killed, and then its lease expires. The holder is the process of Terraform: a provider that stays when Terraform is killed does
// not keep others from continuing the creation.
func (e *Engine) lockCreation(ctx context.Context, s store.Store, spec vnfm.InstanceSpec) (held context.Context, release func(), err error) {
	e.applying.Store(true)
	object := "the creation of " + spec.Noun() + " " + strconv.Quote(spec.Name)
	var lease store.Lease
	var met *vnfm.BusyError
	err = vnfm.RetryWhileBusy(ctx, func() (err error) {
		lease, err = acquire(ctx, s, "create/"+keyOf(spec), object, process.ParentName())
		if errors.As(err, &met) && met.Runs {
			return nil
		}
		return err
	})
	if lease != nil {
		held, release = underLease(ctx, lease, object)
		return held, release, nil
	}
	if met == nil {
		return nil, nil, err
	}
	// Who holds it lives, and may have finished.
	en, findErr := findByKey(ctx, s, spec)
	switch {
	case findErr != nil:
		return nil, nil, findErr
	case en != nil && en.Value.Status != vnfm.StatusProcessing:
		return nil, nil, nameTaken(ctx, s, spec, &en.Value)
	}
	return nil, nil, cmp.Or(err, error(met))
}

// nameTaken is the error that an instance of that name belongs to another resource.
func nameTaken(ctx context.Context, s store.Store, spec vnfm.InstanceSpec, i *vnfm.Instance) error {
	return &vnfm.ConflictError{
		Object: fmt.Sprintf("the name %q in namespace %q of VIM %q", spec.Name, spec.Namespace, vims.NameOf(ctx, s, spec.VIMID)),
		Owner:  i.Noun() + " " + i.ID,
		Detail: "choose another name, or import that instance",
	}
}

// claim makes the record of a new instance, or continues the creation of a process that ended before Terraform had its answer. A new
// record is being made when it returns: made waits for that.
func (e *Engine) claim(ctx context.Context, s store.Store, spec vnfm.InstanceSpec) (en *records.Entry[vnfm.Instance], made func() error, err error) {
	en, err = findByKey(ctx, s, spec)
	if err != nil {
		return nil, nil, err
	}
	if en != nil {
		if en.Value.Acknowledged {
			return nil, nil, nameTaken(ctx, s, spec, &en.Value)
		}
		return en, func() error { return nil }, nil
	}
	en = newInstance(uuid.NewString(), spec)
	en.Value.DigestKey = newKey()
	en.Value.PackageID, en.Value.Status = spec.PackageID, vnfm.StatusProcessing
	// Nobody has its lease, under which it is written from now on.
	store.ReadAhead(ctx, s, store.Wanted{Lease: leaseOf(en.Rec.ID), New: true})
	var making errgroup.Group
	record := *en
	making.Go(func() error { return record.Create(store.Foreseeing(ctx, leaseOf(en.Rec.ID)), s) })
	return en, making.Wait, nil
}
