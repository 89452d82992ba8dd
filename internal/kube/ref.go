package kube

import (
	"fmt"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/urlpath"
)

// Resource is the discovery of a kind.
type Resource struct {
	GVK        schema.GroupVersionKind
	GVR        schema.GroupVersionResource
	Namespaced bool
	// Scale reports whether the kind has a scale subresource.
	Scale bool
	// Verbs are the verbs that the server offers for the kind, sorted.
	Verbs []string
}

// Ref names one object on the server.
type Ref struct {
	Resource Resource
	// Namespace is empty for cluster-scoped objects.
	Namespace string
	Name      string
}

// String renders kind, namespace and name as errors show them, for example
// "Deployment core/amf".
func (r Ref) String() string {
	if r.Resource.Namespaced && r.Namespace != "" {
		return fmt.Sprintf("%s %s/%s", r.Resource.GVK.Kind, r.Namespace, r.Name)
	}
	return fmt.Sprintf("%s %s", r.Resource.GVK.Kind, r.Name)
}

// collectionPath returns the path of the kind in a namespace, "" for all namespaces.
func (r Resource) collectionPath(namespace string) string {
	var b strings.Builder
	b.WriteString(groupVersionPath(r.GVR.GroupVersion()))
	if r.Namespaced && namespace != "" {
		b.WriteString("/namespaces/")
		b.WriteString(url.PathEscape(namespace))
	}
	b.WriteByte('/')
	b.WriteString(r.GVR.Resource)
	return b.String()
}

func groupVersionPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// path returns the path of the object, or an error if the reference is incomplete or a name cannot
// be part of a path.
func (r Ref) path(subresource string) (string, error) {
	switch {
	case r.Resource.GVR.Resource == "":
		return "", fmt.Errorf("%s: the kind was not looked up", r)
	case r.Name == "":
		return "", fmt.Errorf("%s: the object has no name", r)
	case r.Resource.Namespaced && r.Namespace == "":
		return "", fmt.Errorf("%s: the object has no namespace", r)
	}
	p := r.Resource.collectionPath(r.Namespace) + "/" + url.PathEscape(r.Name)
	if subresource != "" {
		p += "/" + subresource
	}
	if err := urlpath.Check(p); err != nil {
		return "", fmt.Errorf("%s: %w", r, err)
	}
	return p, nil
}

// checkPaths returns the error of the first reference without a valid path.
func checkPaths(refs []Ref) error {
	for _, ref := range refs {
		if _, err := ref.path(""); err != nil {
			return err
		}
	}
	return nil
}
