package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// prune removes the instance's obsolete objects in the reverse order of the waves. It keeps volume claims for an instance of the same
// name, because their data may still be needed. With a warning it also keeps namespaces and definitions that other objects need.
func (s *session) prune(ctx context.Context, plan *applyPlan, old []*targetObject) error {
	r := removal{session: s, wanted: plan.target}
	for wave := render.Waves - 1; wave >= 0; wave-- {
		var batch []*targetObject
		for _, p := range ofWave(old, wave) {
			if p.live != nil && s.belongs(p) {
				batch = append(batch, p)
			}
		}
		if wave == render.WaveFoundation {
			var err error
			var left keptShared
			r.onKept = left.add
			if batch, err = r.removable(ctx, batch); err != nil {
				return err
			}
			s.warn(left.problems(s))
		}
		r.announce(ctx, batch)
		if err := r.removeWave(ctx, batch); err != nil {
			return fmt.Errorf("removing objects that are no longer in the package: %w", err)
		}
	}
	for _, p := range old {
		p.live = nil
	}
	return nil
}

// announce reports the objects to be removed and the objects that are kept.
func (r *removal) announce(ctx context.Context, batch []*targetObject) {
	if gone := slices.DeleteFunc(slices.Clone(batch), r.isKept); len(gone) > 0 {
		r.session.progress(ctx, "removing %s", firstNames(gone))
	}
	if kept := slices.DeleteFunc(slices.Clone(batch), func(p *targetObject) bool { return !r.isKept(p) }); len(kept) > 0 {
		r.session.progress(ctx, "keeping %s, no longer managed", firstNames(kept))
	}
}

// removal removes objects, wave by wave.
type removal struct {
	session *session
	// all is set when all objects with the instance's label are removed. Objects of one kind may then be deleted with one request.
	all bool
	// deleteVolumes deletes volume claims instead of keeping them.
	deleteVolumes bool
	// grace is the grace period of pods in seconds, nil for the pods' own.
	grace *int64
	// keepNamespace and keepDefinitions keep the instance's own namespace and the definitions of kinds, even if no other object
	// uses them.
	keepNamespace, keepDefinitions bool
	// wanted are the objects of the target, which stay.
	wanted []*targetObject
	// onKept, when set, is called for each object that is kept instead of deleted.
	onKept func(object, reason string)
	// podsForbidden is set without the right to list pods. Workloads are then deleted in the foreground, which waits for their pods.
	podsForbidden bool
	// later are collections with objects that have to be deleted after others of the same kind.
	later map[collection]bool
}

// removeWave removes the objects of one wave and waits until they are deleted. It tries all, even after a failure. Kept objects lose
// their label first.
func (r *removal) removeWave(ctx context.Context, batch []*targetObject) error {
	s := r.session
	var kept, deleted, volumes []*targetObject
	for _, p := range batch {
		switch {
		case r.isKept(p):
			kept = append(kept, p)
			if isClaim(p) && !r.deleteVolumes {
				r.leave(p, claimsStay)
			}
		case isVolume(p):
			volumes = append(volumes, p)
		default:
			deleted = append(deleted, p)
		}
	}
	if err := s.each(ctx, len(kept), true, func(ctx context.Context, i int) error { return s.retain(ctx, kept[i]) }); err != nil {
		return err
	}
	unowned, owned := splitOwned(deleted)
	_, groups := byCollection(owned)
	r.later = map[collection]bool{}
	for k := range groups {
		r.later[k] = true
	}
	if err := r.remove(ctx, unowned); err != nil {
		return err
	}
	r.later = nil
	if err := r.remove(ctx, owned); err != nil {
		return err
	}
	return r.removeVolumes(ctx, volumes)
}

