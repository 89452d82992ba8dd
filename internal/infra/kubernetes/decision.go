package kubernetes

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
)

// action is the action of an apply on an object of the target.
type action string

const (
	// actionKeep leaves an object unchanged that equals the target.
	actionKeep action = "keep"
	// actionUse leaves a shared object of another owner unchanged.
	actionUse action = "use"
	// actionCreate creates an object that does not exist.
	actionCreate action = "create"
	// actionAdopt applies an object that exists and becomes the instance's.
	actionAdopt action = "adopt"
	// actionChange applies an object whose content the target changes.
	actionChange action = "change"
	// actionRepair applies an object that lost fields or labels since its last apply. It forces the apply because the driver owned
	// these fields.
	actionRepair action = "repair"
	// actionReplace deletes an object and creates it again.
	actionReplace action = "replace"
)

// decide returns the action for an object of the target, depending on its live state. It sends no request. The caller has checked the
// owners, so a foreign object may be adopted.
func (s *session) decide(p *targetObject) (action, error) {
	switch {
	case p.shared:
		return actionUse, nil
	case p.live == nil:
		return actionCreate, nil
	case s.readsOther(p), s.isForeign(p) && isPod(p) && p.live.DeletionTimestamp == nil && !s.readsUnchanged(p):
		// A running pod does not read its configuration again.
		return actionReplace, nil
	case s.isForeign(p):
		return actionAdopt, nil
	case p.live.Annotations[annotationDigest] != p.object.Digest:
		return actionChange, nil
	case p.live.Labels[labelInstance] != s.target.Instance.ID, s.showsOldName(p.live.Annotations):
		return actionRepair, nil
	}
	missing, err := s.lostFields(p)
	if err != nil || len(missing) == 0 {
		return actionKeep, err
	}
	return actionRepair, nil
}

// readsOther reports whether a bare Pod of the instance started with other ConfigMaps or Secrets than the target contains. It returns
// false for a Pod without the annotation.
func (s *session) readsOther(p *targetObject) bool {
	if !isPod(p) || p.live.DeletionTimestamp != nil || !s.belongs(p) {
		return false
	}
	had, known := p.live.Annotations[render.AnnotationConfiguration]
	return known && had != p.object.Field("metadata", "annotations", render.AnnotationConfiguration)
}
