package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// The replicas of a workload have one owner at a time. The apply that creates the object sets them. Afterwards they belong to a
// separate field manager, the scale manager, or to an autoscaler, and later applies omit them. A manager that drops a field without
// another owner resets it to its default. The scale manager therefore takes over the replicas before the main manager drops them, so
// that the count never changes to one in between.

// applyIdentity returns the body for an apply of single fields of an existing object. The UID prevents the apply from recreating an
// object that was just deleted.
func applyIdentity(p *targetObject) map[string]any {
	meta := map[string]any{"name": p.ref.Name, "uid": string(p.live.UID)}
	if p.ref.Namespace != "" {
		meta["namespace"] = p.ref.Namespace
	}
	return map[string]any{
		"apiVersion": p.ref.Resource.GVK.GroupVersion().String(),
		"kind":       p.ref.Resource.GVK.Kind,
		"metadata":   meta,
	}
}

// setReplicas sets the replicas of an existing object, as the scale manager. Without force it returns a *kube.ConflictError if another
// manager has set another number.
func (s *session) setReplicas(ctx context.Context, p *targetObject, n int64, force bool) error {
	body := applyIdentity(p)
	kube.SetNested(body, n, p.object.Scaling.Path...)
	obj, err := s.client.Apply(ctx, p.ref, body, kube.ApplyOptions{FieldManager: kube.ScaleFieldManager, Force: force})
	if err != nil {
		return fmt.Errorf("setting the replicas of %s to %d: %w", p, n, err)
	}
	p.see(obj, false)
	return nil
}

// handOverReplicas makes the scale manager an owner of the replicas before the manager from drops them. It sets the number of the VDU,
// or keeps the number of an autoscaler.
func (s *session) handOverReplicas(ctx context.Context, p *targetObject, from string) error {
	scaling := p.object.Scaling
	held, byScale, err := drift.OwnsReplicas(p.live.ManagedFields, scaling.Path, from)
	if err != nil || !held || (byScale && !scaling.DriverOwned()) {
		return err
	}
	if scaling.DriverOwned() {
		return s.setReplicas(ctx, p, scaling.Count, true)
	}
	// The autoscaler may set another number at any time, which then takes precedence.
	for {
		if p.live.replicas == nil {
			return nil
		}
		err := s.setReplicas(ctx, p, *p.live.replicas, false)
		var conflict *kube.ConflictError
		if !errors.As(err, &conflict) {
			return err
		}
		obj, err := s.client.Get(ctx, p.ref)
		if err != nil {
			return err
		}
		p.live = liveOf(p, obj, false)
		if held, _, err := drift.OwnsReplicas(p.live.ManagedFields, scaling.Path, from); err != nil || !held {
			return err
		}
	}
}

// needsReplicas reports whether the driver has to change the number of replicas of a live object.
func needsReplicas(p *targetObject) bool {
	if p.object == nil || p.object.Scaling == nil || p.live == nil {
		return false
	}
	scaling, now := p.object.Scaling, p.live.replicas
	if scaling.DriverOwned() {
		return now == nil || *now != scaling.Count
	}
	// A stopped workload is started again. KEDA starts its workloads itself, and may have stopped this one on purpose.
	return scaling.VDU != "" && !scaling.FromZero && now != nil && *now == 0
}

// restoreReplicas sets the replicas again after the removal of an autoscaler, whose controller may have changed them until then.
func (s *session) restoreReplicas(ctx context.Context, target []*targetObject) error {
	var scaled, changed []*targetObject
	for _, p := range target {
		if isScaled(p) {
			scaled = append(scaled, p)
		}
	}
	if err := s.readLive(ctx, scaled, readOptions{selector: instanceSelector(s.target.Instance.ID), content: isScaled}); err != nil {
		return err
	}
	for _, p := range scaled {
		if needsReplicas(p) {
			changed = append(changed, p)
		}
	}
	err := s.each(ctx, len(changed), false, func(ctx context.Context, i int) error {
		p := changed[i]
		err := s.setReplicas(ctx, p, p.object.Scaling.Count, true)
		p.ready = err == nil && p.live.ready
		return err
	})
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, target, render.Waves)
}

// resolveReplicasPaths finds the path of the replicas of custom resources if neither their manifest nor a definition in the package
// contains it. Each kind costs one request.
func (s *session) resolveReplicasPaths(ctx context.Context, all []*targetObject) error {
	paths := map[schema.GroupVersionKind][]string{}
	others := map[*render.Object]*render.Object{}
	for _, p := range all {
		o := p.object
		if o == nil || o.Scaling == nil || o.Scaling.Written || render.BuiltIn(o.GVK.Group, o.GVK.Kind) || !p.ref.Resource.Scale ||
			s.rendering.Definitions[o.GVK.GroupKind()] != nil {
			continue
		}
		path, found := paths[o.GVK]
		if !found {
			var err error
			if path, err = s.replicasPathOf(ctx, p.ref.Resource); err != nil {
				return fmt.Errorf("finding out where %s holds its replicas: %w", p, err)
			}
			paths[o.GVK] = path
		}
		if path == nil || slices.Equal(path, o.Scaling.Path) {
			continue
		}
		p.object = o.WithReplicasAt(path)
		others[o] = p.object
	}
	if len(others) > 0 {
		s.rendering = s.rendering.With(others)
	}
	return nil
}

// replicasPathOf reads the path of the replicas from the definition of a kind.
func (s *session) replicasPathOf(ctx context.Context, kind kube.Resource) ([]string, error) {
	r, err := s.client.Resource(ctx, schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err != nil {
		return nil, err
	}
	obj, err := s.client.Get(ctx, kube.Ref{Resource: r, Name: kind.GVR.Resource + "." + kind.GVR.Group})
	if err != nil {
		return nil, err
	}
	return render.ReadDefinition(obj.Object).Replicas[kind.GVK.Version], nil
}
