package kubernetes

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// serverWarnings merges all warnings of the API server into one problem.
func serverWarnings(w *kube.Warnings) vnfm.Problems {
	lines := w.Lines()
	if len(lines) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "the API server warns of objects",
		Detail:   joined(lines) + "\nIt accepts them nevertheless. A warning is often an error of a later version, or the reason why an object does not become ready.",
	}}
}
