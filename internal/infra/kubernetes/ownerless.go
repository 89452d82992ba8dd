package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ownerlessObjects are objects of which no owner exists. The garbage collector deletes them soon after each apply has made them.
type ownerlessObjects struct {
	mu    sync.Mutex
	lines []string
}

// noteOwners notes an object whose manifest names owners none of which exists. Owners that cannot be read may exist.
func (s *session) noteOwners(ctx context.Context, p *targetObject) {
	owners, _ := p.object.Field("metadata", "ownerReferences").([]any)
	var missing []string
	for _, each := range owners {
		owner, _ := each.(map[string]any)
		name := s.missingOwner(ctx, p, owner)
		if name == "" {
			return
		}
		missing = append(missing, name)
	}
	if len(missing) == 0 {
		return
	}
	s.ownerless.mu.Lock()
	defer s.ownerless.mu.Unlock()
	s.ownerless.lines = append(s.ownerless.lines, fmt.Sprintf("%s (%s): %s", p, p.object.Place(), strings.Join(missing, ", ")))
}

// missingOwner names an owner that does not exist; empty for one that exists or that cannot be read.
func (s *session) missingOwner(ctx context.Context, p *targetObject, owner map[string]any) string {
	text := func(field string) string { value, _ := owner[field].(string); return value }
	r, err := s.client.Resource(ctx, schema.FromAPIVersionAndKind(text("apiVersion"), text("kind")))
	if err != nil {
		return ""
	}
	ref := kube.Ref{Resource: r, Name: text("name")}
	if r.Namespaced {
		ref.Namespace = p.ref.Namespace
	}
	obj, err := s.client.Get(ctx, ref)
	if apierrors.IsNotFound(err) || err == nil && string(obj.GetUID()) != text("uid") {
		return fmt.Sprintf("%s with uid %s", ref, text("uid"))
	}
	return ""
}

// problems is one warning of all objects.
func (o *ownerlessObjects) problems() vnfm.Problems {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) == 0 {
		return nil
	}
	slices.Sort(o.lines)
	lines := o.lines
	if more := len(lines) - maxErrors; more > 0 {
		lines = append(lines[:maxErrors:maxErrors], fmt.Sprintf("and %d more", more))
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "owners of objects do not exist",
		Detail: strings.Join(lines, "\n") + "\nThe garbage collector of Kubernetes deletes an object when none of its owners exists, and each plan makes it again. " +
			"Remove `metadata.ownerReferences` from the manifest.",
	}}
}