// remove deletes objects and waits until they and the pods of workloads are deleted.
func (r *removal) remove(ctx context.Context, batch []*targetObject) error {
	s := r.session
	members, seen, err := s.findPodOwners(ctx, batch)
	if err != nil {
		return err
	}
	r.podsForbidden = !seen
	if err := r.delete(ctx, batch); err != nil {
		return err
	}
	if err := s.awaitPods(ctx, members, r.grace); err != nil {
		return err
	}
	var refs []kube.Ref
	for _, p := range batch {
		if r.endsLater(p) {
			refs = append(refs, p.ref)
		}
	}
	return s.client.WaitGone(ctx, refs, s.waitOptions(ctx, ""))
}

// splitOwned separates the objects whose owner is in the same batch. The controller of the owner may need them until its deletion
// ends: a Cluster of Cluster API cannot be deleted without its machine templates, or if its control plane is deleted before its nodes.
// Owned objects are therefore deleted after their owner, most by the garbage collector.
func splitOwned(batch []*targetObject) (unowned, owned []*targetObject) {
	uids := make(map[types.UID]bool, len(batch))
	for _, p := range batch {
		uids[p.live.UID] = true
	}
	for _, p := range batch {
		if slices.ContainsFunc(p.live.OwnerReferences, func(o metav1.OwnerReference) bool { return uids[o.UID] && o.UID != p.live.UID }) {
			owned = append(owned, p)
		} else {
			unowned = append(unowned, p)
		}
	}
	return unowned, owned
}

// isKept reports whether an object is kept for an instance of the same name: a claim unless claims are deleted, an object with the
// resource policy "keep", or an object that was taken over by an apply that has not completed. The last one existed before the
// instance.
func (r *removal) isKept(p *targetObject) bool {
	_, takenOver := p.live.Annotations[annotationRetained]
	return takenOver || p.live.Annotations[render.AnnotationResourcePolicy] == render.PolicyKeep || (isClaim(p) && !r.deleteVolumes)
}

// endsLater reports whether an object may still exist after its deletion was accepted.
func (r *removal) endsLater(p *targetObject) bool {
	return (r.podsForbidden && isWorkload(p)) || isPod(p) || isClaim(p) || p.wave == render.WaveFoundation || len(p.live.Finalizers) > 0
}

// delete deletes objects: many of a kind with one request, and concurrently the others with one request each.
func (r *removal) delete(ctx context.Context, batch []*targetObject) error {
	s := r.session
	together, alone := r.split(batch)
	refused := make([][]*targetObject, len(together))
	failed := s.each(ctx, len(together)+len(alone), true, func(ctx context.Context, i int) (err error) {
		if i >= len(together) {
			return r.deleteAlone(ctx, alone[i-len(together)])
		}
		refused[i], err = r.deleteTogether(ctx, together[i])
		return err
	})
	rest := slices.Concat(refused...)
	return errors.Join(failed, s.each(ctx, len(rest), true, func(ctx context.Context, i int) error { return r.deleteAlone(ctx, rest[i]) }))
}

func (r *removal) deleteAlone(ctx context.Context, p *targetObject) error {
	options := r.options(p)
	options.UID = p.live.UID
	return r.session.client.Delete(ctx, p.ref, options)
}

// split returns the collections that are deleted with one request, and the objects that are deleted singly. The API server deletes
// the objects of a collection sequentially, so one request pays only for more objects than are deleted concurrently.
func (r *removal) split(batch []*targetObject) (together [][]*targetObject, alone []*targetObject) {
	order, groups := byCollection(batch)
	for _, k := range order {
		labelled, others := r.labelled(groups[k])
		if len(labelled) > r.session.workers && !r.later[k] {
			together = append(together, labelled)
		} else {
			alone = append(alone, labelled...)
		}
		alone = append(alone, others...)
	}
	return together, alone
}

