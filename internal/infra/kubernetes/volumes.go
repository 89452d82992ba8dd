package kubernetes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// claimsStay is the reported reason for claims that stay.
const claimsStay = "volume claims stay with their data, for a later instance of this name takes them over; deletion_policy = { volumes = \"delete\" } deletes them with the instance"

// removeVolumes deletes PersistentVolumes and waits until they are deleted. It keeps a volume whose claim stays, even while the claim is
// being bound. The API server would delete such a volume only after the claim, so the removal would wait for the claim, and the claim
// would lose its data. The claims to be deleted have already been deleted.
func (r *removal) removeVolumes(ctx context.Context, volumes []*targetObject) error {
	s := r.session
	deleted := make([]bool, len(volumes))
	err := s.each(ctx, len(volumes), true, func(ctx context.Context, i int) (err error) {
		deleted[i], err = r.removeVolume(ctx, volumes[i])
		return err
	})
	if err != nil {
		return err
	}
	var refs []kube.Ref
	for i, p := range volumes {
		if deleted[i] {
			refs = append(refs, p.ref)
		}
	}
	return s.client.WaitGone(ctx, refs, s.waitOptions(ctx, ""))
}

// removeVolume deletes a PersistentVolume, or keeps it for the claim that stays. It reads the volume again if it has changed since the
// check of the claim.
func (r *removal) removeVolume(ctx context.Context, p *targetObject) (deleted bool, err error) {
	s := r.session
	for {
		volume, err := s.client.Get(ctx, p.ref)
		if apierrors.IsNotFound(err) || err == nil && volume.GetUID() != p.live.UID {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		claim, err := s.claimThatStays(ctx, volume)
		if err != nil {
			return false, err
		}
		if claim != "" {
			r.leave(p, "claim "+claim+" stays, and this volume is for it")
			return false, s.retain(ctx, p)
		}
		options := r.options(p)
		options.UID, options.ResourceVersion = p.live.UID, volume.GetResourceVersion()
		if err = s.client.Delete(ctx, p.ref, options); !apierrors.IsConflict(err) {
			return true, err
		}
	}
}

// claimThatStays returns the name of the existing claim of a volume, empty if there is none. A claim that may not be read counts as
// existing, unless the volume is released.
func (s *session) claimThatStays(ctx context.Context, volume *unstructured.Unstructured) (string, error) {
	claim, _, _ := unstructured.NestedStringMap(volume.Object, "spec", "claimRef")
	if claim["name"] == "" {
		return "", nil
	}
	name := claim["namespace"] + "/" + claim["name"]
	claims, err := s.client.Resource(ctx, claimKind)
	if err != nil {
		return "", err
	}
	there, err := s.client.Get(ctx, kube.Ref{Resource: claims, Namespace: claim["namespace"], Name: claim["name"]})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case apierrors.IsForbidden(err):
		if phase, _, _ := unstructured.NestedString(volume.Object, "status", "phase"); phase == string(corev1.VolumeReleased) {
			return "", nil
		}
		return name, nil
	case err != nil:
		return "", fmt.Errorf("looking for the claim of PersistentVolume %s: %w", volume.GetName(), err)
	}
	bound, _, _ := unstructured.NestedString(there.Object, "spec", "volumeName")
	another := claim["uid"] != "" && claim["uid"] != string(there.GetUID()) || bound != "" && bound != volume.GetName()
	if another || there.GetDeletionTimestamp() != nil {
		return "", nil
	}
	return name, nil
}

// leave reports an object that stays after the removal, with its namespace.
func (r *removal) leave(p *targetObject, reason string) {
	if r.onKept != nil {
		r.onKept(render.ObjectKey(gvkOf(&p.item), p.ref.Namespace, p.ref.Name), reason)
	}
}

// leaveMadeClaims reports the claims that StatefulSets created and that stay. It reports none without the right to list claims. It
// leaves out claims with an owner, because the garbage collector deletes them.
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
