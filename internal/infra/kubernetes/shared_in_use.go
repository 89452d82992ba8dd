package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keptShared has one line for each namespace and definition that leaves the package but stays on the VIM.
type keptShared []string

func (k *keptShared) add(object, reason string) { *k = append(*k, object+": "+reason) }

func (k *keptShared) problems(s *session) vnfm.Problems {
	if len(*k) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("namespaces or definitions of kinds leave the package and stay on VIM %q", s.target.VIM.Name),
		Detail: strings.Join(*k, "\n") + "\nThey are no objects of the instance any more, and its termination leaves them behind. Delete them once nothing needs them. " +
			"A later package that has them takes them over.",
	}}
}

// keepsShared warns before an apply of namespaces and definitions that leave the package but stay on the VIM. It leaves out unreadable
// objects, which the apply reports.
func (s *session) keepsShared(ctx context.Context) vnfm.Problems {
	target, err := s.resolveTarget(ctx)
	if err != nil {
		return nil
	}
	all, err := s.addInventory(ctx, slices.Clone(target))
	if err != nil {
		return nil
	}
	own := s.needsNamespace(target)
	leaving := slices.DeleteFunc(all, func(p *targetObject) bool {
		return p.object != nil || p.wave != render.WaveFoundation || p.item.Hook || own && isNamespace(&p.item, s.namespace)
	})
	if s.readLive(ctx, leaving, readOptions{partly: true}) != nil {
		return nil
	}
	var left keptShared
	s.saved = s.target.Instance.Inventory
	r := removal{session: s, wanted: target}
	for _, p := range leaving {
		if p.live == nil || !s.belongs(p) {
			continue
		}
		if keep, reason, err := r.inUse(ctx, p); err == nil && !keep && reason != "" {
			left.add(p.item.Key, reason)
		}
	}
	return left.problems(s)
}

// wantedWith returns the objects of the target that the deletion of a namespace or a definition would delete.
func (r *removal) wantedWith(p *targetObject) []*targetObject {
	var out []*targetObject
	for _, w := range r.wanted {
		gvr := w.ref.Resource.GVR
		if isDefinition(p) && gvr.Resource+"."+gvr.Group == p.ref.Name || isNamespace(&p.item, w.ref.Namespace) {
			out = append(out, w)
		}
	}
	return out
}