// labelled separates the objects of a collection that may be deleted by the label of the instance.
func (r *removal) labelled(group []*targetObject) (labelled, others []*targetObject) {
	first := group[0]
	// The Lease of the running operation has the label too.
	if !r.all || first.wave == render.WaveFoundation || first.item.Kind == "Lease" || !slices.Contains(first.ref.Resource.Verbs, "deletecollection") {
		return nil, group
	}
	for _, p := range group {
		if p.live.Labels[labelInstance] == r.session.target.Instance.ID {
			labelled = append(labelled, p)
		} else {
			others = append(others, p)
		}
	}
	return labelled, others
}

// deleteTogether deletes the objects of one kind and namespace by the instance's label. If the server refuses or fails, it returns the
// objects, which then have to be deleted singly, and no error.
func (r *removal) deleteTogether(ctx context.Context, group []*targetObject) (alone []*targetObject, err error) {
	s, first := r.session, group[0]
	err = s.client.DeleteCollection(ctx, first.ref.Resource, first.ref.Namespace, instanceSelector(s.target.Instance.ID), r.options(first))
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return group, nil //nolint:nilerr // each object tells what is wrong with it
	}
	return nil, nil
}

// options are the options of a deletion.
func (r *removal) options(p *targetObject) kube.DeleteOptions {
	options := kube.DeleteOptions{Propagation: metav1.DeletePropagationBackground}
	if r.podsForbidden && isWorkload(p) {
		options.Propagation = metav1.DeletePropagationForeground
	}
	if isPod(p) {
		options.GracePeriod = r.grace
	}
	return options
}

// retain removes the instance's label from an object and adds the name of the instance for its successor.
func (s *session) retain(ctx context.Context, p *targetObject) error {
	name := s.target.Instance.Name
	return s.client.PatchMetadata(ctx, p.ref,
		map[string]*string{labelInstance: nil},
		map[string]*string{annotationRetained: &name, annotationInstance: nil, annotationPackage: nil, annotationDigest: nil, annotationKey: nil})
}

// removable returns the objects of the batch that can be deleted. It removes the label of the instance from a namespace or definition
// that the specification keeps or that other objects use.
func (r *removal) removable(ctx context.Context, batch []*targetObject) ([]*targetObject, error) {
	s := r.session
	var out []*targetObject
	for _, p := range batch {
		keep, inUse, err := r.inUse(ctx, p)
		if err != nil {
			return nil, err
		}
		if !keep && inUse == "" {
			out = append(out, p)
			continue
		}
		if keep {
			s.progress(ctx, "%s is kept as specified", p)
		} else {
			s.progress(ctx, "%s is kept: %s", p, inUse)
			r.leave(p, inUse)
		}
		if err := s.retain(ctx, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inUse reports whether the specification keeps an object, and describes the objects that use it. The description is empty for an
// object that can be deleted.
func (r *removal) inUse(ctx context.Context, p *targetObject) (keep bool, inUse string, err error) {
	isNamespace := p.ref.Resource.GVK.GroupKind() == namespaceKind.GroupKind()
	switch {
	case p.live.DeletionTimestamp != nil:
		return false, "", nil
	case isNamespace && r.keepNamespace && isDriverMade(p), isDefinition(p) && r.keepDefinitions:
		return true, "", nil
	}
	users := r.wantedWith(p)
	switch {
	case len(users) > 0:
		return false, "objects of the package need it: " + firstNames(users), nil
	case isNamespace:
		users, err = r.session.namespaceUsers(ctx, p)
		inUse = "it holds "
	case isDefinition(p):
		users, err = r.session.livingForeignObjects(ctx, p)
		inUse = "objects of its kind that do not belong to the instance exist: "
	}
	if err != nil {
		refusal, text := kube.RefusalOf(err)
		if refusal != kube.NotAllowed && refusal != kube.RefusedForNow {
			return false, "", err
		}
		// Objects that cannot be listed may exist.
		return false, "foreign objects that cannot be listed may exist: " + text, nil
	}
	if len(users) == 0 {
		return false, "", nil
	}
	return false, inUse + firstNames(users), nil
}
