package kubernetes

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noteDropped compares what was sent with the answer. The API server says nothing of fields that it knows and does not keep: an older one,
// or one with a feature turned off, makes a Service or a volume that is not the described one.
func (s *session) noteDropped(o *render.Object, sent map[string]any, answer *unstructured.Unstructured) {
	if paths := drift.Dropped(sent, answer.Object); len(paths) > 0 {
		s.dropped.add("%s (%s): %s", o.Key, o.Place(), strings.Join(paths, ", "))
	}
}

// droppedProblems is one warning of all fields.
func (s *session) droppedProblems() vnfm.Problems {
	lines := s.dropped.sorted()
	if len(lines) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "the API server does not keep fields of objects",
		Detail: joined(lines) + "\nThe feature of these fields is turned off in its version of Kubernetes, or a webhook removes them: the objects are made without " +
			"them. Upgrade the cluster, enable the feature, or remove the fields.",
	}}
}
