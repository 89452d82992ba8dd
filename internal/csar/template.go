package csar

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// rootMetadata are what the template of a package without TOSCA-Metadata must say about
// itself, TOSCA Simple Profile 1.x clause 6.3.
var rootMetadata = []string{"template_name", "template_version", "template_author"}

// checkRootTemplate checks that the one YAML file at the root is a service template that
// can stand without TOSCA.meta. A descriptor of SOL006 is foreign: it needs none of what a package of SOL004 has.
func (r *reader) checkRootTemplate() (foreign bool) {
	name := r.p.Entry
	data, ok := r.text(name)
	if !ok {
		return false
	}
	docs, problems := yamlpos.Parse(r.o.Budget, name, data, yamlpos.Options{})
	if problems.HasErrors() {
		for _, p := range problems {
			r.add(p.Severity, place{file: name, line: p.Line, column: p.Column}, p.Summary, "")
		}
		return false
	}
	if len(docs) == 0 || docs[0].Root.Kind != yaml.MappingNode {
		r.add(vnfm.SeverityError, place{file: name, line: 1, column: 1}, "the file is not a TOSCA service template", "a service template is a YAML mapping")
		return false
	}
	doc, root := docs[0], docs[0].Root
	at := place{file: name, line: root.Line, column: root.Column}
	if doc.Get(root, "tosca_definitions_version") == nil {
		var keys []string
		for _, e := range doc.Entries(root) {
			keys = append(keys, e.Name())
		}
		if what := vnfm.ForeignDescriptor(keys); what != "" {
			r.add(vnfm.SeverityError, at, "the file is "+what, vnfm.ForeignDescriptorAdvice)
			return true
		}
	}
	// The Simple Profile 1.0 wrote the three keys at the top level.
	metadata, lookIn := doc.Get(root, "metadata"), root
	if metadata != nil && metadata.Kind == yaml.MappingNode {
		lookIn = metadata
		at.line, at.column = metadata.Line, metadata.Column
	}
	var missing []string
	for _, key := range rootMetadata {
		if v := doc.Get(lookIn, key); v == nil || v.Kind != yaml.ScalarNode || v.Value == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		r.addDamage(at, "the metadata of the template lack "+strings.Join(missing, ", "), "a package without TOSCA-Metadata needs them in its YAML file at the root")
	}
	return false
}

// isServiceTemplate tells whether a YAML file is a template with a topology. One that cannot be read is none.
func (r *reader) isServiceTemplate(name string) bool {
	if r.files[name].Size > maxTextBytes {
		return false
	}
	data, err := r.o.Budget.ReadFile(r.a, name)
	if err != nil {
		return false
	}
	docs, problems := yamlpos.Parse(r.o.Budget, name, data, yamlpos.Options{})
	if problems.HasErrors() || len(docs) == 0 || docs[0].Root.Kind != yaml.MappingNode {
		return false
	}
	return docs[0].Get(docs[0].Root, "tosca_definitions_version") != nil && docs[0].Get(docs[0].Root, "topology_template") != nil
}
