package vnfd

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// document is one TOSCA file.
type document struct {
	r    *reader
	file string
	root value
	// scope is the namespace prefix under which the file was imported first,
	// with its final colon; empty for most files.
	scope string
	// policies is filled when they are first asked for.
	policies []policy
	asked    bool
	// loaded says that the types and imports were taken over once.
	loaded bool
}

// parse reads the text of one file, or reports why not and returns nil.
func (r *reader) parse(file string, data []byte) *document {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root yaml.Node
	if err := dec.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			r.problems.Errorf(file, 0, 0, "the file is empty")
			return nil
		}
		line, text := vnfm.YAMLError(err)
		r.problems.Errorf(file, line, 0, "not valid YAML: %s", text)
		return nil
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		r.problems.Warnf(file, more.Line, more.Column, "the file has more than one YAML document; only the first is read")
	}
	d := &document{r: r, file: file}
	if len(root.Content) == 0 || isNull(root.Content[0]) {
		r.problems.Errorf(file, 0, 0, "the file is empty")
		return nil
	}
	body := root.Content[0]
	if body.Kind != yaml.MappingNode {
		r.problems.Errorf(file, body.Line, body.Column, "a TOSCA document must be a map, not %s", kindName(body))
		return nil
	}
	if !d.checkTree(body, nil) {
		return nil
	}
	d.root = value{doc: d, node: body}
	return d
}

// checkTree reports keys that stand twice in one map and refuses aliases that
// contain themselves, which would never end.
func (d *document) checkTree(n *yaml.Node, above []*yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil || slices.Contains(above, n.Alias) {
			d.r.problems.Errorf(d.file, n.Line, n.Column, "the alias *%s contains itself", n.Value)
			return false
		}
		return true
	}
	if n.Kind == yaml.ScalarNode {
		return true
	}
	if n.Anchor != "" {
		above = append(above, n)
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Value == mergeKey {
				continue
			}
			if first, ok := seen[key.Value]; ok {
				d.r.problems.Errorf(d.file, key.Line, key.Column, "the key %q stands in this map already, in line %d", key.Value, first)
				continue
			}
			seen[key.Value] = key.Line
		}
	}
	for _, c := range n.Content {
		if !d.checkTree(c, above) {
			return false
		}
	}
	return true
}

// checkHead judges the version of the document and its sections.
func (d *document) checkHead(entry bool) {
	d.checkVersion(entry)
	d.checkMisplaced()
}

// checkVersion judges tosca_definitions_version. ETSI uses 1.2 up to SOL001
// v2.8.1 and 1.3 from v3.3.1.
func (d *document) checkVersion(entry bool) {
	v := d.root.get("tosca_definitions_version")
	if !v.ok() {
		if entry {
			d.root.errorf("tosca_definitions_version is missing; it says tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3")
		} else {
			d.root.warnf("tosca_definitions_version is missing; the file is read as tosca_simple_yaml_1_3")
		}
		return
	}
	text, ok := v.text()
	if !ok {
		return
	}
	switch text {
	case "tosca_simple_yaml_1_0", "tosca_simple_yaml_1_1", "tosca_simple_yaml_1_2", "tosca_simple_yaml_1_3",
		"tosca_simple_profile_for_nfv_1_0", "tosca_simple_profile_for_nfv_1_0_0":
	case "tosca_2_0":
		v.errorf("tosca_definitions_version is tosca_2_0, whose grammar is another one; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)")
	default:
		v.errorf("tosca_definitions_version %q is not known; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)", text)
	}
}

// section lists the entries of a section of the topology template. Some VNFDs
// have policies and groups at the top of the document instead, where TOSCA knows none.
func (d *document) section(name string) []entry {
	list := d.root.get("topology_template").get(name).entries()
	return append(list, d.root.get(name).entries()...)
}

// checkMisplaced reports the sections that stand outside the topology template.
func (d *document) checkMisplaced() {
	for _, name := range []string{"policies", "groups"} {
		if v := d.root.get(name); v.ok() {
			v.warnf("%s stands outside topology_template; it is read all the same", name)
		}
	}
	for _, name := range []string{"node_templates", "substitution_mappings", "inputs"} {
		if v := d.root.get(name); v.ok() {
			v.errorf("%s stands outside topology_template; move it there", name)
		}
	}
}
