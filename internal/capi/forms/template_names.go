package forms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Templates of machines are immutable: Cluster API replaces machines when their template has
// another name. Charts have a digest in these names. A template of clusterctl has fixed names.
// Therefore this file renames a template of machines whose content changes, with a digest as
// suffix, and the references to it. The first content keeps the written name, so that no machine
// is replaced for a name, whichever tool or version of the provider has created the cluster.

// maxName is the maximum length of a name (RFC 1123).
const maxName = 253

// machineTemplate is a template of machines, with the references to it.
type machineTemplate struct {
	object     map[string]any
	references []map[string]any
}

func (m *machineTemplate) name() string { return StringAt(m.object, "metadata", "name") }

// key identifies the template by its written name.
func (m *machineTemplate) key() string { return StringAt(m.object, "kind") + " " + m.name() }

// digest returns the digest of the specification.
func (m *machineTemplate) digest() string {
	// The object was decoded from YAML.
	text, _ := json.Marshal(m.object["spec"])
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// contentName returns the name of the template with the digest of its content.
func (m *machineTemplate) contentName() string {
	name, end := m.name(), "-"+m.digest()
	return name[:min(len(name), maxName-len(end))] + end
}

// rename sets the name of the template, and of the references to it.
func (m *machineTemplate) rename(name string) {
	Child(m.object, "metadata")["name"] = name
	for _, reference := range m.references {
		reference["name"] = name
	}
}

// machineTemplates returns, in order, the templates to which control planes and node groups refer.
func machineTemplates(objects []map[string]any) []*machineTemplate {
	var out []*machineTemplate
	for _, o := range objects {
		if !strings.HasSuffix(StringAt(o, "kind"), "Template") {
			continue
		}
		m := &machineTemplate{object: o}
		for _, reference := range machineReferences(objects) {
			if StringAt(reference, "kind") == StringAt(o, "kind") && StringAt(reference, "name") == m.name() {
				m.references = append(m.references, reference)
			}
		}
		if len(m.references) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// machineReferences returns the references of control planes and node groups to their templates,
// in either version of the API.
func machineReferences(objects []map[string]any) []map[string]any {
	var out []map[string]any
	add := func(o map[string]any, path ...string) {
		for _, field := range path {
			o, _ = o[field].(map[string]any)
		}
		if o != nil {
			out = append(out, o)
		}
	}
	for _, o := range objects {
		switch GroupOf(StringAt(o, "apiVersion")) {
		case Group:
			add(o, "spec", "template", "spec", "infrastructureRef")
			add(o, "spec", "template", "spec", "bootstrap", "configRef")
		case "controlplane." + Group:
			add(o, "spec", "machineTemplate", "infrastructureRef")
			add(o, "spec", "machineTemplate", "spec", "infrastructureRef")
		}
	}
	return out
}

// renameChanged renames the templates of machines whose content differs from their first one.
func (f template) renameChanged(objects []map[string]any) []map[string]any {
	for _, m := range machineTemplates(objects) {
		if first, known := f.First[m.key()]; known && first != m.digest() {
			m.rename(m.contentName())
		}
	}
	return objects
}

// KeepTemplateNames sets the first contents of the templates of machines in a wanted
// specification from the present one, because the names of the templates depend on them.
// The present one is nil for a cluster without a record.
func KeepTemplateNames(wanted, present *vnfm.ClusterSpec) {
	if wanted.Template == nil {
		return
	}
	completed := *wanted.Template
	switch {
	case present == nil:
		completed.First = firstOfKnown(wanted)
	case present.Template == nil:
		completed.First = nil
	default:
		completed.First = firstOf(present)
	}
	wanted.Template = &completed
}

// firstOf returns the first contents of the templates of machines of a cluster: the recorded
// contents, and for other templates the present ones.
func firstOf(present *vnfm.ClusterSpec) map[string]string {
	out := maps.Clone(present.Template.First)
	if out == nil {
		out = map[string]string{}
	}
	for _, m := range machineTemplates(template{present.Template}.render(present, &vnfm.Problems{})) {
		if _, known := out[m.key()]; !known {
			out[m.key()] = m.digest()
		}
	}
	return out
}

// firstOfKnown returns an empty first content for each template of machines that a cluster
// without a record has under the name of its content: the first content is unknown.
func firstOfKnown(wanted *vnfm.ClusterSpec) map[string]string {
	out := map[string]string{}
	for _, m := range machineTemplates(template{wanted.Template}.render(wanted, &vnfm.Problems{})) {
		has := func(name string) bool {
			return slices.Contains(wanted.Template.Known, StringAt(m.object, "apiVersion")+"/"+StringAt(m.object, "kind")+" "+name)
		}
		if !has(m.name()) && has(m.contentName()) {
			out[m.key()] = ""
		}
	}
	return out
}
