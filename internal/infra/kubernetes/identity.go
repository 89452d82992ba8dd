package kubernetes

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// objectKey is the identity of an object as its manifest writes it:
// "group/version/Kind namespace/name", without group for the core group and
// without namespace when the manifest names none.
func objectKey(gvk schema.GroupVersionKind, namespace, name string) string {
	var b strings.Builder
	if gvk.Group != "" {
		b.WriteString(gvk.Group + "/")
	}
	b.WriteString(gvk.Version + "/" + gvk.Kind + " ")
	if namespace != "" {
		b.WriteString(namespace + "/")
	}
	b.WriteString(name)
	return b.String()
}

// identity is what makes an object the same object on the server, whatever
// version of its API it is written in.
type identity struct {
	group, kind, namespace, name string
}

// identityOf returns the identity of an inventory item.
func identityOf(i *vnfm.InventoryItem) identity {
	return identity{i.Group, i.Kind, i.Namespace, i.Name}
}
