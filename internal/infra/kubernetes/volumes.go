package kubernetes

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// claimsStay is why claims stay behind.
const claimsStay = "volume claims stay with their data, for a later instance of this name takes them over; deletion_policy = { volumes = \"delete\" } deletes them with the instance"

// volumesInUse separates the PersistentVolumes of a batch that a claim is bound to which is not deleted with them. The API
// server would delete such a volume only after its claim, for which the removal would wait, and the claim would have lost its
// data.
func (r *removal) volumesInUse(ctx context.Context, batch []*targetObject) (free, inUse []*targetObject, err error) {
	s := r.session
	claimOf := make([]string, len(batch))
	err = s.each(ctx, len(batch), false, func(ctx context.Context, i int) (err error) {
		if isVolume(batch[i]) {
			claimOf[i], err = s.claimThatStays(ctx, batch[i], batch)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for i, p := range batch {
		if claimOf[i] == "" {
			free = append(free, p)
			continue
		}
		inUse = append(inUse, p)
		r.leave(p, "claim "+claimOf[i]+" stays, and it is bound to this volume")
	}
	return free, inUse, nil
}

// claimThatStays names the claim that is bound to a volume and exists when the batch is deleted; empty when there is none. A claim
// that may not be read may exist.
func (s *session) claimThatStays(ctx context.Context, volume *targetObject, batch []*targetObject) (string, error) {
	object, err := s.client.Get(ctx, volume.ref)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	claim, bound, _ := unstructured.NestedStringMap(object.Object, "spec", "claimRef")
	if !bound || phase != string(corev1.VolumeBound) {
		return "", nil
	}
	goes := slices.ContainsFunc(batch, func(p *targetObject) bool {
		return isClaim(p) && p.ref.Namespace == claim["namespace"] && p.ref.Name == claim["name"]
	})
	if goes {
		return "", nil
	}
	claims, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return "", err
	}
	there, err := s.client.Get(ctx, kube.Ref{Resource: claims, Namespace: claim["namespace"], Name: claim["name"]})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil && !apierrors.IsForbidden(err):
		return "", fmt.Errorf("looking for the claim of %s: %w", volume, err)
	case err == nil && (string(there.GetUID()) != claim["uid"] || there.GetDeletionTimestamp() != nil):
		return "", nil
	}
	return claim["namespace"] + "/" + claim["name"], nil
}

// leave reports an object that stays although the instance goes, with its namespace.
func (r *removal) leave(p *targetObject, reason string) {
	if r.onKept != nil {
		r.onKept(render.ObjectKey(gvkOf(&p.item), p.ref.Namespace, p.ref.Name), reason)
	}
}

// leaveMadeClaims reports the claims that StatefulSets have made and that stay. Without the right to list claims none is
// reported. A claim with an owner goes with that.
func (r *removal) leaveMadeClaims(ctx context.Context, all []*targetObject) error {
	if r.deleteVolumes || r.onKept == nil {
		return nil
	}
	made, err := r.session.statefulSetClaims(ctx, all, false)
	if apierrors.IsForbidden(err) {
		return nil
	}
	for _, p := range made {
		if len(p.live.OwnerReferences) == 0 {
			r.leave(p, claimsStay)
		}
	}
	return err
}
