package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Apply brings the API server to the target: it writes what is missing, changed
// or drifted, waits until everything is ready, and removes what the inventory has
// and the target has not. An object that needs nothing is not written.
//
// An object that drifted and whose content the target does not change is put back
// by force: those fields were the driver's. Fields of other managers that the
// target changes or brings are an error unless ForceConflicts is set. Objects
// that belong to somebody else are *vnfm.ConflictError, found before anything is
// written.
func (d *Driver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	return s.locked(ctx, s.apply)
}

func (s *session) apply(ctx context.Context) error {
	target, err := s.resolveTarget(ctx)
	if err != nil {
		return err
	}
	if err := s.resolveReplicasPaths(ctx, target); err != nil {
		return err
	}
	hooks, err := s.resolveHooks(ctx)
	if err != nil {
		return err
	}
	all, err := s.addInventory(ctx, slices.Concat(target, hooks))
	if err != nil {
		return err
	}
	if err := s.readLive(ctx, all, readOptions{content: awaitsReadiness}); err != nil {
		return err
	}
	history, strays, err := s.readRelease(ctx, all)
	if err != nil {
		return err
	}
	if err := history.CheckOwner(s.target.AdoptExisting); err != nil {
		return err
	}
	if err := s.checkRevisionVersion(ctx, history); err != nil {
		return err
	}
	all = append(all, strays...)
	if err := s.checkOwners(slices.Concat(target, hooks)); err != nil {
		return err
	}
	home, err := s.instanceNamespace(ctx, target)
	if err != nil {
		return err
	}
	if home != nil {
		all = withInstanceNamespace(all, home)
		target = append([]*targetObject{home}, target...)
	}
	if err := s.save(ctx, all, true); err != nil {
		return err
	}
	old := slices.DeleteFunc(slices.Clone(all), func(p *targetObject) bool { return p.object != nil || p == home || p.item.Hook })
	wasChart := history == nil && slices.ContainsFunc(all, func(p *targetObject) bool {
		return p.live != nil && p.live.Annotations[render.AnnotationReleaseName] != ""
	})
	unscaled := slices.ContainsFunc(autoscalers(old), func(p *targetObject) bool { return p.live != nil })
	if err := s.awaitDeletion(ctx, target); err != nil {
		return err
	}
	err = s.asRevision(ctx, history, target, func(ctx context.Context) error {
		if err := s.applyWaves(ctx, target, old, all); err != nil {
			return err
		}
		if unscaled {
			if err := s.restoreReplicas(ctx, target); err != nil {
				return err
			}
		}
		if s.target.Hooks.BeforePrune != nil {
			if err := s.target.Hooks.BeforePrune(ctx); err != nil {
				return err
			}
		}
		return s.prune(ctx, old)
	})
	if err != nil {
		return err
	}
	if wasChart {
		if err := s.deleteReleaseRecords(ctx); err != nil {
			return err
		}
	}
	if err := s.unmarkAdopted(ctx, target); err != nil {
		return err
	}
	left := slices.DeleteFunc(all, func(p *targetObject) bool { return !p.item.Hook })
	return s.save(ctx, slices.Concat(target, left), false)
}

// applyWaves writes the waves one after the other and waits until all is ready.
func (s *session) applyWaves(ctx context.Context, target, old, all []*targetObject) error {
	counter := &counter{session: s, total: len(target)}
	for wave := range render.Waves {
		if wave == render.WaveFoundation+1 {
			if err := s.applyDigestKey(ctx); err != nil {
				return err
			}
			if s.target.Hooks.AfterNamespaces != nil {
				if err := s.target.Hooks.AfterNamespaces(ctx); err != nil {
					return err
				}
			}
		}
		batch := ofWave(target, wave)
		if len(batch) == 0 {
			continue
		}
		if wave == render.WaveWorkload {
			// An autoscaler that the target does not have would change the
			// replicas back before it is pruned.
			if err := s.prune(ctx, autoscalers(old)); err != nil {
				return err
			}
		}
		if wave == render.WaveExtension {
			if err := s.awaitReady(ctx, target, render.WaveCustom); err != nil {
				return err
			}
		}
		now, later := s.splitDeferred(batch)
		err := s.writeObjects(ctx, now, counter)
		if err == nil && len(later) > 0 {
			if err = s.target.Hooks.BeforeDeferred(ctx); err == nil {
				err = s.writeObjects(ctx, later, counter)
			}
		}
		// What was made is recorded also when the wave failed or was interrupted.
		if saveErr := s.save(context.WithoutCancel(ctx), all, true); saveErr != nil {
			err = errors.Join(err, saveErr)
		}
		if err != nil {
			return err
		}
		if wave == render.WaveFoundation {
			if err := s.awaitFoundation(ctx, target); err != nil {
				return err
			}
		}
	}
	counter.done(ctx)
	if s.target.Hooks.AfterWrite != nil {
		if err := s.target.Hooks.AfterWrite(ctx); err != nil {
			return err
		}
	}
	return s.awaitReady(ctx, target, render.Waves)
}

