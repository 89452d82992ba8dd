package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// belongs reports whether a live object belongs to the instance. An object without a label belongs to it if the inventory has its UID,
// if the inventory names it and the driver wrote it, or if it is part of the instance's release.
func (s *session) belongs(p *targetObject) bool {
	switch id := p.live.Labels[labelInstance]; {
	case id == s.target.Instance.ID, id == "" && s.ownsRelease && s.isOfRelease(p):
		return true
	case id != "" || !p.recorded:
		return false
	case p.item.UID != "":
		return p.item.UID == string(p.live.UID)
	default:
		return slices.ContainsFunc(p.live.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == kube.FieldManager })
	}
}

// isRetained reports whether a terminated instance of the same name kept the object for its successor.
func (s *session) isRetained(p *targetObject) bool {
	name, ok := p.live.Annotations[annotationRetained]
	return ok && p.live.Labels[labelInstance] == "" && name == s.target.Instance.Name
}

// checkOwners returns a *vnfm.ConflictError for every owner of existing foreign objects of the target. It is called before anything is
// written. A foreign shared object is used unchanged.
func (s *session) checkOwners(all []*targetObject) error {
	var conflicts []*vnfm.ConflictError
	for _, p := range all {
		if conflict := s.ownerConflict(p); conflict != nil {
			conflicts = append(conflicts, conflict)
		}
	}
	var errs []error
	for _, conflict := range perOwner(conflicts) {
		errs = append(errs, conflict)
	}
	return joinErrors(errs)
}

// perOwner merges conflicts that differ only in their object.
func perOwner(conflicts []*vnfm.ConflictError) []*vnfm.ConflictError {
	const most = 5
	var out []*vnfm.ConflictError
	objects := map[vnfm.ConflictError][]string{}
	for _, c := range conflicts {
		key := *c
		key.Object = ""
		if objects[key] == nil {
			out = append(out, &key)
		}
		objects[key] = append(objects[key], c.Object)
	}
	for _, c := range out {
		all := objects[*c]
		c.Object = strings.Join(all[:min(most, len(all))], ", ")
		if more := len(all) - most; more > 0 {
			c.Object += fmt.Sprintf(" and %d more", more)
		}
		if len(all) > 1 {
			c.Object = "each of " + c.Object
		}
	}
	return out
}

// ownerConflict returns a conflict with the owner of an existing object of the target, nil if the instance may have the object. It
// marks a foreign shared object, which is used unchanged.
func (s *session) ownerConflict(p *targetObject) *vnfm.ConflictError {
	if p.object == nil || p.live == nil || s.belongs(p) || s.isRetained(p) {
		return nil
	}
	if p.object.Shared {
		p.shared = true
		return nil
	}
	if id := p.live.Labels[labelInstance]; id != "" {
		owner := "VNF instance " + id
		if name := p.live.Annotations[annotationInstance]; name != "" {
			owner = fmt.Sprintf("VNF instance %q (%s)", name, id)
		}
		return &vnfm.ConflictError{
			Object: p.withFacts(p.object.Place()), Owner: owner, OwnerID: id,
			Detail: "an object can belong to one instance only; use another namespace, or another package",
		}
	}
	if s.target.AdoptExisting {
		return nil
	}
	return &vnfm.ConflictError{
		Object: p.withFacts(p.object.Place(), writers(p.live.ManagedFields)+ofRelease(p.live.Annotations)), Owner: "no VNF instance",
		Detail: "it existed before; remove it, or set adopt_existing to take it over",
	}
}

// withFacts returns the name of an object with additional facts in parentheses.
func (p *targetObject) withFacts(facts ...string) string {
	facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
	if len(facts) == 0 {
		return p.ref.String()
	}
	return p.ref.String() + " (" + strings.Join(facts, ", ") + ")"
}

// ofRelease describes the Helm release in the annotations of an object.
func ofRelease(annotations map[string]string) string {
	name := annotations[render.AnnotationReleaseName]
	if name == "" {
		return ""
	}
	return fmt.Sprintf(", of the Helm release %s in namespace %s", name, annotations[render.AnnotationReleaseNamespace])
}

// writers lists the field managers of an object, which hint at its owner.
func writers(entries []metav1.ManagedFieldsEntry) string {
	var names []string
	for i := range entries {
		if entries[i].Subresource == "" && !slices.Contains(names, entries[i].Manager) {
			names = append(names, entries[i].Manager)
		}
	}
	if len(names) == 0 {
		return "of an unknown writer"
	}
	return "written by " + strings.Join(names, ", ")
}

// markAdopted marks an object that existed before the instance took it over. A termination before unmarkAdopted must not delete it.
func (s *session) markAdopted(ctx context.Context, p *targetObject) error {
	if p.live == nil || s.belongs(p) || s.isRetained(p) {
		return nil
	}
	return s.client.PatchMetadata(ctx, p.ref, nil, map[string]*string{annotationRetained: &s.target.Instance.Name})
}

// unmarkAdopted removes the marks of markAdopted. From then on a termination deletes the objects.
func (s *session) unmarkAdopted(ctx context.Context, target []*targetObject) error {
	return s.each(ctx, len(target), false, func(ctx context.Context, i int) error {
		p := target[i]
		if p.live == nil {
			return nil
		}
		if _, ok := p.live.Annotations[annotationRetained]; !ok {
			return nil
		}
		return s.client.PatchMetadata(ctx, p.ref, nil, map[string]*string{annotationRetained: nil})
	})
}

// isOfRelease reports whether the annotations of a live object contain the name and namespace of the chart's release.
func (s *session) isOfRelease(p *targetObject) bool {
	return p.live.Annotations[render.AnnotationReleaseName] == s.rendering.Release.ReleaseName() && p.live.Annotations[render.AnnotationReleaseNamespace] == s.namespace
}

// lostFields returns the applied fields that the driver no longer owns, except metadata that still has the applied value.
func (s *session) lostFields(p *targetObject) ([]drift.Unowned, error) {
	set, err := drift.Owned(p.live.ManagedFields, kube.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	body := s.body(p, nil)
	missing := slices.DeleteFunc(drift.FindUnowned(body, set), func(u drift.Unowned) bool {
		return s.metadataHolds(p, u)
	})
	return drift.SplitLists(missing, p.live.ManagedFields)
}

// metadataHolds reports whether a label or annotation still has the applied value. Package id and instance name may have any value,
// because the last apply may have had an earlier package or name.
func (s *session) metadataHolds(p *targetObject, u drift.Unowned) bool {
	fields := u.Path.Fields()
	if len(fields) != 3 || fields[0] != "metadata" {
		return false
	}
	var value string
	var present bool
	switch fields[1] {
	case "labels":
		value, present = p.live.Labels[fields[2]]
	case "annotations":
		value, present = p.live.Annotations[fields[2]]
	}
	if fields[2] == annotationPackage || fields[2] == annotationInstance {
		return present
	}
	return present && value == u.Value
}
