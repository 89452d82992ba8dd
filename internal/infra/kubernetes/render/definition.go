package render

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defaultReplicasPath is the path of the replicas in all built-in kinds and most others.
var defaultReplicasPath = []string{"spec", "replicas"}

// Definition is the content of a CustomResourceDefinition.
type Definition struct {
	Group, Kind, Plural string
	Namespaced          bool
	// Storage is the version that objects are stored in.
	Storage string
	// Replicas maps the served versions to the path of the replicas of their
	// scale subresource; the path is nil without that subresource.
	Replicas map[string][]string
}

// DefinitionOf reads a CustomResourceDefinition; nil for other objects.
func DefinitionOf(o *Object) *Definition {
	if o.GVK.Group != "apiextensions.k8s.io" || o.GVK.Kind != "CustomResourceDefinition" {
		return nil
	}
	return ReadDefinition(o.Content)
}

// ReadDefinition reads the content of a CustomResourceDefinition.
func ReadDefinition(content map[string]any) *Definition {
	text := func(path ...string) string {
		s, _ := fieldOf(content, path...).(string)
		return s
	}
	d := &Definition{
		Group:      text("spec", "group"),
		Kind:       text("spec", "names", "kind"),
		Plural:     text("spec", "names", "plural"),
		Namespaced: text("spec", "scope") == "Namespaced",
		Replicas:   map[string][]string{},
	}
	list, _ := fieldOf(content, "spec", "versions").([]any)
	for _, item := range list {
		version, _ := item.(map[string]any)
		name, _ := version["name"].(string)
		if stored, _ := version["storage"].(bool); stored {
			d.Storage = name
		}
		if served, _ := version["served"].(bool); !served || name == "" {
			continue
		}
		d.Replicas[name] = nil
		if path, ok := fieldOf(version, "subresources", "scale", "specReplicasPath").(string); ok {
			d.Replicas[name] = strings.Split(strings.TrimPrefix(path, "."), ".")
		}
	}
	return d
}

// Serves reports whether the definition serves that kind and version.
func (d *Definition) Serves(gvk schema.GroupVersionKind) bool {
	_, ok := d.Replicas[gvk.Version]
	return ok && d.Group == gvk.Group && d.Kind == gvk.Kind
}
