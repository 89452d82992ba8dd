package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// writeObject brings one object to the target and updates its live state.
func (s *session) writeObject(ctx context.Context, p *targetObject) error {
	if p.object == nil {
		return s.applyInstanceNamespace(ctx, p)
	}
	action, err := s.decide(p)
	if err != nil {
		return err
	}
	switch action {
	case actionUse:
		p.ready = true
		return nil
	case actionKeep:
		p.ready = !awaitsReadiness(p) || p.live.ready
	default:
		if err := s.write(ctx, p, action); err != nil {
			return err
		}
	}
	if needsReplicas(p) {
		if err := s.setReplicas(ctx, p, p.object.Scaling.Count, true); err != nil {
			return err
		}
		p.ready = p.live.ready
	}
	p.item.UID = string(p.live.UID)
	return s.endCoOwnership(ctx, p)
}

// write executes the action for an object that has to be written, as the main field manager.
func (s *session) write(ctx context.Context, p *targetObject, action action) error {
	var replicas *int64
	switch {
	case p.live == nil:
		s.noteOwners(ctx, p)
		if p.object.Scaling != nil {
			replicas = p.object.Scaling.Initial()
		}
	case p.object.Scaling != nil:
		if err := s.handOverReplicas(ctx, p, kube.FieldManager); err != nil {
			return err
		}
	}
	if err := s.markAdopted(ctx, p); err != nil {
		return err
	}
	force := action == actionRepair || s.target.ForceConflicts
	if force && p.live != nil {
		if err := s.takeOverElements(ctx, p); err != nil {
			return s.explainWrite(p, err)
		}
	}
	before, body := s.beforeAdoption(ctx, p), s.body(p, replicas)
	if action == actionReplace {
		obj, err := s.replace(ctx, p, body)
		if err != nil {
			return s.explainWrite(p, err)
		}
		p.wrote(obj)
		return nil
	}
	if p.live != nil {
		if err := s.takeOverDropped(ctx, p, body, force); err != nil {
			return s.explainWrite(p, err)
		}
	}
	rereads := s.isForeign(p) && !s.readsUnchanged(p)
	obj, err := s.send(ctx, p, body, force)
	if err != nil {
		return s.explainWrite(p, err)
	}
	s.noteUnchanged(p, before, obj)
	s.noteDropped(p.object, body, obj)
	p.wrote(obj)
	p.unmarked = p.unmarked && !rereads
	return nil
}

// send applies the body of an object. The API server may refuse the change although it would accept the creation, see changeRefused.
func (s *session) send(ctx context.Context, p *targetObject, body map[string]any, force bool) (*unstructured.Unstructured, error) {
	options := kube.ApplyOptions{FieldManager: kube.FieldManager, Force: force}
	obj, err := s.client.Apply(ctx, p.ref, body, options)
	var conflict *kube.ConflictError
	if errors.As(err, &conflict) && s.onlyOwnManagers(conflict) {
		options.Force = true
		obj, err = s.client.Apply(ctx, p.ref, body, options)
	}
	if !apierrors.IsInvalid(err) || p.live == nil {
		return obj, err
	}
	taken, takeErr := s.takeOverDefaults(ctx, p, body)
	if takeErr != nil {
		return nil, errors.Join(err, takeErr)
	}
	if taken {
		if obj, err = s.client.Apply(ctx, p.ref, body, options); !apierrors.IsInvalid(err) {
			return obj, err
		}
	}
	if err = s.changeRefused(ctx, p, body, err); errors.As(err, new(*changeError)) && s.replaceable(p) {
		return s.replace(ctx, p, body)
	}
	if !options.Force {
		err = s.foreignElementConflict(ctx, p, err)
	}
	return nil, err
}

// wrote updates the live state after a write.
func (p *targetObject) wrote(obj *unstructured.Unstructured) {
	before := p.live
	p.see(obj, false)
	p.ready = p.live.ready
	p.unmarked = before != nil && before.template != "" && before.template == p.live.template
}

// onlyOwnManagers reports whether all conflicting fields belong to a field manager of the driver. Such fields are replicas that the
// VNFD no longer sets, the mark of a heal, or changes of an admission webhook to a request of the driver. For a chart's objects Helm's
// own manager counts too.
func (s *session) onlyOwnManagers(e *kube.ConflictError) bool {
	return len(e.Conflicts) > 0 && !slices.ContainsFunc(e.Conflicts, func(c kube.FieldConflict) bool {
		ours := slices.Contains([]string{kube.FieldManager, kube.ScaleFieldManager, kube.RestartFieldManager}, c.Manager)
		return !ours && (c.Manager != helmFieldManager || s.rendering.Release == nil)
	})
}

// explainWrite adds the name of the object and its place in the package to an error.
func (s *session) explainWrite(p *targetObject, err error) error {
	return fmt.Errorf("%s (%s): %w", p, p.object.Place(), err)
}
