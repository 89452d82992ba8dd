package lcm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vimRecord is a VIM as stored.
type vimRecord struct {
	vnfm.VIM
	// Acknowledged is set once a read has seen the VIM: Terraform's state holds
	// its id. A registration that was killed before is taken up again.
	Acknowledged bool `json:"acknowledged"`
}

// CheckVIM implements vnfm.Manager.
func (e *Engine) CheckVIM(ctx context.Context, spec vnfm.VIMSpec) (vnfm.VIMCheck, error) {
	d, err := e.driver(spec.Type)
	if err != nil {
		return vnfm.VIMCheck{}, err
	}
	if spec.Credentials, err = e.liveCredentials(ctx, spec.Kubernetes, spec.Credentials); err != nil {
		return vnfm.VIMCheck{}, err
	}
	// A management driver registers a VIM in the middle of an operation.
	concealCredentials(ctx, spec.Credentials)
	return d.CheckVIM(ctx, spec)
}

// RegisterVIM implements vnfm.Manager.
func (e *Engine) RegisterVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.applying.Store(true)
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	known := id != ""
	if !known {
		interrupted, err := e.interruptedRegistration(ctx, s, spec)
		if err != nil {
			return nil, nil, err
		}
		if interrupted != "" {
			e.answered.Store(interrupted, true)
			return e.UpdateVIM(ctx, interrupted, spec)
		}
		id = uuid.NewString()
	}
	check, err := e.CheckVIM(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	en := &entry[vimRecord]{rec: store.Record{Kind: store.KindVIM, ID: id}}
	en.value.ID, en.value.Acknowledged = id, known
	en.value.CreatedAt = time.Now().UTC()
	describeVIM(&en.value.VIM, spec, check)
	// Before it can be seen: a registration beside this one must not take it up.
	e.answered.Store(id, true)
	// The record comes before the key that is made for it in a vault: who is killed in
	// between leaves a key that is found again by the id.
	if err := e.refer(ctx, s, vimNeeds(&en.value.VIM), func(ctx context.Context) error { return en.create(ctx, s) }); err != nil {
		if errors.Is(err, store.ErrExists) {
			return e.UpdateVIM(ctx, id, spec)
		}
		return nil, nil, err
	}
	if err := e.sealCredentials(ctx, en, spec.Credentials); err != nil {
		_, inDoubt := errors.AsType[*seal.InDoubtError](err)
		return nil, nil, e.giveUpVIM(ctx, s, id, err, inDoubt)
	}
	if err := en.update(ctx, s); err != nil {
		return nil, nil, e.giveUpVIM(ctx, s, id, err, true)
	}
	return &en.value.VIM, check.Problems, nil
}

// giveUpVIM takes back what a registration that failed has written. While a key may be
// in the vault that cannot be removed, the record stays, and the next registration of
// the VIM goes on with both.
func (e *Engine) giveUpVIM(ctx context.Context, s store.Store, id string, failure error, keyed bool) error {
	after, stop := detached(ctx)
	defer stop()
	if keyed && e.cfg.Keyring.Forget(after, id) != nil {
		e.answered.Delete(id)
		return failure
	}
	if err := s.Delete(after, store.KindVIM, id); err != nil {
		return errors.Join(failure, fmt.Errorf("removing the record of VIM %q again: %w", id, err))
	}
	return failure
}

// interruptedRegistration finds the record of a registration of the same VIM that
// Terraform never heard of.
func (e *Engine) interruptedRegistration(ctx context.Context, s store.Store, spec vnfm.VIMSpec) (string, error) {
	all, err := list[vimRecord](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return "", err
	}
	for _, en := range all {
		v := en.value
		if _, answered := e.answered.Load(v.ID); !answered && !v.Acknowledged && v.Name == spec.Name && v.SameServer(spec) {
			return v.ID, nil
		}
	}
	return "", nil
}

// describeVIM writes into a VIM what a spec and a check say of it.
func describeVIM(v *vnfm.VIM, spec vnfm.VIMSpec, check vnfm.VIMCheck) {
	v.Name, v.Description, v.Type = spec.Name, spec.Description, spec.Type
	v.Kubernetes, v.OpenStack = spec.Kubernetes, spec.OpenStack
	v.Saw(check)
	if check.ClusterUID != "" {
		v.ClusterUID = check.ClusterUID
	}
	v.UpdatedAt = time.Now().UTC()
}

