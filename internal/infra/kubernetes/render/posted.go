package render

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects of some kinds are only requests: the API server answers a review, or binds a pod, and stores no object that could be
// read or deleted.

var bindingKind = schema.GroupKind{Kind: "Binding"}

// requestKinds are these kinds. The value is true if the API server requires a name.
var requestKinds = map[schema.GroupKind]bool{
	bindingKind: true,
	{Group: "authentication.k8s.io", Kind: "SelfSubjectReview"}:       false,
	{Group: "authentication.k8s.io", Kind: "TokenReview"}:             false,
	{Group: "authorization.k8s.io", Kind: "LocalSubjectAccessReview"}: false,
	{Group: "authorization.k8s.io", Kind: "SelfSubjectAccessReview"}:  false,
	{Group: "authorization.k8s.io", Kind: "SelfSubjectRulesReview"}:   false,
	{Group: "authorization.k8s.io", Kind: "SubjectAccessReview"}:      false,
}

// IsRequest reports whether an object is a request that the API server answers without storing it. A request is posted once, and
// neither tracked nor deleted.
func (o *Object) IsRequest() bool {
	_, ok := requestKinds[o.GVK.GroupKind()]
	return ok
}

// IsBinding reports whether an object binds a pod to a node.
func (o *Object) IsBinding() bool { return o.GVK.GroupKind() == bindingKind }

// needsNoName reports whether a manifest may have no name.
func (o *Object) needsNoName() bool {
	named, ok := requestKinds[o.GVK.GroupKind()]
	return ok && !named
}

// nameRequests names each request without a name after its kind, with a running number: the identity needs a name.
func (r *Rendering) nameRequests() {
	count := map[schema.GroupKind]int{}
	for _, o := range r.Objects {
		if o.Name != "" {
			continue
		}
		gk := o.GVK.GroupKind()
		count[gk]++
		o.Name = fmt.Sprintf("%s-%d", strings.ToLower(gk.Kind), count[gk])
		o.Key = ObjectKey(o.GVK, o.namespace, o.Name)
	}
}
