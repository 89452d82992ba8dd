package kubernetes

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// belongs reports whether a live object is the instance's. An object without its label
// belongs to the instance when the inventory has its UID, or announced it and a manager of
// the driver wrote it; and so does what Helm's command created of the instance's release.
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

// isRetained reports whether a terminated instance of the same name kept the object for its
// successor.
func (s *session) isRetained(p *targetObject) bool {
	name, ok := p.live.Annotations[annotationRetained]
	return ok && p.live.Labels[labelInstance] == "" && name == s.target.Instance.Name
}

// checkOwners returns a *vnfm.ConflictError for every foreign object of the target that
// exists. It is called before anything is written. A foreign shared object is used as it
// is.
func (s *session) checkOwners(all []*targetObject) error {
	var errs []error
	for _, p := range all {
		if p.object == nil || p.live == nil || s.belongs(p) || s.isRetained(p) {
			continue
		}
		if p.object.Shared {
			p.shared = true
			continue
		}
		if id := p.live.Labels[labelInstance]; id != "" {
			owner := "VNF instance " + id
			if name := p.live.Annotations[annotationInstance]; name != "" {
				owner += " (" + name + ")"
			}
			errs = append(errs, &vnfm.ConflictError{
				Object: p.ref.String(), Owner: owner,
				Detail: "an object can belong to one instance only; use another namespace, or another package",
			})
			continue
		}
		if s.target.AdoptExisting {
			continue
		}
		errs = append(errs, &vnfm.ConflictError{
			Object: p.ref.String(), Owner: "no VNF instance (" + writers(p.live.ManagedFields) + ")",
			Detail: "it existed before; remove it, or set adopt_existing to take it over",
		})
	}
	return joinErrors(errs)
}

// writers names the field managers of an object: they hint at its owner.
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
