package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// missingNamespaces counts, by namespace, the objects of a dry run whose namespace is missing.
type missingNamespaces map[string]int

// problems returns one warning about the namespaces that the apply does not create. Another resource of the same plan may create them.
func (m missingNamespaces) problems(s *session) vnfm.Problems {
	made := map[string]bool{s.namespace: true}
	for _, o := range s.rendering.Objects {
		if o.GVK.GroupKind() == namespaceKind.GroupKind() {
			made[o.Name] = true
		}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !made[name] {
			lines = append(lines, fmt.Sprintf("namespace %s: %d objects", name, m[name]))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("namespaces of objects do not exist on VIM %q", s.target.VIM.Name),
		Detail: strings.Join(lines, "\n") + "\nThe apply makes the namespace of the instance and those that the package has as objects. Make the others before it, " +
			"or have the package, or the values of its chart, name the namespace of the instance.",
	}}
}

// missing notes that the namespace of an object does not exist.
func (t *dryRun) missing(o *render.Object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.namespaces[o.NamespaceIn(t.session.namespace)]++
}
