package base

import (
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// told collects what an operation that goes on tells the user, on several VIMs at a time.
type told struct {
	mu       sync.Mutex
	problems vnfm.Problems
}

// add notes a warning. Each is noted once: an operation may be tried twice.
func (t *told) add(p vnfm.Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Severity = vnfm.SeverityWarning; !slices.Contains(t.problems, p) {
		t.problems = append(t.problems, p)
	}
}

// warn adds the warnings, at the content of the instance where they name no attribute.
func (t *told) warn(at path.Path, diags *diag.Diagnostics) {
	t.mu.Lock()
	defer t.mu.Unlock()
	diags.Append(tfutil.Problems(t.problems, at)...)
}
