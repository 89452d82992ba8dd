package kubernetes

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noteDropped notes the sent fields that the answer lacks. An API server silently drops known fields of a feature that is turned off,
// often in older versions. The Service or volume that it creates then differs from the manifest.
func (s *session) noteDropped(o *render.Object, sent map[string]any, answer *unstructured.Unstructured) {
	if paths := drift.Dropped(sent, answer.Object); len(paths) > 0 {
		s.dropped.add("%s (%s): %s", o.Key, o.Place(), strings.Join(paths, ", "))
	}
}

// droppedProblems returns one warning about all dropped fields.
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
