package kubernetes

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// defaultReplicasPath is where all built-in kinds keep their replicas, and most others.
var defaultReplicasPath = []string{"spec", "replicas"}

// definition is what a CustomResourceDefinition says of its kind.
type definition struct {
	group, kind, plural string
	namespaced          bool
	// storage is the version that objects are stored in.
	storage string
	// replicas maps the served versions to the path of the replicas of their
	// scale subresource; the path is nil without that subresource.
	replicas map[string][]string
}

// definitionOf reads a CustomResourceDefinition; nil when the object is none.
func definitionOf(o *object) *definition {
	if o.gvk.Group != "apiextensions.k8s.io" || o.gvk.Kind != "CustomResourceDefinition" {
		return nil
	}
	return readDefinition(o.content)
}

// readDefinition reads the content of a CustomResourceDefinition.
func readDefinition(content map[string]any) *definition {
	text := func(path ...string) string {
		value, _ := kube.Nested(content, path...)
		s, _ := value.(string)
		return s
	}
	d := &definition{
		group:      text("spec", "group"),
		kind:       text("spec", "names", "kind"),
		plural:     text("spec", "names", "plural"),
		namespaced: text("spec", "scope") == "Namespaced",
		replicas:   map[string][]string{},
	}
	versions, _ := kube.Nested(content, "spec", "versions")
	list, _ := versions.([]any)
	for _, item := range list {
		version, _ := item.(map[string]any)
		name, _ := version["name"].(string)
		if stored, _ := version["storage"].(bool); stored {
			d.storage = name
		}
		if served, _ := version["served"].(bool); !served || name == "" {
			continue
		}
		d.replicas[name] = nil
		if value, ok := kube.Nested(version, "subresources", "scale", "specReplicasPath"); ok {
			if path, isText := value.(string); isText {
				d.replicas[name] = strings.Split(strings.TrimPrefix(path, "."), ".")
			}
		}
	}
	return d
}

// serves reports whether the definition gives that kind.
func (d *definition) serves(gvk schema.GroupVersionKind) bool {
	_, ok := d.replicas[gvk.Version]
	return ok && d.group == gvk.Group && d.kind == gvk.Kind
}
