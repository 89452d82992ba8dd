package kubernetes

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// Helm's command may have worked on the release of a chart behind the VNF manager's
// back. The next apply makes the revision after its own, and what the command did to
// the objects is taken up as Helm itself would: what the new revision has not goes.

// helmManager is the field manager of Helm's command.
const helmManager = "helm"

// takeUp reads the history of the release of a chart; nil without one. Strays are
// objects that Helm's command has made of the instance's release, and that neither
// target nor inventory know.
func (s *session) takeUp(ctx context.Context, known []*placement) (h *History, strays []*placement, err error) {
	if h, err = s.history(ctx); h == nil || err != nil {
		return nil, nil, err
	}
	s.releaseOurs = h.Owned()
	strays, err = s.strays(ctx, h, known)
	return h, strays, err
}

// strays finds the objects of the last revision, and of the one that is deployed,
// which are not known and are there.
func (s *session) strays(ctx context.Context, h *History, known []*placement) ([]*placement, error) {
	if !s.releaseOurs {
		return nil, nil
	}
	taken := make(map[Identity]bool, len(known))
	for _, p := range known {
		taken[IdentityOf(&p.item)] = true
	}
	var found []*placement
	manifests, err := h.Manifests(ctx)
	if err != nil {
		return nil, err
	}
	b := budget.New(ctx, budget.Limits{})
	for _, m := range manifests {
		for _, o := range Decode(b, m.Secret, m.Text) {
			kind, ok, err := s.resolveOld(ctx, o.GVK)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			p := s.placed(o, kind)
			p.object = nil
			if !taken[IdentityOf(&p.item)] {
				taken[IdentityOf(&p.item)] = true
				found = append(found, p)
			}
		}
	}
	if err := s.survey(ctx, found, surveyOptions{}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(p *placement) bool {
		if p.live == nil || !s.belongs(p) {
			return true
		}
		p.item.UID = string(p.live.UID)
		return false
	}), nil
}

// ofRelease reports whether a live object says that it is of the chart's release.
func (s *session) ofRelease(p *placement) bool {
	return p.live.Annotations[AnnotationReleaseName] == s.rendering.Release.ReleaseName() && p.live.Annotations[AnnotationReleaseNamespace] == s.namespace
}

// survives reports whether an object shows that the release is there. One that the
// policy keeps may be that of an earlier release.
func (s *session) survives(p *placement) bool {
	return p.live != nil && p.object != nil && !p.object.Shared && s.belongs(p) && s.ofRelease(p) && p.live.Annotations[AnnotationResourcePolicy] != PolicyKeep
}

// disown takes from Helm's command the fields of an object that it has applied. It
// owns them beside us, and what a later revision drops would stay; what only the
// command has set goes at once.
func (s *session) disown(ctx context.Context, p *placement) error {
	applied := func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == helmManager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
	}
	if s.rendering.Release == nil || !slices.ContainsFunc(p.live.ManagedFields, applied) {
		return nil
	}
	if p.object.Scaling != nil {
		if err := s.handOver(ctx, p, helmManager); err != nil {
			return err
		}
	}
	obj, err := s.client.Apply(ctx, p.ref, identified(p), kube.ApplyOptions{FieldManager: helmManager, Force: true})
	if err != nil {
		return s.explainWrite(p, err)
	}
	p.live = liveOf(p, obj, false)
	p.ready = p.ready && p.live.ready
	return nil
}
