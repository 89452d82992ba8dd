package csar

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// rootMetadata are what the template of a package without TOSCA-Metadata must say about
// itself, TOSCA Simple Profile 1.x clause 6.3.
var rootMetadata = []string{"template_name", "template_version", "template_author"}

// checkRootTemplate checks that the one YAML file at the root is a service template that
// can stand without TOSCA.meta.
func (r *reader) checkRootTemplate() {
	name := r.p.Entry
	data, ok := r.text(name)
	if !ok {
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		at, text := vnfm.YAMLError(err)
		r.add(vnfm.SeverityError, place{file: name, line: at}, "the file is not valid YAML", text)
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		r.add(vnfm.SeverityError, place{file: name, line: 1, column: 1}, "the file is not a TOSCA service template", "a service template is a YAML mapping")
		return
	}
	root := doc.Content[0]
	at := place{file: name, line: root.Line, column: root.Column}
	// The Simple Profile 1.0 wrote the three keys at the top level.
	metadata, lookIn := mapValue(root, "metadata"), root
	if metadata != nil && metadata.Kind == yaml.MappingNode {
		lookIn = metadata
		at.line, at.column = metadata.Line, metadata.Column
	}
	var missing []string
	for _, key := range rootMetadata {
		if v := mapValue(lookIn, key); v == nil || v.Kind != yaml.ScalarNode || v.Value == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		r.add(vnfm.SeverityError, at, "the metadata of the template lack "+strings.Join(missing, ", "), "a package without TOSCA-Metadata needs them in its YAML file at the root")
	}
}

// mapValue returns the value of a key of a mapping, or nil.
func mapValue(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// yamlDocuments returns the documents of a stream, empty ones left out.
func yamlDocuments(text string) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding YAML: %w", err)
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue
		}
		docs = append(docs, doc.Content[0])
	}
}
