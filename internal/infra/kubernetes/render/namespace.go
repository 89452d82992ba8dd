package render

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The parameter "namespace" overrides the namespaces in manifests and VNFD, as in OpenStack Tacker. Without this parameter each
// object stays in the namespace that its manifest names. The argument "namespace" is only for objects that name none, and the
// namespace of a chart's release moves no object whose template names another one.

// clusterScoped are the built-in kinds, and well-known others, whose objects are in no namespace. The API server ignores a
// namespace in their manifests.
var clusterScoped = map[schema.GroupKind]bool{
	{Kind: "Namespace"}:        true,
	{Kind: "Node"}:             true,
	{Kind: "PersistentVolume"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   true,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:                 true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                             true,
	{Group: "authentication.k8s.io", Kind: "SelfSubjectReview"}:                       true,
	{Group: "authentication.k8s.io", Kind: "TokenReview"}:                             true,
	{Group: "authorization.k8s.io", Kind: "SelfSubjectAccessReview"}:                  true,
	{Group: "authorization.k8s.io", Kind: "SelfSubjectRulesReview"}:                   true,
	{Group: "authorization.k8s.io", Kind: "SubjectAccessReview"}:                      true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                       true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}:       true,
	{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"}:                        true,
	{Group: "networking.k8s.io", Kind: "IPAddress"}:                                   true,
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                                true,
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:                                 true,
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:                                      true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:                         true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}:                  true,
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:                               true,
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}:                   true,
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                                      true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}:                                   true,
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:                               true,
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}:                          true,
}

// overrideNamespace moves the objects that name another namespace to the namespace of the parameter, and returns them with their
// former identities. A custom resource that names a namespace counts as namespaced, unless its definition in the package says
// otherwise.
func (r *Rendering) overrideNamespace(namespace string) map[*Object]string {
	moved := map[*Object]string{}
	if namespace == "" || r.Release != nil {
		return moved
	}
	for _, o := range r.Objects {
		if o.namespace == "" || o.namespace == namespace || clusterScoped[o.GVK.GroupKind()] {
			continue
		}
		if d := r.Definitions[o.GVK.GroupKind()]; d != nil && !d.Namespaced {
			continue
		}
		was := o.namespace
		moved[o] = o.Key
		o.namespace, o.Key = namespace, ObjectKey(o.GVK, namespace, o.Name)
		kube.SetNested(o.Content, namespace, "metadata", "namespace")
		if path := []string{"spec", "resourceAttributes", "namespace"}; o.GVK.Kind == "LocalSubjectAccessReview" && o.Field(path...) == was {
			// The API server requires the namespace of the review itself.
			kube.SetNested(o.Content, namespace, path...)
		}
	}
	return moved
}

// warnMoved warns of the objects that the parameter moves. Objects of other VIMs are not in the rendering and not named.
func (r *Rendering) warnMoved(moved map[*Object]string, namespace string, ps *vnfm.Problems) {
	var keys []string
	for _, o := range r.Objects {
		if key, ok := moved[o]; ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	*ps = append(*ps, vnfm.Problem{
		Severity: vnfm.SeverityWarning, Attribute: vnfm.AttributeParams, Key: paramNamespace,
		Summary: fmt.Sprintf("additional parameter %q moves objects to namespace %s: %s", paramNamespace, namespace, strings.Join(keys, ", ")),
		Detail: "without it they are where the package puts them. Namespaces in other fields, such as those of the subjects of a RoleBinding, " +
			"stay as the package writes them",
	})
}
