package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// droppedFields are fields of objects that the API server knows and does not keep. It says nothing of them: an older server, or one
// with a feature turned off, makes a Service or a volume that is not the described one.
type droppedFields struct {
	mu    sync.Mutex
	lines []string
}

// note compares what was sent with the answer.
func (d *droppedFields) note(o *render.Object, sent map[string]any, answer *unstructured.Unstructured) {
	paths := drift.Dropped(sent, answer.Object)
	if len(paths) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf("%s (%s): %s", o.Key, o.Place(), strings.Join(paths, ", ")))
}

// problems is one warning of all fields.
func (d *droppedFields) problems() vnfm.Problems {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.lines) == 0 {
		return nil
	}
	slices.Sort(d.lines)
	lines := slices.Compact(d.lines)
	if more := len(lines) - maxErrors; more > 0 {
		lines = append(lines[:maxErrors:maxErrors], fmt.Sprintf("and %d more", more))
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "the API server does not keep fields of objects",
		Detail: strings.Join(lines, "\n") + "\nThe feature of these fields is turned off in its version of Kubernetes, or a webhook removes them: the objects are made without " +
			"them. Upgrade the cluster, enable the feature, or remove the fields.",
	}}
}
