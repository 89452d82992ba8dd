package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Objects that the API server answers without storing them are posted once per content. The inventory notes the posted content. After
// a lost record was rebuilt, the next apply posts them again.

// keepPosted copies the notes of posted objects from the inventory if the target still contains the same content.
func (s *session) keepPosted() {
	s.posted = nil
	for _, item := range s.target.Instance.Inventory {
		if item.Posted != "" && slices.ContainsFunc(s.requests, func(p *targetObject) bool { return p.object.Key == item.Key && p.object.Digest == item.Posted }) {
			s.posted = append(s.posted, item)
		}
	}
}

// postRequests posts the objects of a wave that were not posted yet, one by one, and notes each.
func (s *session) postRequests(ctx context.Context, plan *applyPlan, wave int) error {
	for _, p := range ofWave(s.requests, wave) {
		if slices.ContainsFunc(s.posted, func(i vnfm.InventoryItem) bool { return i.Key == p.object.Key }) {
			continue
		}
		s.progress(ctx, "posting %s", p)
		if err := s.post(ctx, p); err != nil {
			return fmt.Errorf("posting %s (%s), of kind %s, of which the API server keeps nothing: %w", p, p.object.Place(), p.object.GVK.Kind, err)
		}
		p.item.Posted = cmp.Or(p.object.Digest, vnfm.Posted)
		s.posted = append(s.posted, p.item)
		if err := s.save(ctx, plan.all, true); err != nil {
			return err
		}
	}
	return nil
}

// post sends one object. A review is sent without metadata except its namespace, because the API server rejects the name that the
// manifest has for its readers. If a pod is already bound to the desired node, an earlier attempt bound it.
func (s *session) post(ctx context.Context, p *targetObject) error {
	body := kube.Merged(p.object.Content, nil)
	meta := map[string]any{}
	if p.object.IsBinding() {
		meta = kube.Merged(body["metadata"], nil)
		delete(meta, "namespace")
	}
	if p.ref.Namespace != "" {
		meta["namespace"] = p.ref.Namespace
	}
	body["metadata"] = meta
	_, err := s.client.Create(ctx, p.ref, body)
	if !p.object.IsBinding() || !apierrors.IsConflict(err) {
		return err
	}
	r, lookErr := s.client.Resource(ctx, podKind)
	if lookErr != nil {
		return err
	}
	pod, lookErr := s.client.Get(ctx, kube.Ref{Resource: r, Namespace: p.ref.Namespace, Name: p.ref.Name})
	if lookErr != nil {
		return err
	}
	if node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName"); node == "" || node != p.object.Field("target", "name") {
		return err
	}
	return nil
}
