package kubernetes

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The labels and annotations that the driver sets.
const (
	// labelInstance holds the id of the instance that an object belongs to.
	labelInstance = vnfm.InstanceLabel
	// annotationInstance holds the name of that instance.
	annotationInstance = vnfm.LabelPrefix + "instance"
	// annotationPackage holds the id of the package that last changed the object.
	annotationPackage = vnfm.LabelPrefix + "package"
	// annotationDigest holds the digest of the object as it was last applied.
	annotationDigest = vnfm.LabelPrefix + "digest"
	// annotationKey holds the identity of the object as the package writes it.
	annotationKey = vnfm.LabelPrefix + "key"
	// annotationRetained holds the name of the terminated instance that kept the object: an
	// instance of that name takes it over. A taken over object has it until the first apply
	// of the instance is complete.
	annotationRetained = vnfm.LabelPrefix + "retained"
	// annotationHealed is set in the pod template of a workload and holds the id of
	// the operation for which its pods were replaced last.
	annotationHealed = vnfm.LabelPrefix + "healed-by"
	// labelKeyOf holds, on the Secret in which the key of its digests and its arguments are, the id of the
	// instance.
	labelKeyOf = vnfm.LabelPrefix + "digest-key-of"
)

// instanceSelector selects all objects of an instance.
func instanceSelector(id string) string { return labelInstance + "=" + id }

// stamp sets the labels and annotations of the driver on an object that is going
// to be applied. The maps of the rendered object are copied, never changed.
func stamp(meta map[string]any, o *render.Object, instance *vnfm.Instance, packageID string) {
	meta["labels"] = kube.Merged(meta["labels"], map[string]any{labelInstance: instance.ID})
	meta["annotations"] = kube.Merged(meta["annotations"], map[string]any{
		annotationInstance: instance.Name,
		annotationPackage:  packageID,
		annotationDigest:   o.Digest,
		annotationKey:      o.Key,
	})
}

// showsOldName reports whether the annotations of an object name the instance as it was called
// before.
func (s *session) showsOldName(annotations map[string]string) bool {
	return annotations[annotationInstance] != s.target.Instance.Name
}

// renameHooks gives the objects of hooks that have stayed the name of the instance: nothing else
// writes them before their hook runs again.
func (s *session) renameHooks(ctx context.Context, hooks []*targetObject) error {
	return s.each(ctx, len(hooks), false, func(ctx context.Context, i int) error {
		p := hooks[i]
		if p.live == nil || !s.belongs(p) || !s.showsOldName(p.live.Annotations) {
			return nil
		}
		err := s.client.PatchMetadata(ctx, p.ref, nil, map[string]*string{annotationInstance: &s.target.Instance.Name})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// applyBody returns what is sent to the server: the rendered object in its namespace, with
// the driver's labels, and with replicas when they are given. It shares as much as possible
// with the rendered object, which is not changed.
func applyBody(o *render.Object, t *vnfm.Target, namespace string, replicas *int64) map[string]any {
	out := kube.Merged(o.Content, nil)
	meta := kube.Merged(o.Content["metadata"], nil)
	delete(meta, "namespace")
	if namespace != "" {
		meta["namespace"] = namespace
	}
	stamp(meta, o, t.Instance, t.Package.ID)
	out["metadata"] = meta
	if replicas != nil && o.Scaling != nil {
		kube.SetNested(out, *replicas, o.Scaling.Path...)
	}
	return out
}
