package base

import (
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// warningList collects what an operation that goes on reports to the user, from several VIMs at a time.
type warningList struct {
	mu       sync.Mutex
	problems vnfm.Problems
}

// add notes a warning. Each is noted once: an operation may be tried twice.
func (w *warningList) add(p vnfm.Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Severity = vnfm.SeverityWarning; !slices.Contains(w.problems, p) {
		w.problems = append(w.problems, p)
	}
}

// warn adds the warnings, at the content of the instance where they name no attribute.
func (w *warningList) warn(at path.Path, diags *diag.Diagnostics) {
	w.mu.Lock()
	defer w.mu.Unlock()
	diags.Append(tfutil.Problems(w.problems, at)...)
}
