package vnfd

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// document is one TOSCA file.
type document struct {
	r    *reader
	file string
	yaml *yamlpos.Document
	root value
	// values holds what each function of TOSCA was evaluated to; nil while it is being evaluated.
	values map[*yaml.Node]*yaml.Node
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
	docs, problems := yamlpos.Parse(r.budget, file, data, yamlpos.Options{})
	if r.budget.Err() != nil && len(problems) > 0 {
		panic(stopped{problems[len(problems)-1]})
	}
	r.problems = append(r.problems, problems...)
	if len(docs) == 0 {
		if !problems.HasErrors() {
			//findings:says write a service template into it, with tosca_definitions_version and topology_template
			r.problems.Errorf(file, 0, 0, "the file is empty")
		}
		return nil
	}
	if len(docs) > 1 {
		more := docs[1].Root
		r.problems.Warnf(file, more.Line, more.Column, "the file has more than one YAML document; only the first is read")
	}
	d := &document{r: r, file: file, yaml: docs[0], values: map[*yaml.Node]*yaml.Node{}}
	root := value{doc: d, node: docs[0].Root}
	if !root.isMap() {
		root.errorf("a TOSCA document must be a mapping, not %s", describe(root))
		return nil
	}
	d.root = root
	return d
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
			d.root.errorf("tosca_definitions_version is missing; it must be tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3")
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
	case "tosca_simple_profile_yaml_1_0", "tosca_simple_profile_yaml_1_1", "tosca_simple_profile_yaml_1_2", "tosca_simple_profile_yaml_1_3":
		v.warnf("tosca_definitions_version %q is not a name of TOSCA; it is read as %s", text, strings.Replace(text, "_profile", "", 1))
	case "tosca_2_0":
		v.errorf("tosca_definitions_version is tosca_2_0, which has another grammar; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)")
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
			v.warnf("%s stands outside topology_template; it is read nevertheless", name)
		}
	}
	for _, name := range []string{"node_templates", "substitution_mappings", "inputs"} {
		if v := d.root.get(name); v.ok() {
			v.errorf("%s stands outside topology_template; move it there", name)
		}
	}
}
