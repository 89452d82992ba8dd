package kubernetes

import "github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"

// prefix is that of every label and annotation that the driver sets. Manifests
// must not use it but for what they tell the driver, packageAnnotations.
const prefix = vnfm.LabelPrefix

const (
	// labelInstance holds the id of the instance that an object belongs to.
	labelInstance = vnfm.InstanceLabel
	// annotationInstance holds the name of that instance.
	annotationInstance = prefix + "instance"
	// annotationPackage holds the id of the package that last changed the object.
	annotationPackage = prefix + "package"
	// annotationDigest holds the digest of the object as it was last applied.
	annotationDigest = prefix + "digest"
	// annotationKey holds the identity of the object as the package writes it.
	annotationKey = prefix + "key"
	// annotationRetained holds the name of the terminated instance that left the
	// object behind: an instance of that name takes it over again. An object that
	// was taken over keeps it until the first apply of the instance is complete.
	annotationRetained = prefix + "retained"
	// annotationHealed is set in the pod template of a workload and holds the id of
	// the operation for which its pods were replaced last.
	annotationHealed = prefix + "healed-by"
	// annotationConfiguration is set in the pod template of a workload and holds the
	// digest of the ConfigMaps and Secrets that its pods read.
	annotationConfiguration = prefix + "configuration"
	// labelReleaseOf holds, on the Secrets in which Helm's records of a release are,
	// the id of the instance whose release it is.
	labelReleaseOf = prefix + "release-of"
	// labelKeyOf holds, on the Secret in which the key of its digests is, the id of the
	// instance.
	labelKeyOf = prefix + "digest-key-of"
	// annotationLastApplied is what kubectl leaves in exported manifests. It
	// repeats the whole object, Secret data included, and is never applied.
	annotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// instanceSelector selects all objects of an instance.
func instanceSelector(id string) string { return labelInstance + "=" + id }

// stamp sets the labels and annotations of the driver on an object that is going
// to be applied. The maps of the rendered object are copied, never changed.
func stamp(meta map[string]any, o *object, instance *vnfm.Instance, packageID string) {
	meta["labels"] = merged(meta["labels"], map[string]any{labelInstance: instance.ID})
	meta["annotations"] = merged(meta["annotations"], map[string]any{
		annotationInstance: instance.Name,
		annotationPackage:  packageID,
		annotationDigest:   o.digest,
		annotationKey:      o.key,
	})
}

// merged returns a new map with the entries of both; those of extra win.
func merged(base any, extra map[string]any) map[string]any {
	old, _ := base.(map[string]any)
	out := make(map[string]any, len(old)+len(extra))
	for k, v := range old {
		out[k] = v
	}
	for k, v := range extra {
		out[k] = v
	}
	return out
}
