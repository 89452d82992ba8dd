package kubernetes

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// expandClaims expands the claims of a StatefulSet to the sizes of its new volume templates, because Kubernetes applies the templates
// only to new claims. Kubernetes expands a claim if its storage class allows it, and never shrinks one. A warning names the claims that
// keep their size.
func (s *session) expandClaims(ctx context.Context, p *targetObject) error {
	templates, _ := p.object.Field("spec", "volumeClaimTemplates").([]any)
	if len(templates) == 0 {
		return nil
	}
	r, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return err
	}
	claims, err := s.client.List(ctx, r, p.ref.Namespace, kube.ListOptions{})
	if err != nil {
		return err
	}
	for _, item := range templates {
		set := map[string]any{
			"metadata": map[string]any{"name": p.ref.Name},
			"spec":     map[string]any{"volumeClaimTemplates": []any{item}, "selector": p.object.Field("spec", "selector")},
		}
		template, _ := item.(map[string]any)
		wanted, ok := requestedStorage(template)
		if !ok {
			continue
		}
		for i := range claims {
			if claim := &claims[i]; isClaimOf(set, claim.GetName(), claim.GetLabels()) {
				s.expandClaim(ctx, r, claim, wanted)
			}
		}
	}
	return nil
}

func (s *session) expandClaim(ctx context.Context, r kube.Resource, claim *unstructured.Unstructured, wanted resource.Quantity) {
	has, ok := requestedStorage(claim.Object)
	if !ok || has.Cmp(wanted) == 0 {
		return
	}
	ref := kube.Ref{Resource: r, Namespace: claim.GetNamespace(), Name: claim.GetName()}
	err := errors.New("a claim cannot shrink")
	if has.Cmp(wanted) < 0 {
		body := applyIdentity(&targetObject{ref: ref, live: &live{ObjectMeta: metaOf(claim)}})
		kube.SetNested(body, wanted.String(), "spec", "resources", "requests", "storage")
		_, err = s.client.Apply(ctx, ref, body, kube.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	}
	if err != nil {
		s.unexpanded.add("%s stays at %s: %v", ref, has.String(), err)
	}
}

// requestedStorage returns the requested size of a claim or of a claim template.
func requestedStorage(claim map[string]any) (resource.Quantity, bool) {
	text, _, _ := unstructured.NestedString(claim, "spec", "resources", "requests", "storage")
	size, err := resource.ParseQuantity(text)
	return size, err == nil
}

// unexpandedProblems returns one warning about all claims that keep their size.
func (s *session) unexpandedProblems() vnfm.Problems {
	lines := s.unexpanded.sorted()
	if len(lines) == 0 {
		return nil
	}
	return vnfm.Problems{{
		Severity: vnfm.SeverityWarning,
		Summary:  "claims of a replaced StatefulSet keep their size",
		Detail: joined(lines) + "\nNew VNFCs get claims of the new size. Copy the data to a larger volume where it is needed, or use a storage class with " +
			"allowVolumeExpansion.",
	}}
}
