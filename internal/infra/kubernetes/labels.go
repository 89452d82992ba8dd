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
	// annotationRetained holds the name of the terminated instance that kept the object. An instance of that name takes the object
	// over. An object that was taken over has the annotation until the first apply of the instance is complete.
	annotationRetained = vnfm.LabelPrefix + "retained"
	// annotationHealed is set in the pod template of a workload and holds the id of the operation that last replaced its pods.
	annotationHealed = vnfm.LabelPrefix + "healed-by"
	// labelKeyOf holds the id of the instance on its Secret, which contains the key of its digests and its arguments.
	labelKeyOf = vnfm.LabelPrefix + "digest-key-of"
)

// instanceSelector selects all objects of an instance.
func instanceSelector(id string) string { return labelInstance + "=" + id }

// stamp sets the labels and annotations of the driver in the metadata of an apply. It copies the maps of the rendered object and never
// changes them.
func stamp(meta map[string]any, o *render.Object, instance *vnfm.Instance, packageID string) {
	meta["labels"] = kube.Merged(meta["labels"], map[string]any{labelInstance: instance.ID})
	meta["annotations"] = kube.Merged(meta["annotations"], map[string]any{
		annotationInstance: instance.Name,
		annotationPackage:  packageID,
		annotationDigest:   o.Digest,
		annotationKey:      o.Key,
	})
}

// showsOldName reports whether the annotations of an object contain a former name of the instance.
func (s *session) showsOldName(annotations map[string]string) bool {
	return annotations[annotationInstance] != s.target.Instance.Name
}

// renameHooks writes the new name of the instance to the remaining objects of hooks, which nothing else writes before their hook runs
// again.
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

// applyBody returns the body of an apply: the rendered object with its namespace, the driver's labels, and the replicas if set. It
// shares as much as possible with the rendered object and does not change it.
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