// splitDeferred splits a wave into the objects that are written now and those whose change has to
// wait for these.
func (s *session) splitDeferred(batch []*targetObject) (now, later []*targetObject) {
	for _, p := range batch {
		if s.target.Hooks.Defer != nil && p.live != nil && s.target.Hooks.Defer(&p.item) {
			later = append(later, p)
		} else {
			now = append(now, p)
		}
	}
	return now, later
}

func (s *session) writeObjects(ctx context.Context, batch []*targetObject, done *counter) error {
	return s.each(ctx, len(batch), false, func(ctx context.Context, i int) error {
		if err := s.writeObject(ctx, batch[i]); err != nil {
			return err
		}
		done.add(ctx)
		return nil
	})
}

func ofWave(all []*targetObject, wave int) []*targetObject {
	var out []*targetObject
	for _, p := range all {
		if p.wave == wave {
			out = append(out, p)
		}
	}
	return out
}

func autoscalers(all []*targetObject) []*targetObject {
	var out []*targetObject
	for _, p := range all {
		if render.IsAutoscaler(gvkOf(&p.item).GroupKind()) {
			out = append(out, p)
		}
	}
	return out
}

// counter tells how many objects are done, twice a second at most.
type counter struct {
	session *session
	total   int

	mu     sync.Mutex
	count  int
	saidAt time.Time
}

const counterEvery = 500 * time.Millisecond

func (c *counter) add(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if now := time.Now(); now.Sub(c.saidAt) >= counterEvery {
		c.saidAt = now
		c.session.progress(ctx, "%d/%d objects applied", c.count, c.total)
	}
}

func (c *counter) done(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session.progress(ctx, "%d/%d objects applied", c.count, c.total)
}

// awaitDeletion waits until objects that are being deleted are gone, so that they can
// be made again.
func (s *session) awaitDeletion(ctx context.Context, target []*targetObject) error {
	var refs []kube.Ref
	var ending []*targetObject
	for _, p := range target {
		if p.live != nil && p.live.DeletionTimestamp != nil {
			refs = append(refs, p.ref)
			ending = append(ending, p)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	if err := s.client.WaitGone(ctx, refs, s.waitOptions(ctx, "")); err != nil {
		return fmt.Errorf("waiting for objects that are being deleted: %w", err)
	}
	for _, p := range ending {
		p.live = nil
		if p.ref.Resource.GVK != namespaceKind {
			continue
		}
		for _, inside := range target {
			if inside.ref.Namespace == p.ref.Name {
				inside.live = nil
			}
		}
	}
	return nil
}

// awaitReady waits for all objects up to a wave.
func (s *session) awaitReady(ctx context.Context, target []*targetObject, upTo int) error {
	var refs []kube.Ref
	options := s.waitOptions(ctx, instanceSelector(s.target.Instance.ID))
	options.Rules = map[int]*kube.Rule{}
	for _, p := range target {
		if p.wave <= upTo && !p.ready && p.object != nil {
			options.Rules[len(refs)] = p.object.Rule
			refs = append(refs, p.ref)
		}
	}
	if err := s.client.WaitReady(ctx, refs, options); err != nil {
		return err
	}
	for _, p := range target {
		p.ready = p.ready || p.wave <= upTo
	}
	return nil
}

// waitOptions tell the recorder what is being waited for.
func (s *session) waitOptions(ctx context.Context, selector string) kube.WaitOptions {
	return kube.WaitOptions{
		LabelSelector: selector,
		Progress: func(ready, total int, waitingFor string) {
			if waitingFor != "" {
				s.progress(ctx, "%d/%d done, waiting for %s", ready, total, waitingFor)
			}
		},
	}
}

// save stores the inventory when it has changed: everything that is or may be on
// the server, or only what still is there.
func (s *session) save(ctx context.Context, all []*targetObject, announce bool) error {
	items := make([]vnfm.InventoryItem, 0, len(all))
	for _, p := range all {
		if announce || p.item.UID != "" {
			items = append(items, p.item)
		}
	}
	if slices.Equal(items, s.saved) {
		return nil
	}
	if err := s.recorder.SaveInventory(ctx, items); err != nil {
		return fmt.Errorf("saving the inventory: %w", err)
	}
	s.saved = items
	return nil
}

// markAdopted notes that an object existed before the instance took it over, until
// settle: what fails in between must not cost the object.
func (s *session) markAdopted(ctx context.Context, p *targetObject) error {
	if p.live == nil || s.belongs(p) || s.isRetained(p) {
		return nil
	}
	return s.client.PatchMetadata(ctx, p.ref, nil, map[string]*string{annotationRetained: &s.target.Instance.Name})
}

// unmarkAdopted ends what an apply began: objects that were taken over are the instance's
// for good. Until now a termination would have left them behind.
func (s *session) unmarkAdopted(ctx context.Context, target []*targetObject) error {
	return s.each(ctx, len(target), false, func(ctx context.Context, i int) error {
		p := target[i]
		if p.live == nil {
			return nil
		}
		if _, ok := p.live.Annotations[annotationRetained]; !ok {
			return nil
		}
		return s.client.PatchMetadata(ctx, p.ref, nil, map[string]*string{annotationRetained: nil})
	})
}
