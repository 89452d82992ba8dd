package kubernetes

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/release"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// The helm command may have changed the release of a chart. The next apply creates the following revision and treats the changes like
// Helm: it removes objects and fields that the new revision does not contain.

// helmFieldManager is the field manager of the helm command.
const helmFieldManager = "helm"

// readRelease reads the history of a chart's release, nil without a chart. It also returns the objects of the instance's release that
// the helm command created and that are not in exclude.
func (s *session) readRelease(ctx context.Context, exclude []*targetObject) (h *release.History, unrecorded []*targetObject, err error) {
	if h, err = s.history(ctx); h == nil || err != nil {
		return nil, nil, err
	}
	s.ownsRelease = h.Owned()
	unrecorded, err = s.unrecordedObjects(ctx, h, exclude)
	return h, unrecorded, err
}

// unrecordedObjects returns the existing objects of the last and of the deployed revision that are not in exclude.
func (s *session) unrecordedObjects(ctx context.Context, h *release.History, exclude []*targetObject) ([]*targetObject, error) {
	if !s.ownsRelease {
		return nil, nil
	}
	manifests, err := h.Manifests(ctx)
	if err != nil {
		return nil, err
	}
	var objects []*render.Object
	b := budget.New(ctx, budget.Limits{})
	for _, m := range manifests {
		objects = append(objects, render.Decode(b, m.Secret, m.Text)...)
	}
	found, err := s.existingObjects(ctx, objects)
	if err != nil {
		return nil, err
	}
	found = withoutDuplicates(found, exclude...)
	for _, p := range found {
		p.object = nil
	}
	if err := s.readLive(ctx, found, readOptions{}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(p *targetObject) bool {
		if p.live == nil || !s.belongs(p) {
			return true
		}
		p.item.UID = string(p.live.UID)
		return false
	}), nil
}

// showsRelease reports whether an object proves that the release exists. An object with the resource policy "keep" may belong to an
// earlier release.
func (s *session) showsRelease(p *targetObject) bool {
	return p.live != nil && p.object != nil && !p.object.Shared && s.belongs(p) && s.isOfRelease(p) && p.live.Annotations[render.AnnotationResourcePolicy] != render.PolicyKeep
}

// history reads the revisions of the chart's release; nil without a chart.
func (s *session) history(ctx context.Context) (*release.History, error) {
	if s.rendering == nil || s.rendering.Release == nil {
		return nil, nil
	}
	return release.ReadHistory(ctx, s.client, s.rendering.Release, s.namespace, s.target.Instance.ID)
}
