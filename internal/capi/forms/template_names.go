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

// Templates of machines cannot change: Cluster API replaces machines when what describes
// them has another name. Charts have a digest in these names. A template of clusterctl
// writes them down once and for all, so that a template of machines whose content changes
// gets its name here, with a digest at the end, and so does what refers to it. The first
// content keeps the name as it is written: by whatever hand the cluster was made, and with any
// version of the provider, no machine is replaced for a name.

// maxName is the length of a name (RFC 1123).
const maxName = 253

// machineTemplate is an object that machines are made of, with the references to it.
type machineTemplate struct {
	object     map[string]any
	references []map[string]any
}

func (m *machineTemplate) name() string { return StringAt(m.object, "metadata", "name") }

// key is how the template goes by as it is written.
func (m *machineTemplate) key() string { return StringAt(m.object, "kind") + " " + m.name() }

// digest is that of what Cluster API makes machines of.
func (m *machineTemplate) digest() string {
	// It came from a text.
	text, _ := json.Marshal(m.object["spec"])
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// contentName is the name of the template with the digest of its content.
func (m *machineTemplate) contentName() string {
	name, end := m.name(), "-"+m.digest()
	return name[:min(len(name), maxName-len(end))] + end
}

// rename gives the template, and what refers to it, another name.
func (m *machineTemplate) rename(name string) {
	Child(m.object, "metadata")["name"] = name
	for _, reference := range m.references {
		reference["name"] = name
	}
}

// machineTemplates are the templates among objects that control planes and node groups
// refer to, in their order.
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

// machineReferences are the references of control planes and node groups to what their
// machines are made of, in either version of the API.
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

// renameChanged gives the templates of machines whose content is not their first one any more
// the names of their contents.
func (f template) renameChanged(objects []map[string]any) []map[string]any {
	for _, m := range machineTemplates(objects) {
		if first, known := f.First[m.key()]; known && first != m.digest() {
			m.rename(m.contentName())
		}
	}
	return objects
}

// KeepTemplateNames fills the first contents of the templates of machines into a wanted
// specification, on which the names of these templates depend: those of the present cluster,
// which is nil for one without a record.
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

// firstOf are the first contents of the templates of machines of a cluster: those that it
// has noted, and for others those of now.
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

// firstOfKnown finds the templates of machines that a cluster without a record has by the
// names of their contents: their first contents are gone.
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
