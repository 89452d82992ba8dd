package render

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ObjectKey is the identity of an object as its manifest writes it:
// "group/version/Kind namespace/name", without group for the core group and
// without namespace when the manifest names none.
func ObjectKey(gvk schema.GroupVersionKind, namespace, name string) string {
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

// Identity identifies an object on the server, whatever version of its API it is written
// in.
type Identity struct {
	Group, Kind, Namespace, Name string
}

// IdentityOf returns the identity of an inventory item.
func IdentityOf(i *vnfm.InventoryItem) Identity {
	return Identity{i.Group, i.Kind, i.Namespace, i.Name}
}
