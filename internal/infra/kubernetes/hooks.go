package kubernetes

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// The objects of hooks are created one by one, when their hook runs. They are in the inventory from the beginning, so that none
// outlives the instance. Drift detection ignores them.

// resolveHooks resolves the objects of hooks. An unknown kind is reported only when its hook runs, because the chart may define it.
func (s *session) resolveHooks(ctx context.Context) ([]*targetObject, error) {
	hooks, err := s.existingObjects(ctx, s.rendering.HookObjects())
	hooks = withoutDuplicates(hooks)
	for _, p := range hooks {
		p.item.Hook = true
	}
	s.hooks = append(s.hooks, hooks...)
	return hooks, err
}

// runHooks runs the hooks of an event one by one and stops at the first failure.
func (s *session) runHooks(ctx context.Context, e helm.Event) error {
	release := s.rendering.Release
	var done []*render.Hook
	for _, h := range release.HooksAt(e) {
		for _, own := range release.Hooks {
			if own.Hook != h {
				continue
			}
			s.progress(ctx, "running the %s hook %s", e, own.Object.Key)
			err := s.runHook(ctx, own)
			if err == nil {
				done = append(done, own)
				continue
			}
			err = fmt.Errorf("the %s hook %s (%s) failed: %w", e, own.Object.Key, own.Object.Place(), err)
			if ctx.Err() == nil {
				// A failed removal must not hide the failure of the hook.
				_ = s.removeHooks(ctx, []*render.Hook{own}, helm.HookFailed)
				_ = s.removeHooks(ctx, done, helm.HookSucceeded)
			}
			return err
		}
	}
	return s.removeHooks(ctx, done, helm.HookSucceeded)
}

// runHook creates the object of a hook and waits until it is done.
func (s *session) runHook(ctx context.Context, h *render.Hook) error {
	p, err := s.hookObject(ctx, h)
	if err != nil {
		return err
	}
	if h.Object.IsRequest() {
		return s.post(ctx, p)
	}
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil {
		p.live = liveOf(p, obj, false)
		// A Job or pod that an interrupted run left would count as the result of this run, whatever its delete policy.
		if h.Has(helm.BeforeHookCreation) || runsOnce(p) {
			if err := s.removeHook(ctx, p); err != nil {
				return err
			}
		}
	}
	h.Began()
	if err := s.writeHook(ctx, p); err != nil {
		h.Ended(false)
		return err
	}
	options := s.waitOptions(ctx, instanceSelector(s.target.Instance.ID))
	options.Ended = true
	err = s.client.WaitReady(ctx, []kube.Ref{p.ref}, options)
	h.Ended(err == nil)
	return err
}

func (s *session) writeHook(ctx context.Context, p *targetObject) error {
	body := applyBody(p.object, s.target, p.ref.Namespace, nil)
	obj, err := s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	if err != nil {
		return err
	}
	p.live = liveOf(p, obj, false)
	p.item.UID = string(p.live.UID)
	return nil
}

// hookObject returns the object of a hook.
func (s *session) hookObject(ctx context.Context, h *render.Hook) (*targetObject, error) {
	for _, p := range s.hooks {
		if p.object == h.Object {
			return p, nil
		}
	}
	r, _, err := s.resolveKind(ctx, h.Object.GVK)
	if err != nil {
		return nil, err
	}
	p := s.newTargetObject(h.Object, r)
	p.item.Hook = true
	s.hooks = append(s.hooks, p)
	return p, nil
}

// removeHooks removes the objects of hooks that have one of the policies, in reverse order. Like Helm it keeps definitions, because
// their removal would delete all objects of their kinds.
func (s *session) removeHooks(ctx context.Context, hooks []*render.Hook, policies ...helm.Policy) error {
	for _, h := range slices.Backward(hooks) {
		if !slices.ContainsFunc(policies, h.Has) || h.Object.GVK.Kind == "CustomResourceDefinition" {
			continue
		}
		p, err := s.hookObject(ctx, h)
		if err != nil {
			return err
		}
		if p.live == nil {
			continue
		}
		if err := s.removeHook(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) removeHook(ctx context.Context, p *targetObject) error {
	options := kube.DeleteOptions{UID: p.live.UID, Propagation: metav1.DeletePropagationForeground}
	if err := s.client.Delete(ctx, p.ref, options); err != nil {
		return fmt.Errorf("removing the object of hook %s: %w", p, err)
	}
	if err := s.client.WaitGone(ctx, []kube.Ref{p.ref}, s.waitOptions(ctx, "")); err != nil {
		return fmt.Errorf("removing the object of hook %s: %w", p, err)
	}
	p.live, p.item.UID = nil, ""
	return nil
}
