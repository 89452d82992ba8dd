package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// writeObject brings one object to the target and records what the server then holds.
func (s *session) writeObject(ctx context.Context, p *targetObject) error {
	if p.object == nil {
		return s.applyInstanceNamespace(ctx, p)
	}
	if p.shared {
		p.ready = true
		return nil
	}
	needed, repair, err := s.needsWrite(p)
	if err != nil {
		return err
	}
	if needed && s.keptFirst && p.object.Keyed() {
		if err := s.keptBeside(); err != nil {
			return err
		}
	}
	if needed {
		if p.live == nil {
			s.noteOwners(ctx, p)
		}
		if err := s.applyMain(ctx, p, repair); err != nil {
			return err
		}
	}
	if needsReplicas(p) {
		if err := s.setReplicas(ctx, p, p.object.Scaling.Count, true); err != nil {
			return err
		}
		p.ready = p.live.ready
	} else if !needed {
		p.ready = !awaitsReadiness(p) || p.live.ready
	}
	p.item.UID = string(p.live.UID)
	return s.endCoOwnership(ctx, p)
}

// needsWrite reports whether an object has to be written. The write is a repair when the
// content is what was applied last: the driver owned all fields that it lost.
func (s *session) needsWrite(p *targetObject) (needed, repair bool, err error) {
	if p.live == nil {
		return true, false, nil
	}
	if !s.belongs(p) || p.live.Annotations[annotationDigest] != p.object.Digest {
		return true, false, nil
	}
	if p.live.Labels[labelInstance] != s.target.Instance.ID || s.showsOldName(p.live.Annotations) {
		return true, true, nil
	}
	missing, err := s.lostFields(p)
	return len(missing) > 0, true, err
}

// applyMain applies the object as the main manager.
func (s *session) applyMain(ctx context.Context, p *targetObject, repair bool) error {
	o := p.object
	var replicas *int64
	if o.Scaling != nil {
		if p.live == nil {
			replicas = o.Scaling.Initial()
		} else if err := s.handOverReplicas(ctx, p, kube.FieldManager); err != nil {
			return err
		}
	}
	if err := s.markAdopted(ctx, p); err != nil {
		return err
	}
	options := kube.ApplyOptions{FieldManager: kube.FieldManager, Force: repair || s.target.ForceConflicts}
	if options.Force && p.live != nil {
		if err := s.takeOverElements(ctx, p); err != nil {
			return s.explainWrite(p, err)
		}
	}
	before, body := s.beforeAdoption(ctx, p), s.body(p, replicas)
	rereads := s.isForeign(p) && !s.readsUnchanged(p)
	if s.readsOther(p) || rereads && isPod(p) && p.live.DeletionTimestamp == nil {
		obj, err := s.replace(ctx, p, body, options)
		if err != nil {
			return s.explainWrite(p, err)
		}
		p.wrote(obj)
		return nil
	}
	if p.live != nil {
		if err := s.takeOverDropped(ctx, p, body, options.Force); err != nil {
			return s.explainWrite(p, err)
		}
	}
	obj, err := s.client.Apply(ctx, p.ref, body, options)
	var conflict *kube.ConflictError
	if errors.As(err, &conflict) && s.onlyOwnManagers(conflict) {
		options.Force = true
		obj, err = s.client.Apply(ctx, p.ref, body, options)
	}
	if isImmutable(err) && p.live != nil && s.replaceable(p) {
		obj, err = s.replace(ctx, p, body, options)
	}
	if apierrors.IsInvalid(err) && p.live != nil && !options.Force {
		err = s.foreignElementConflict(ctx, p, err)
	}
	if err != nil {
		return s.explainWrite(p, err)
	}
	s.noteUnchanged(p, before, obj)
	s.noteDropped(o, body, obj)
	p.wrote(obj)
	p.unmarked = p.unmarked && !rereads
	return nil
}

// wrote takes over what the server holds after a write.
func (p *targetObject) wrote(obj *unstructured.Unstructured) {
	before := p.live
	p.see(obj, false)
	p.ready = p.live.ready
	p.unmarked = before != nil && before.template != "" && before.template == p.live.template
}

// readsOther reports whether a bare Pod of the instance has started with other ConfigMaps or
// Secrets than those of the target. Of one that does not say it nothing is known.
func (s *session) readsOther(p *targetObject) bool {
	if !isPod(p) || p.live == nil || p.live.DeletionTimestamp != nil || !s.belongs(p) {
		return false
	}
	had, known := p.live.Annotations[render.AnnotationConfiguration]
	return known && had != p.object.Field("metadata", "annotations", render.AnnotationConfiguration)
}

// replaceable reports whether an object that cannot be changed may be deleted and created
// again: a Job of another version is another run, a bare Pod stores nothing, and the user
// names others.
func (s *session) replaceable(p *targetObject) bool {
	return isPod(p) || (p.item.Group == "batch" && p.item.Kind == "Job") || slices.Contains(s.target.ReplaceObjects, p.item.Key)
}

// replace deletes an object that cannot be changed and creates it again.
func (s *session) replace(ctx context.Context, p *targetObject, body map[string]any, o kube.ApplyOptions) (*unstructured.Unstructured, error) {
	s.progress(ctx, "replacing %s, which cannot be changed in place", p)
	if err := s.client.Delete(ctx, p.ref, kube.DeleteOptions{UID: p.live.UID, Propagation: metav1.DeletePropagationForeground}); err != nil {
		return nil, err
	}
	if err := s.client.WaitGone(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, "")); err != nil {
		return nil, fmt.Errorf("waiting until the former %s is gone, to create it again: %w", p, err)
	}
	return s.client.Apply(ctx, p.ref, body, o)
}

// onlyOwnManagers reports whether all conflicting fields belong to a field manager of the
// driver: replicas that the VNFD does not set any more, the time of a roll-out that a heal has set, or what an admission webhook
// changed in a request of the driver. Of a chart's objects Helm's own manager counts as
// well.
func (s *session) onlyOwnManagers(e *kube.ConflictError) bool {
	return len(e.Conflicts) > 0 && !slices.ContainsFunc(e.Conflicts, func(c kube.FieldConflict) bool {
		ours := slices.Contains([]string{kube.FieldManager, kube.ScaleFieldManager, kube.RestartFieldManager}, c.Manager)
		return !ours && (c.Manager != helmFieldManager || s.rendering.Release == nil)
	})
}

// immutableMessages are parts of the messages by which the API server refuses to change
// a field of an object that exists.
var immutableMessages = []string{"immutable", "updates to statefulset spec", "pod updates may not change", "may not change once set"}

// isImmutable reports whether the API server refused to change a field of an
// object that exists.
func isImmutable(err error) bool {
	return apierrors.IsInvalid(err) && slices.ContainsFunc(immutableMessages, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// explainWrite adds where the object is written and, for an immutable field, what to do.
func (s *session) explainWrite(p *targetObject, err error) error {
	err = fmt.Errorf("%s (%s): %w", p, p.object.Place(), err)
	if p.live != nil && isImmutable(err) {
		return fmt.Errorf("%w; %s", err, immutableAdvice(p.item.Key))
	}
	return err
}

// immutableAdvice is the advice for an object with an immutable field.
func immutableAdvice(key string) string {
	return fmt.Sprintf("Kubernetes does not allow a change of this field: give the object another name, or name it in replace_objects (%q) so that it is deleted and created again", key)
}
