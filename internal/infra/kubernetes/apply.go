package kubernetes

import (
	"context"
	"errors"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Apply brings the API server to the target: it writes missing, changed and drifted objects, waits until all objects are ready,
// and removes objects of the inventory that the target does not contain. An object that needs no change is not written.
//
// The repair of a drifted object whose content the target does not change is forced, because the driver owned the fields. Fields of
// other managers that the target changes or adds are an error unless ForceConflicts is set. Foreign objects are a
// *vnfm.ConflictError, found before anything is written.
func (d *Driver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	s, err := d.open(ctx, t, r)
	if err != nil {
		return err
	}
	return s.locked(ctx, s.apply)
}

// applyPlan holds the objects of one apply.
type applyPlan struct {
	// target are the desired objects of the instance, including the namespace that the driver creates for it. hooks are the objects
	// of the chart's hooks.
	target, hooks []*targetObject
	// all are target, hooks, and the objects that only the inventory or the release contains.
	all []*targetObject
	// obsolete are the objects that the target no longer contains.
	obsolete []*targetObject
	// history is nil without a chart. hadChart is set when an earlier target had one.
	history  *release.History
	hadChart bool
	// hadAutoscaler is set when an autoscaler is among the obsolete objects.
	hadAutoscaler bool
}

func (s *session) apply(ctx context.Context) (err error) {
	defer func() { err = s.withMissingRights(ctx, err) }()
	plan, err := s.planApply(ctx)
	if err != nil {
		return err
	}
	if err := s.leaveReplicas(ctx, plan.target); err != nil {
		return err
	}
	if err := s.save(ctx, plan.all, true); err != nil {
		return err
	}
	if err := s.awaitDeletion(ctx, plan.target); err != nil {
		return err
	}
	if err := s.noteOlderClaims(ctx, plan.target); err != nil {
		return err
	}
	err = s.asRevision(ctx, plan.history, plan.target, func(ctx context.Context) error { return s.applyAndPrune(ctx, plan) })
	if err != nil {
		return errors.Join(err, s.forgetKept(ctx))
	}
	if plan.hadChart {
		if err := s.deleteReleaseRecords(ctx); err != nil {
			return err
		}
	}
	if err := s.unmarkAdopted(ctx, plan.target); err != nil {
		return err
	}
	if err := s.renameHooks(ctx, plan.hooks); err != nil {
		return err
	}
	hooks := slices.DeleteFunc(plan.all, func(p *targetObject) bool { return !p.item.Hook })
	return s.save(ctx, slices.Concat(plan.target, hooks), false)
}

// planApply finds and reads all objects, and checks that the instance may have them.
// Nothing is written.
func (s *session) planApply(ctx context.Context) (*applyPlan, error) {
	plan := &applyPlan{}
	if err := s.readObjects(ctx, plan); err != nil {
		return nil, err
	}
	if err := s.readHistory(ctx, plan); err != nil {
		return nil, err
	}
	if err := s.checkOwners(slices.Concat(plan.target, plan.hooks)); err != nil {
		return nil, err
	}
	namespace, err := s.instanceNamespace(ctx, plan.target)
	if err != nil {
		return nil, err
	}
	if namespace != nil {
		plan.all = withInstanceNamespace(plan.all, namespace)
		plan.target = append([]*targetObject{namespace}, plan.target...)
	}
	plan.obsolete = slices.DeleteFunc(slices.Clone(plan.all), func(p *targetObject) bool {
		return p.object != nil || p == namespace || p.item.Hook
	})
	plan.hadChart = plan.history == nil && slices.ContainsFunc(plan.all, func(p *targetObject) bool {
		return p.live != nil && p.live.Annotations[render.AnnotationReleaseName] != ""
	})
	plan.hadAutoscaler = slices.ContainsFunc(autoscalers(plan.obsolete), func(p *targetObject) bool { return p.live != nil })
	return plan, nil
}

// readObjects reads the objects of target, hooks and inventory.
func (s *session) readObjects(ctx context.Context, plan *applyPlan) (err error) {
	if plan.target, err = s.resolveTarget(ctx); err != nil {
		return err
	}
	s.keepPosted()
	if err := s.resolveReplicasPaths(ctx, plan.target); err != nil {
		return err
	}
	if plan.hooks, err = s.resolveHooks(ctx); err != nil {
		return err
	}
	if plan.all, err = s.addInventory(ctx, slices.Concat(plan.target, plan.hooks)); err != nil {
		return err
	}
	return s.readLive(ctx, plan.all, readOptions{content: awaitsReadiness})
}

// readHistory reads the release of the chart, checks that the instance may change it, and
// adds the objects that only the release has.
func (s *session) readHistory(ctx context.Context, plan *applyPlan) error {
	history, unrecorded, err := s.readRelease(ctx, plan.all)
	if err != nil {
		return err
	}
	if err := history.CheckOwner(s.target.AdoptExisting); err != nil {
		return err
	}
	if err := s.checkRevisionVersion(ctx, history); err != nil {
		return err
	}
	plan.history, plan.all = history, append(plan.all, unrecorded...)
	return nil
}

// applyAndPrune writes the target, waits until it is ready, and removes obsolete objects.
func (s *session) applyAndPrune(ctx context.Context, plan *applyPlan) error {
	if err := s.applyWaves(ctx, plan); err != nil {
		return err
	}
	if plan.hadAutoscaler {
		if err := s.restoreReplicas(ctx, plan.target); err != nil {
			return err
		}
	}
	if err := tracing.RunSteps(ctx, s.target, vnfm.BeforePrune); err != nil {
		return err
	}
	return s.prune(ctx, plan, plan.obsolete)
}

// applyWaves writes everything and waits until all is ready.
func (s *session) applyWaves(ctx context.Context, plan *applyPlan) error {
	kept, first, err := s.keptWrite(ctx)
	if err != nil {
		return err
	}
	before, after := kept, keepNothing
	if !first {
		before, after = keepNothing, kept
	}
	if err := s.writeWaves(ctx, plan, before); err != nil {
		return err
	}
	// A webhook of the instance itself may have to run before it admits a Secret.
	if err := after(ctx); err != nil {
		return err
	}
	if err := tracing.RunSteps(ctx, s.target, vnfm.AfterWrite); err != nil {
		return err
	}
	if err := s.replaceOutdated(ctx, plan.target); err != nil {
		return err
	}
	return s.awaitWritten(ctx, plan.target, render.Waves)
}

// writeWaves writes the waves one after the other, and kept once the namespaces exist.
func (s *session) writeWaves(ctx context.Context, plan *applyPlan, kept func(context.Context) error) error {
	counter := &counter{session: s, total: len(plan.target)}
	for wave := range render.Waves {
		if wave == render.WaveConfiguration {
			if err := kept(ctx); err != nil {
				return err
			}
			if err := tracing.RunSteps(ctx, s.target, vnfm.AfterNamespaces); err != nil {
				return err
			}
		}
		if batch := ofWave(plan.target, wave); len(batch) > 0 {
			if err := s.prepareWave(ctx, plan, wave); err != nil {
				return err
			}
			if err := s.writeWave(ctx, plan, batch, counter); err != nil {
				return err
			}
		}
		if err := s.postRequests(ctx, plan, wave); err != nil {
			return err
		}
		if wave == render.WaveFoundation {
			if err := s.awaitFoundation(ctx, plan.target); err != nil {
				return err
			}
		}
	}
	counter.done(ctx)
	return nil
}

// awaitWritten waits until all objects up to a wave are ready. It first replaces pods that block a roll-out, and the pods of a heal.
func (s *session) awaitWritten(ctx context.Context, target []*targetObject, upTo int) error {
	if err := s.unblock(ctx, target); err != nil {
		return err
	}
	if replace := s.beforeReady; replace != nil {
		s.beforeReady = nil
		for _, p := range target {
			p.listed = "" // The wait has to list the object again after the replacement.
		}
		if err := replace(ctx); err != nil {
			return err
		}
	}
	return s.awaitReady(ctx, target, upTo)
}

// prepareWave creates the preconditions for writing a wave.
func (s *session) prepareWave(ctx context.Context, plan *applyPlan, wave int) error {
	switch wave {
	case render.WaveWorkload:
		// An obsolete autoscaler would change the replicas back until it is pruned.
		return s.prune(ctx, plan, autoscalers(plan.obsolete))
	case render.WaveExtension:
		return s.awaitWritten(ctx, plan.target, render.WaveCustom)
	default:
		return nil
	}
}

// writeWave writes the objects of a wave, the deferred ones last. Created objects are recorded even if the wave fails or is interrupted.
func (s *session) writeWave(ctx context.Context, plan *applyPlan, batch []*targetObject, done *counter) error {
	now, later := s.splitDeferred(batch)
	err := s.writeObjects(ctx, now, done)
	if err == nil && len(later) > 0 {
		if err = tracing.RunSteps(ctx, s.target, vnfm.BeforeDeferred); err == nil {
			err = s.writeObjects(ctx, later, done)
		}
	}
	if saveErr := s.save(context.WithoutCancel(ctx), plan.all, true); saveErr != nil {
		err = errors.Join(err, saveErr)
	}
	return err
}

// splitDeferred splits a wave into the objects that are written now and the objects whose change has to wait for them.
func (s *session) splitDeferred(batch []*targetObject) (now, later []*targetObject) {
	for _, p := range batch {
		if s.target.Defer != nil && p.live != nil && s.target.Defer(&p.item) {
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

func autoscalers(all []*targetObject) []*targetObject {
	var out []*targetObject
	for _, p := range all {
		if render.IsAutoscaler(gvkOf(&p.item).GroupKind()) {
			out = append(out, p)
		}
	}
	return out
}