// UpdateVIM implements vnfm.Manager.
func (e *Engine) UpdateVIM(ctx context.Context, id string, spec vnfm.VIMSpec) (*vnfm.VIM, vnfm.Problems, error) {
	e.applying.Store(true)
	s, err := e.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	check, err := e.CheckVIM(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	en, err := get[vimRecord](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, nil, err
	}
	before := en.value.VIM
	stays := func(ctx context.Context) error {
		if spec.Rebuilt {
			return nil
		}
		return e.staysOnItsCluster(ctx, s, &before, check)
	}
	// Here, since a vault is changed next, and under the lease below, since an instance may
	// have come by then.
	if err := stays(ctx); err != nil {
		return nil, nil, err
	}
	describeVIM(&en.value.VIM, spec, check)
	if err := e.sealCredentials(ctx, en, spec.Credentials); err != nil {
		return nil, nil, err
	}
	err = e.withReferences(ctx, s, func(ctx context.Context) error {
		if err := errors.Join(stays(ctx), checkReferences(ctx, s, vimNeeds(&en.value.VIM))); err != nil {
			return err
		}
		return en.update(ctx, s)
	})
	if err != nil {
		return nil, nil, err
	}
	return &en.value.VIM, check.Problems, nil
}

// staysOnItsCluster refuses to lead a VIM to another cluster or project while instances
// are on the present one: they would be taken for lost, and what they consist of orphaned.
func (e *Engine) staysOnItsCluster(ctx context.Context, s store.Store, v *vnfm.VIM, check vnfm.VIMCheck) error {
	if v.ClusterUID == "" || check.ClusterUID == "" || v.ClusterUID == check.ClusterUID {
		return nil
	}
	users, err := instancesOn(ctx, s, v.ID)
	if err != nil || len(users) == 0 {
		return err
	}
	place, other := "cluster", check.Endpoint
	if check.Cloud != nil {
		place, other = "project", fmt.Sprintf("%s of %s", quote(check.Cloud.ProjectName), check.Endpoint)
	}
	return fmt.Errorf("VIM %q now leads to another %s, %s, and %s are on the one it was registered with: destroy them first, or register the other %s as a VIM of its own",
		v.Name, place, other, strings.Join(instanceNames(users), ", "), place)
}

// VIM implements vnfm.Manager.
func (e *Engine) VIM(ctx context.Context, id string) (*vnfm.VIM, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	en, err := get[vimRecord](ctx, s, store.KindVIM, id)
	if err != nil {
		return nil, err
	}
	if !en.value.Acknowledged {
		en.value.Acknowledged = true
		// Somebody else who wrote at the same time acknowledged it as well.
		if err := en.update(ctx, s); err != nil && !errors.Is(err, store.ErrStale) {
			return nil, err
		}
	}
	return &en.value.VIM, nil
}

// VIMByName implements vnfm.Manager. Names are not unique; an ambiguous one is an
// error that lists the ids.
func (e *Engine) VIMByName(ctx context.Context, name string) (*vnfm.VIM, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := list[vimRecord](ctx, s, store.Query{Kind: store.KindVIM})
	if err != nil {
		return nil, err
	}
	var found []*vnfm.VIM
	var ids []string
	for _, en := range all {
		if en.value.Name == name {
			found, ids = append(found, &en.value.VIM), append(ids, en.value.ID)
		}
	}
	switch len(found) {
	case 0:
		return nil, &vnfm.NotFoundError{Kind: nouns[store.KindVIM], ID: name}
	case 1:
		// A look by name does not acknowledge: it may be somebody else's.
		return found[0], nil
	default:
		return nil, fmt.Errorf("several VIMs are named %q (%v): give the id of one", name, ids)
	}
}

// CheckRegisteredVIM checks a registered VIM with its sealed credentials. What it
// saw is in the answer and not in the record; a VIM that cannot be checked is
// returned together with the error. The limit is the VIM's: the key of its credentials
// may be somewhere else.
func (e *Engine) CheckRegisteredVIM(ctx context.Context, id string, limit time.Duration) (*vnfm.VIM, error) {
	v, creds, err := e.openVIM(ctx, id)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if creds, err = e.liveCredentials(ctx, v.Kubernetes, creds); err != nil {
		return nil, err
	}
	check, err := e.CheckVIM(ctx, v.Spec(creds))
	if err != nil {
		v.Status = vnfm.VIMUnreachable
		return v, err
	}
	v.Saw(check)
	return v, nil
}

// DeregisterVIM implements vnfm.Manager.
func (e *Engine) DeregisterVIM(ctx context.Context, id string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	err = e.withReferences(ctx, s, func(ctx context.Context) error {
		users, err := vimUsers(ctx, s, id)
		if err != nil {
			return err
		}
		if len(users) > 0 {
			return &vnfm.InUseError{Kind: nouns[store.KindVIM], ID: id, By: users}
		}
		if err := e.forgetTerminated(ctx, s, id); err != nil {
			return err
		}
		if err := forgetTrials(ctx, s, id); err != nil {
			return fmt.Errorf("removing what was noted of dry runs on VIM %q: %w", id, err)
		}
		if err := s.Delete(ctx, store.KindVIM, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("removing the record of VIM %q: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Last, since nothing opens the credentials without it. Who is stopped before it
	// comes by here once more.
	if err := e.cfg.Keyring.Forget(ctx, id); err != nil {
		return fmt.Errorf("the record of VIM %q is removed, the key of its credentials is not: %w", id, err)
	}
	return nil
}

func instanceNames(entries []*entry[vnfm.Instance]) []string {
	names := make([]string, 0, len(entries))
	for _, en := range entries {
		names = append(names, fmt.Sprintf("%s %q (%s)", en.value.Noun(), en.value.Name, en.value.ID))
	}
	return names
}
