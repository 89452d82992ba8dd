package kubernetes

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// prune removes objects that the inventory has and the target has not, in the
// reverse order of the waves. Volume claims stay, for an instance of the same
// name to take over again: what they hold may be wanted when the objects are not.
func (s *session) prune(ctx context.Context, old []*targetObject) error {
	r := removal{session: s}
	for wave := render.Waves - 1; wave >= 0; wave-- {
		var batch []*targetObject
		for _, p := range ofWave(old, wave) {
			if p.live != nil && s.belongs(p) {
				batch = append(batch, p)
			}
		}
		if wave == render.WaveFoundation {
			var err error
			if batch, err = r.removable(ctx, batch); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			s.progress(ctx, "removing %s", firstNames(batch))
		}
		if err := r.removeWave(ctx, batch); err != nil {
			return fmt.Errorf("removing objects that the package does not have any more: %w", err)
		}
	}
	for _, p := range old {
		p.live = nil
	}
	return nil
}

// firstNames names the first objects of a list.
func firstNames(all []*targetObject) string {
	const most = 3
	text := ""
	for i, p := range all {
		if i == most {
			return fmt.Sprintf("%s and %d more", text, len(all)-most)
		}
		if i > 0 {
			text += ", "
		}
		text += p.String()
	}
	return text
}

// removal removes objects, wave by wave.
type removal struct {
	session *session
	// all is set when everything goes that carries the instance's label: objects of
	// one kind may then be removed together.
	all bool
	// deleteVolumes deletes volume claims instead of leaving them behind.
	deleteVolumes bool
	// grace is the grace period of pods in seconds; nil takes each pod's own.
	grace *int64
	// keepNamespace and keepDefinitions leave the instance's own namespace and the
	// definitions of kinds behind, also when nobody else uses them.
	keepNamespace, keepDefinitions bool
	// onKept, when set, hears what stays although it was to be deleted.
	onKept func(object, reason string)
	// podsForbidden is set where pods may not be seen: workloads are then deleted in the
	// foreground, which waits for them.
	podsForbidden bool
}

// controllers are workloads whose pods must be gone before what they use goes.
func isWorkload(p *targetObject) bool {
	switch p.item.Group {
	case "apps":
		return p.wave == render.WaveWorkload
	case "batch":
		return true
	case "":
		return p.item.Kind == "ReplicationController"
	default:
		return false
	}
}

func isClaim(p *targetObject) bool {
	return p.item.Group == "" && p.item.Kind == "PersistentVolumeClaim"
}

func isPod(p *targetObject) bool { return p.item.Group == "" && p.item.Kind == "Pod" }

// removeWave removes the objects of one wave and waits until they are gone. All are
// tried, also after one has failed. What stays loses its label before anything goes.
func (r *removal) removeWave(ctx context.Context, batch []*targetObject) error {
	s := r.session
	var kept, deleted []*targetObject
	for _, p := range batch {
		if r.isKept(p) {
			kept = append(kept, p)
		} else {
			deleted = append(deleted, p)
		}
	}
	if err := s.each(ctx, len(kept), true, func(ctx context.Context, i int) error { return s.retain(ctx, kept[i]) }); err != nil {
		return err
	}
	unowned, owned := splitOwned(deleted)
	if err := r.remove(ctx, unowned); err != nil {
		return err
	}
	return r.remove(ctx, owned)
}

// remove deletes objects and waits until they, and the pods of workloads among them,
// are gone.
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

// splitOwned tells the objects of a batch that none of the others owns from those that
// one does. The controller of an owner may need what it owns until it has done with
// it: a Cluster of Cluster API that loses its machine templates, or its control plane
// before its nodes, is stranded. So what is owned goes after its owner, with which most
// of it has gone by then.
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

// isKept reports whether an object is left behind for an instance of the same name:
// a claim, unless claims are to be deleted, what its own policy keeps, and
// everything that the instance took over and that its first apply did not get to be
// ready with. That was there before, and is not the instance's own to delete yet.
func (r *removal) isKept(p *targetObject) bool {
	_, takenOver := p.live.Annotations[annotationRetained]
	return takenOver || p.live.Annotations[render.AnnotationResourcePolicy] == render.PolicyKeep || (isClaim(p) && !r.deleteVolumes)
}

// endsLater reports whether the object may still be there after its deletion was
// accepted. Everything else is gone with the answer.
func (r *removal) endsLater(p *targetObject) bool {
	return (r.podsForbidden && isWorkload(p)) || isPod(p) || isClaim(p) || p.wave == render.WaveFoundation || len(p.live.Finalizers) > 0
}

// delete deletes objects: those of one kind together where that is possible, which is
// one request for all of them, and the others one by one.
func (r *removal) delete(ctx context.Context, batch []*targetObject) error {
	s := r.session
	order, groups := byCollection(batch)
	alone := make([][]*targetObject, len(order))
	err := s.each(ctx, len(order), true, func(ctx context.Context, i int) error {
		var err error
		alone[i], err = r.deleteTogether(ctx, groups[order[i]])
		return err
	})
	if err != nil {
		return err
	}
	rest := slices.Concat(alone...)
	return s.each(ctx, len(rest), true, func(ctx context.Context, i int) error {
		options := r.options(rest[i])
		options.UID = rest[i].live.UID
		return s.client.Delete(ctx, rest[i].ref, options)
	})
}

// deleteTogether deletes the objects of one kind and namespace by the instance's
// label and returns those that have to be deleted one by one. That the server does
// not offer or allow it, or could not do it to the end, is no failure.
func (r *removal) deleteTogether(ctx context.Context, group []*targetObject) (alone []*targetObject, err error) {
	s, first := r.session, group[0]
	labelled := func(p *targetObject) bool { return p.live.Labels[labelInstance] == s.target.Instance.ID }
	together := slices.DeleteFunc(slices.Clone(group), func(p *targetObject) bool { return !labelled(p) })
	// A Lease of the instance's label is the one under which it is worked on.
	if !r.all || len(together) < 2 || first.wave == render.WaveFoundation || first.item.Kind == "Lease" ||
		!slices.Contains(first.ref.Resource.Verbs, "deletecollection") {
		return group, nil
	}
	err = s.client.DeleteCollection(ctx, first.ref.Resource, first.ref.Namespace, instanceSelector(s.target.Instance.ID), r.options(first))
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return group, nil //nolint:nilerr // each object tells what is wrong with it
	}
	return slices.DeleteFunc(slices.Clone(group), labelled), nil
}

// options are how objects of a kind are deleted.
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

// retain takes the instance's mark from an object and notes for whom it waits.
func (s *session) retain(ctx context.Context, p *targetObject) error {
	name := s.target.Instance.Name
	return s.client.PatchMetadata(ctx, p.ref,
		map[string]*string{labelInstance: nil},
		map[string]*string{annotationRetained: &name, annotationInstance: nil, annotationPackage: nil, annotationDigest: nil, annotationKey: nil})
}
