package kubernetes

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// noteOwners notes an object if none of the owners in its manifest exists. Unreadable owners may exist.
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
	s.ownerless.add("%s (%s): %s", p, p.object.Place(), strings.Join(missing, ", "))
}

// missingOwner returns the name of an owner that does not exist. It is empty for an owner that exists or cannot be read.
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

// ownerlessProblems returns one warning about all objects without an existing owner.
func (s *session) ownerlessProblems() vnfm.Problems {
	lines := s.ownerless.sorted()
	if len(lines) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "owners of objects do not exist",
		Detail: joined(lines) + "\nThe garbage collector of Kubernetes deletes an object when none of its owners exists, and each plan makes it again. " +
			"Remove `metadata.ownerReferences` from the manifest.",
	}}
}
