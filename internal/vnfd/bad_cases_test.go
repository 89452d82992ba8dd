package vnfd

// badVNFDs are changes of goodVNFD, or whole files where old is empty, with all
// that must be said of them.
var badVNFDs = []struct {
	name, old, new string
	files          map[string]string
	want           string
}{
	{
		name: "not YAML",
		new: `a: [
`,
		want: `error v.yaml:2: the file is not valid YAML: did not find expected node content
`,
	},
	{
		name: "tab in the indentation",
		new: `a:
	b: 1
`,
		want: `error v.yaml:2: the file is not valid YAML: found character that cannot start any token
`,
	},
	{
		name: "empty",
		new: `# nothing
`,
		want: `error v.yaml: the file is empty
`,
	},
	{
		name: "null document",
		new: `~
`,
		want: `error v.yaml: the file is empty
`,
	},
	{
		name: "a list",
		new: `- a
`,
		want: `error v.yaml:1:1: a TOSCA document must be a mapping, not a list
`,
	},
	{
		name: "unknown anchor",
		new: `a: *b
`,
		want: `error v.yaml: the file is not valid YAML: unknown anchor 'b' referenced
`,
	},
	{
		name: "alias in itself",
		new: `a: &a { b: *a }
`,
		want: `error v.yaml:1:12: the alias *a contains itself
`,
	},
	{
		name: "key twice",
		old:  "        product_name: n",
		new:  "        provider: q",
		want: `error v.yaml:11:9: the key "provider" is given twice, first in line 10
warning v.yaml:5:5: the VNF node vnf has no product_name
`,
	},
	{
		name: "key that is no text",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new: `l1: { description: one, scale_info: { a1: { scale_level: 0 } } }
            ? [ a ]
            : b`,
		want: `error v.yaml:62:15: a key must be a string, not a list
`,
	},
	{
		name: "no version",
		old: `tosca_definitions_version: tosca_simple_yaml_1_3
`,
		new: "",
		want: `error v.yaml:1:1: tosca_definitions_version is missing; it must be tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3
`,
	},
	{
		name: "version 2.0",
		old:  "tosca_simple_yaml_1_3",
		new:  "tosca_2_0",
		want: `error v.yaml:1:28: tosca_definitions_version is tosca_2_0, which has another grammar; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)
`,
	},
	{
		name: "version unknown",
		old:  "tosca_simple_yaml_1_3",
		new:  "heat_template_version",
		want: `error v.yaml:1:28: tosca_definitions_version "heat_template_version" is not known; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)
`,
	},
	{
		name: "version a list",
		old:  "tosca_simple_yaml_1_3",
		new:  "[ 1 ]",
		want: `error v.yaml:1:28: tosca_definitions_version must be a string, not a list
`,
	},
	{
		name: "import missing",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ none.yaml ]",
		want: `error v.yaml:2:12: the import none.yaml is not in the package
`,
	},
	{
		name: "import by http",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ http://example.com/a.yaml ]",
		want: `error v.yaml:2:12: the import http://example.com/a.yaml is outside the package, and nothing is fetched; put the file into the package
`,
	},
	{
		name: "import by another scheme",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ 'file:///etc/passwd' ]",
		want: `error v.yaml:2:12: the import file:///etc/passwd is outside the package; only files of the package can be imported
`,
	},
	{
		name: "import leads out",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ ../../etc/passwd ]",
		want: `error v.yaml:2:12: the import ../../etc/passwd leads out of the package
`,
	},
	{
		name: "import is a list",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ [ a ] ]",
		want: `error v.yaml:2:12: imports: an import must be a string or a mapping, not a list
`,
	},
	{
		name: "import without file",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ { a: { repository: r } } ]",
		want: `error v.yaml:2:17: imports: an import names no file
`,
	},
	{
		name:  "import is no YAML",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ x.yaml ]",
		files: map[string]string{"x.yaml": "a: {"},
		want: `error x.yaml:1: the file is not valid YAML: did not find expected node content
`,
	},
	{
		name:  "import of TOSCA 2.0",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ x.yaml ]",
		files: map[string]string{"x.yaml": "tosca_definitions_version: tosca_2_0\n"},
		want: `error x.yaml:1:28: tosca_definitions_version is tosca_2_0, which has another grammar; a VNFD is written in tosca_simple_yaml_1_2 or tosca_simple_yaml_1_3 (SOL001)
`,
	},
	{
		name:  "import without version",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ x.yaml ]",
		files: map[string]string{"x.yaml": "node_types: {}\n"},
		want: `warning x.yaml:1:1: tosca_definitions_version is missing; the file is read as tosca_simple_yaml_1_3
`,
	},
	{
		name:  "import is a directory",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ x ]",
		files: map[string]string{"x/y.yaml": "a: 1\n"},
		want: `error v.yaml:2:12: the import x cannot be read: read x: invalid argument
`,
	},
	{
		name: "topology is text",
		new: `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template: x
`,
		want: `error v.yaml:2:20: topology_template must be a mapping, not "x"
error v.yaml:1:1: the VNFD has no deployment flavour: neither the entry definitions nor their imports have a topology_template with substitution_mappings or VDUs
`,
	},
	{
		name: "no topology",
		new: `tosca_definitions_version: tosca_simple_yaml_1_3
`,
		want: `error v.yaml:1:1: the VNFD has no deployment flavour: neither the entry definitions nor their imports have a topology_template with substitution_mappings or VDUs
`,
	},
	{
		name: "node templates outside the topology",
		new: `tosca_definitions_version: tosca_simple_yaml_1_3
node_templates: {}
`,
		want: `error v.yaml:2:17: node_templates stands outside topology_template; move it there
error v.yaml:1:1: the VNFD has no deployment flavour: neither the entry definitions nor their imports have a topology_template with substitution_mappings or VDUs
`,
	},
	{
		name: "no VNF node",
		old: `type: tosca.nodes.nfv.VNF
      properties`,
		new: `type: tosca.nodes.Root
      properties`,
		want: `error v.yaml:1:1: the VNFD has no VNF node (tosca.nodes.nfv.VNF or a type derived from it)
error v.yaml:4:3: the deployment flavour of v.yaml has no flavour_id; write it in substitution_mappings.properties or at the VNF node
`,
	},
	{
		name: "no descriptor_id",
		old: `        descriptor_id: id
`,
		new: "",
		want: `error v.yaml:5:5: the VNF node vnf has no descriptor_id
`,
	},
	{
		name: "descriptor_id is a mapping",
		old:  "descriptor_id: id",
		new:  "descriptor_id: { a: b }",
		want: `error v.yaml:8:24: node_templates.vnf.properties.descriptor_id must be a string, not a mapping
`,
	},
	{
		name: "no product data",
		old: `        descriptor_version: '1'
        provider: p
        product_name: n
        software_version: '1'
`,
		new: "",
		want: `warning v.yaml:5:5: the VNF node vnf has no provider
warning v.yaml:5:5: the VNF node vnf has no product_name
warning v.yaml:5:5: the VNF node vnf has no software_version
warning v.yaml:5:5: the VNF node vnf has no descriptor_version
`,
	},
	{
		name: "no flavour_id",
		old: `        flavour_id: simple
`,
		new: "",
		want: `error v.yaml:5:5: the deployment flavour of v.yaml has no flavour_id; write it in substitution_mappings.properties or at the VNF node
`,
	},
	{
		name: "flavour_id from an input without default",
		old:  "flavour_id: simple",
		new:  "flavour_id: { get_input: selected }",
		want: `error v.yaml:13:21: the flavour_id of the deployment flavour of v.yaml comes from the input "selected", which has no default; write it in substitution_mappings.properties or at the VNF node
`,
	},
	{
		name:  "flavour twice",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ f.yaml ]",
		files: map[string]string{"f.yaml": "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: { substitution_mappings: { properties: { flavour_id: simple } } }\n"},
		want: `error f.yaml:2:20: the deployment flavour "simple" is defined twice
`,
	},
	{
		name:  "topology that is ignored",
		old:   "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:   "imports: [ f.yaml ]",
		files: map[string]string{"f.yaml": "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template: { node_templates: { v: { type: tosca.nodes.nfv.Vdu.Compute } } }\n"},
		want: `warning f.yaml:2:20: the topology_template of f.yaml is ignored: it neither has a VNF node nor substitution_mappings
`,
	},
	{
		name: "node without type",
		old: `      type: tosca.nodes.nfv.VnfVirtualLink
`,
		new: `      description: x
`,
		want: `error v.yaml:39:5: node_templates.net has no type
error v.yaml:38:25: the connection point cp requires the virtual link "net", which does not exist: name a VnfVirtualLink of the flavour
`,
	},
	{
		name: "node is text",
		old: `    net:
      type: tosca.nodes.nfv.VnfVirtualLink
`,
		new: `    net: x
`,
		want: `error v.yaml:39:5: node_templates.net must be a mapping, not "x"
error v.yaml:38:25: the connection point cp requires the virtual link "net", which does not exist: name a VnfVirtualLink of the flavour
`,
	},
	{
		name: "node type unknown",
		old:  "tosca.nodes.nfv.VnfVirtualLink",
		new:  "example.Link",
		want: `error v.yaml:40:13: the type example.Link of the node net is neither defined in the package nor one of ETSI's
error v.yaml:38:25: the connection point cp requires the virtual link "net", which does not exist: name a VnfVirtualLink of the flavour
`,
	},
	{
		name: "type derives from itself",
		old:  "topology_template:",
		new: `node_types:
  a.B: { derived_from: a.C }
  a.C: { derived_from: a.B }
topology_template:`,
		want: `error v.yaml:4:24: the type a.B derives from itself
error v.yaml:5:24: the type a.C derives from itself
`,
	},
	{
		name: "no vdu_profile",
		old: `        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 3 }
      capabilities`,
		new: "      capabilities",
		want: `warning v.yaml:14:5: the VDU VDU1 has no vdu_profile; it gets at least one instance and has no upper limit
`,
	},
	{
		name: "vdu_profile is text",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "one",
		want: `error v.yaml:18:22: node_templates.VDU1.properties.vdu_profile must be a mapping, not "one"
`,
	},
	{
		name: "instances are text",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: two, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be a whole number, not "two"
`,
	},
	{
		name: "instances are a fraction",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: 1.5, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be a whole number, not "1.5"
`,
	},
	{
		name: "instances are octal",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: 01, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be a whole number, not "01"
`,
	},
	{
		name: "instances are negative",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: -1, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be between 0 and 1000000, not -1
`,
	},
	{
		name: "instances are too many",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: 1, max_number_of_instances: 1000001 }",
		want: `error v.yaml:18:77: node_templates.VDU1.properties.vdu_profile.max_number_of_instances must be between 0 and 1000000, not 1000001
`,
	},
	{
		name: "instances are a list",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: [ 1 ], max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be a whole number, not a list
`,
	},
	{
		name: "instances from an input without default",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: { get_input: n }, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances comes from the input "n", which has no default in this file
`,
	},
	{
		name: "instances by a function",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: { get_attribute: [ SELF, n ] }, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances is computed by get_attribute, which cannot be evaluated here; write the value itself
`,
	},
	{
		name: "minimum above maximum",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: 4, max_number_of_instances: 3 }",
		want: `error v.yaml:18:49: the VDU VDU1 needs at least 4 instances (min_number_of_instances) but may have 3 at most (max_number_of_instances)
warning v.yaml:66:33: the VDU VDU1 would have 1 instance at the instantiation level l1: vdu_profile allows 4 at least; correct the level or vdu_profile
warning v.yaml:66:65: the VDU VDU1 would have 3 instances at the instantiation level l2: vdu_profile allows 4 at least; correct the level or vdu_profile
`,
	},
	{
		name: "maximum is 0",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: 0, max_number_of_instances: 0 }",
		want: `error v.yaml:18:77: the VDU VDU1 can have no instance: max_number_of_instances is 0
`,
	},
	{
		name: "VDUs of one name",
		old:  "name: two",
		new:  "name: one",
		want: `warning v.yaml:25:5: the VDUs VDU1 and VDU2 have the same name "one": give each its own properties.name
`,
	},
	{
		name: "memory without number",
		old:  "virtual_mem_size: 1 GB",
		new:  "virtual_mem_size: much",
		want: `error v.yaml:20:78: node_templates.VDU1.capabilities.virtual_compute.properties.virtual_memory.virtual_mem_size is "much"; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes
`,
	},
	{
		name: "memory of unknown unit",
		old:  "virtual_mem_size: 1 GB",
		new:  "virtual_mem_size: 1 GO",
		want: `error v.yaml:20:78: node_templates.VDU1.capabilities.virtual_compute.properties.virtual_memory.virtual_mem_size is "1 GO"; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes
`,
	},
	{
		name: "memory too big",
		old:  "virtual_mem_size: 1 GB",
		new:  "virtual_mem_size: 99999999999 TB",
		want: `error v.yaml:20:78: node_templates.VDU1.capabilities.virtual_compute.properties.virtual_memory.virtual_mem_size is "99999999999 TB"; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes
`,
	},
	{
		name: "CPUs are text",
		old:  "num_virtual_cpu: 1",
		new:  "num_virtual_cpu: NaN",
		want: `error v.yaml:20:118: node_templates.VDU1.capabilities.virtual_compute.properties.virtual_cpu.num_virtual_cpu must be a non-negative number, not "NaN"
`,
	},
	{
		name: "image properties of wrong type",
		old:  "properties: { min_ram: 1 GB }",
		new:  "properties: { min_ram: [ 1 ], name: { a: 1 } }",
		want: `error v.yaml:22:104: node_templates.VDU1.artifacts.image.properties.name must be a string, not a mapping
error v.yaml:22:91: node_templates.VDU1.artifacts.image.properties.min_ram must be a string, not a list
`,
	},
	{
		name: "artifact is a list",
		old:  "image: { type: tosca.artifacts.nfv.SwImage, file: i:qcow2, properties: { min_ram: 1 GB } }",
		new:  "image: [ a ]",
		want: `error v.yaml:22:16: node_templates.VDU1.artifacts.image must be a file or a mapping, not a list
`,
	},
	{
		name: "sw_image_data is text",
		old:  "        name: two",
		new: `        name: two
        sw_image_data: x`,
		want: `error v.yaml:29:24: node_templates.VDU2.properties.sw_image_data must be a mapping, not "x"
`,
	},
	{
		name: "storage missing",
		old:  "virtual_storage: disk",
		new:  "virtual_storage: none",
		want: `error v.yaml:24:28: the VDU VDU1 requires the storage "none", which does not exist: name a storage of the flavour
`,
	},
	{
		name: "storage shared is no boolean",
		old:  "properties: { virtual_block_storage_data: { size_of_storage: 1 GB } }",
		new:  "properties: { virtual_block_storage_data: { size_of_storage: 1 GB }, per_vnfc_instance: maybe }",
		want: `error v.yaml:32:95: node_templates.disk.properties.per_vnfc_instance must be true or false, not "maybe"
`,
	},
	{
		name: "requirement is a list",
		old:  "- virtual_storage: disk",
		new:  "- virtual_storage: [ disk ]",
		want: `error v.yaml:24:28: node_templates.VDU1.requirements.virtual_storage must name a node or be a mapping, not a list
`,
	},
	{
		name: "requirements are text",
		old: `requirements:
        - virtual_storage: disk`,
		new: "requirements: disk",
		want: `error v.yaml:23:21: node_templates.VDU1.requirements must be a mapping, not "disk"
`,
	},
	{
		name: "requirement in the list is text",
		old:  "- virtual_storage: disk",
		new:  "- disk",
		want: `error v.yaml:24:11: node_templates.VDU1.requirements: an item of the list must be a mapping, not "disk"
`,
	},
	{
		name: "container missing",
		old:  "- virtual_storage: disk",
		new:  "- container: main",
		want: `error v.yaml:24:22: the VDU VDU1 requires the container "main", which is not an OsContainer of the flavour
`,
	},
	{
		name: "binding missing",
		old:  "virtual_binding: VDU1",
		new:  "virtual_binding: VDU3",
		want: `error v.yaml:37:28: the connection point cp is bound to "VDU3", which is not a VDU: the VDUs are "VDU1", "VDU2"
`,
	},
	{
		name: "link missing",
		old:  "virtual_link: net",
		new:  "virtual_link: none",
		want: `error v.yaml:38:25: the connection point cp requires the virtual link "none", which does not exist: name a VnfVirtualLink of the flavour
`,
	},
	{
		name: "policy without type",
		old: `        type: tosca.policies.nfv.AffinityRule
`,
		new: "",
		want: `error v.yaml:68:7: policies.rule has no type
`,
	},
	{
		name: "policy is text",
		old: `    - rule:
        type: tosca.policies.nfv.AffinityRule
        properties: { scope: zone }
        targets: [ both ]
`,
		new: `    - rule: x
`,
		want: `error v.yaml:68:7: policies.rule must be a mapping, not "x"
`,
	},
	{
		name: "policy type unknown",
		old:  "tosca.policies.nfv.AffinityRule",
		new:  "example.Rule",
		want: `warning v.yaml:69:15: the type example.Rule of the policy rule is neither defined in the package nor one of ETSI's; the policy is ignored
`,
	},
	{
		name: "affinity target unknown",
		old: `        targets: [ both ]
`,
		new: `        targets: [ both, none ]
`,
		want: `warning v.yaml:71:26: the policy rule targets "none", which is neither a node nor a group of the flavour
`,
	},
	{
		name: "affinity without scope",
		old:  "properties: { scope: zone }",
		new:  "properties: {}",
		want: `warning v.yaml:68:7: the policy rule has no scope
`,
	},
	{
		name: "aspect is text",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: x",
		want: `error v.yaml:48:13: policies.aspects.properties.aspects.a1 must be a mapping, not "x"
error v.yaml:51:31: the policy deltas is for the scaling aspect "a1", which does not exist; known are none
warning v.yaml:61:51: the instantiation level l1 sets the scaling aspect "a1", but there is no ScalingAspects policy: add the policy, or remove the aspect from scale_info
warning v.yaml:62:51: the instantiation level l2 sets the scaling aspect "a1", but there is no ScalingAspects policy: add the policy, or remove the aspect from scale_info
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "aspect without max_scale_level",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: { name: a1, step_deltas: [ d1 ] }",
		want: `error v.yaml:48:13: the scaling aspect a1 has no max_scale_level
error v.yaml:62:51: the instantiation level l2 sets the scaling aspect a1 to level 2: its max_scale_level is 0
`,
	},
	{
		name: "no aspects",
		old: `          aspects:
            a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }
`,
		new: `          x: 1
`,
		want: `warning v.yaml:44:7: the policy aspects declares no aspects
error v.yaml:50:31: the policy deltas is for the scaling aspect "a1", which does not exist; known are none
warning v.yaml:60:51: the instantiation level l1 sets the scaling aspect "a1", but there is no ScalingAspects policy: add the policy, or remove the aspect from scale_info
warning v.yaml:61:51: the instantiation level l2 sets the scaling aspect "a1", but there is no ScalingAspects policy: add the policy, or remove the aspect from scale_info
warning v.yaml:65:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "step_deltas of wrong length",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: { name: a1, max_scale_level: 4, step_deltas: [ d1, d1, d1 ] }",
		want: `error v.yaml:48:62: the scaling aspect a1 has 3 step_deltas for 4 steps: give one delta for all steps, or one for each
warning v.yaml:48:62: the scaling aspect a1 at its highest level 4 gives the VDU VDU1 5 instances: vdu_profile allows 3 at most
`,
	},
	{
		name: "step_deltas missing",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: { name: a1, max_scale_level: 2 }",
		want: `warning v.yaml:49:7: the scaling aspect a1 has no step_deltas; its only delta d1 is used for each step
`,
	},
	{
		name: "step_deltas unknown",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d2 ] }",
		want: `warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d2 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:51:45: the delta d1 is not among the step_deltas of the scaling aspect a1: name it there, or remove it
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "highest level above maximum",
		old:  "a1: { name: a1, max_scale_level: 2, step_deltas: [ d1 ] }",
		new:  "a1: { name: a1, max_scale_level: 5, step_deltas: [ d1 ] }",
		want: `warning v.yaml:48:62: the scaling aspect a1 at its highest level 5 gives the VDU VDU1 6 instances: vdu_profile allows 3 at most
`,
	},
	{
		name: "deltas of unknown aspect",
		old:  "properties: { aspect: a1,",
		new:  "properties: { aspect: a2,",
		want: `error v.yaml:51:31: the policy deltas is for the scaling aspect "a2", which does not exist; known are "a1"
warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d1 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "deltas without aspect",
		old:  "properties: { aspect: a1,",
		new:  "properties: {",
		want: `error v.yaml:49:7: the policy deltas names no aspect
warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d1 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "delta is a number",
		old:  "d1: { number_of_instances: 1 }",
		new:  "d1: 1",
		want: `error v.yaml:51:45: policies.deltas.properties.deltas.d1 must be a mapping with number_of_instances, not "1"
warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d1 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "delta without number",
		old:  "d1: { number_of_instances: 1 }",
		new:  "d1: {}",
		want: `error v.yaml:51:45: policies.deltas.properties.deltas.d1 has no number_of_instances
warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d1 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:66:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "delta target is no VDU",
		old: `deltas: { d1: { number_of_instances: 1 } } }
        targets: [ VDU1 ]`,
		new: `deltas: { d1: { number_of_instances: 1 } } }
        targets: [ VDU1, net ]`,
		want: `error v.yaml:52:26: the delta d1 of the scaling aspect a1 targets "net", which is not a VDU: the VDUs are "VDU1", "VDU2"
`,
	},
	{
		name: "delta without targets",
		old: `deltas: { d1: { number_of_instances: 1 } } }
        targets: [ VDU1 ]`,
		new: "deltas: { d1: { number_of_instances: 1 } } }",
		want: `warning v.yaml:49:7: the policy deltas has no targets
warning v.yaml:48:62: no VduScalingAspectDeltas policy gives the delta d1 of the scaling aspect a1: add the policy, or the step changes nothing
warning v.yaml:65:65: the VDU VDU1 has 3 instances at the instantiation level l2, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "delta twice",
		old:  "    - initial:",
		new: `    - again:
        type: tosca.policies.nfv.VduScalingAspectDeltas
        properties: { aspect: a1, deltas: { d1: { number_of_instances: 1 } } }
        targets: [ both ]
    - initial:`,
		want: `error v.yaml:56:20: the delta d1 of the scaling aspect a1 is given twice for the VDU VDU1
warning v.yaml:25:5: the scaling aspect a1 scales the VDU VDU2, which has no initial delta: min_number_of_instances, 1, is used instead
`,
	},
	{
		name: "initial delta missing in its policy",
		old:  "{ initial_delta: { number_of_instances: 1 } }",
		new:  "{}",
		want: `error v.yaml:53:7: policies.initial.properties.initial_delta is missing
warning v.yaml:14:5: the scaling aspect a1 scales the VDU VDU1, which has no initial delta: min_number_of_instances, 1, is used instead
`,
	},
	{
		name: "initial delta target is no VDU",
		old: `{ initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]`,
		new: `{ initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1, VDU9 ]`,
		want: `error v.yaml:56:26: the policy initial targets "VDU9", which is not a VDU of the flavour; its VDUs are "VDU1", "VDU2"
`,
	},
	{
		name: "initial delta twice",
		old: `{ initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]`,
		new: `{ initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]
    - again:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]`,
		want: `error v.yaml:60:20: the policy again gives the VDU VDU1 another initial delta
`,
	},
	{
		name: "no initial delta",
		old: `    - initial:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 1 } }
        targets: [ VDU1 ]
`,
		new: "",
		want: `warning v.yaml:14:5: the scaling aspect a1 scales the VDU VDU1, which has no initial delta: min_number_of_instances, 1, is used instead
`,
	},
	{
		name: "level is text",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new:  "l1: x",
		want: `error v.yaml:61:17: policies.levels.properties.levels.l1 must be a mapping, not "x"
error v.yaml:66:33: the policy vdu1_levels is for the instantiation level "l1", which does not exist; known are "l2"
error v.yaml:63:26: the default level "l1" does not exist: the levels are "l2"
`,
	},
	{
		name: "level of unknown aspect",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new:  "l1: { scale_info: { a2: { scale_level: 0 } } }",
		want: `error v.yaml:61:33: the instantiation level l1 sets the scaling aspect "a2", which does not exist: the aspects are "a1"
`,
	},
	{
		name: "level above max_scale_level",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new:  "l1: { scale_info: { a1: { scale_level: 3 } } }",
		want: `error v.yaml:61:33: the instantiation level l1 sets the scaling aspect a1 to level 3: its max_scale_level is 2
warning v.yaml:66:33: the VDU VDU1 has 1 instance at the instantiation level l1, but 4 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "scale_info is a number",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new:  "l1: { scale_info: { a1: 0 } }",
		want: `error v.yaml:61:33: policies.levels.properties.levels.l1.scale_info.a1 must be a mapping with scale_level, not "0"
`,
	},
	{
		name: "scale_info without scale_level",
		old:  "l1: { description: one, scale_info: { a1: { scale_level: 0 } } }",
		new:  "l1: { scale_info: { a1: {} } }",
		want: `error v.yaml:61:33: policies.levels.properties.levels.l1.scale_info.a1 has no scale_level
`,
	},
	{
		name: "default level unknown",
		old:  "default_level: l1",
		new:  "default_level: l3",
		want: `error v.yaml:63:26: the default level "l3" does not exist: the levels are "l1", "l2"
`,
	},
	{
		name: "default level missing",
		old: `          default_level: l1
`,
		new: "",
		want: `warning v.yaml:57:7: the deployment flavour "simple" has several instantiation levels and no default_level: each instance must name its level
`,
	},
	{
		name: "VDU level unknown",
		old:  "l2: { number_of_instances: 3 } } }",
		new:  "l3: { number_of_instances: 3 } } }",
		want: `error v.yaml:66:65: the policy vdu1_levels is for the instantiation level "l3", which does not exist; known are "l1", "l2"
`,
	},
	{
		name: "VDU level target is no VDU",
		old: `l2: { number_of_instances: 3 } } }
        targets: [ VDU1 ]`,
		new: `l2: { number_of_instances: 3 } } }
        targets: [ VDU1, net ]`,
		want: `error v.yaml:67:26: the instances at the instantiation level l1 are given for "net", which is not a VDU: the VDUs are "VDU1", "VDU2"
error v.yaml:67:26: the instances at the instantiation level l2 are given for "net", which is not a VDU: the VDUs are "VDU1", "VDU2"
`,
	},
	{
		name: "VDU level twice",
		old:  "    - rule:",
		new: `    - again:
        type: tosca.policies.nfv.VduInstantiationLevels
        properties: { levels: { l1: { number_of_instances: 2 } } }
        targets: [ VDU1 ]
    - rule:`,
		want: `warning v.yaml:71:20: the policy again repeats the number of instances of the VDU VDU1 at the instantiation level l1; the first number, 1, is used
`,
	},
	{
		name: "level differs from the formula",
		old:  "l2: { number_of_instances: 3 } } }",
		new:  "l2: { number_of_instances: 2 } } }",
		want: `warning v.yaml:66:65: the VDU VDU1 has 2 instances at the instantiation level l2, but 3 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "level above maximum",
		old:  "l2: { number_of_instances: 3 } } }",
		new:  "l2: { number_of_instances: 4 } } }",
		want: `warning v.yaml:66:65: the VDU VDU1 would have 4 instances at the instantiation level l2: vdu_profile allows 3 at most; correct the level or vdu_profile
warning v.yaml:66:65: the VDU VDU1 has 4 instances at the instantiation level l2, but 3 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "level below minimum",
		old:  "{ l1: { number_of_instances: 1 }",
		new:  "{ l1: { number_of_instances: 0 }",
		want: `warning v.yaml:66:33: the VDU VDU1 would have 0 instances at the instantiation level l1: vdu_profile allows 1 at least; correct the level or vdu_profile
warning v.yaml:66:33: the VDU VDU1 has 0 instances at the instantiation level l1, but 1 by its initial delta and scaling deltas: the number of VduInstantiationLevels is used, and scaling starts from it
`,
	},
	{
		name: "operation is a filled list",
		old: `        flavour_id: simple
`,
		new: `        flavour_id: simple
      interfaces: { Vnflcm: { scale: [ a ] } }
`,
		want: `error v.yaml:14:38: node_templates.vnf.interfaces.Vnflcm.scale must name an implementation or be a mapping, not a list
`,
	},
	{
		name: "implementation is a list",
		old: `        flavour_id: simple
`,
		new: `        flavour_id: simple
      interfaces: { Vnflcm: { scale: { implementation: [ a ] } } }
`,
		want: `error v.yaml:14:56: node_templates.vnf.interfaces.Vnflcm.scale.implementation must be a string or a mapping, not a list
`,
	},
	{
		name: "interface is text",
		old: `        flavour_id: simple
`,
		new: `        flavour_id: simple
      interfaces: { Vnflcm: x }
`,
		want: `error v.yaml:14:29: node_templates.vnf.interfaces.Vnflcm must be a mapping, not "x"
`,
	},
	{
		name: "package change without selector",
		old:  "    - rule:",
		new: `    - change:
        type: tosca.policies.nfv.VnfPackageChange
        properties: { component_mappings: [ x ] }
    - rule:`,
		want: `error v.yaml:70:45: policies.change.properties.component_mappings[0] must be a mapping, not "x"
error v.yaml:68:7: the policy change has no selector
`,
	},
	{
		name: "package change selector is text",
		old:  "    - rule:",
		new: `    - change:
        type: tosca.policies.nfv.VnfPackageChange
        properties: { selector: x }
    - rule:`,
		want: `error v.yaml:70:33: policies.change.properties.selector must be a mapping, not "x"
error v.yaml:68:7: the policy change has no selector
`,
	},
	{
		name: "properties are a list",
		old:  "properties: { virtual_block_storage_data: { size_of_storage: 1 GB } }",
		new:  "properties: [ a ]",
		want: `error v.yaml:32:19: node_templates.disk.properties must be a mapping, not a list
`,
	},
	{
		name: "capability is text",
		old:  "virtual_compute: { properties: { virtual_memory: { virtual_mem_size: 1 GB }, virtual_cpu: { num_virtual_cpu: 1 } } }",
		new:  "virtual_compute: { properties: { virtual_cpu: 1 } }",
		want: `error v.yaml:20:55: node_templates.VDU1.capabilities.virtual_compute.properties.virtual_cpu must be a mapping, not "1"
`,
	},
	{
		name: "policy properties are text",
		old:  "properties: { scope: zone }",
		new:  "properties: zone",
		want: `error v.yaml:70:21: policies.rule.properties must be a mapping, not "zone"
warning v.yaml:68:7: the policy rule has no scope
`,
	},
	{
		name: "inputs are text",
		old: `  node_templates:
`,
		new: `  inputs: x
  node_templates:
`,
		want: `error v.yaml:4:11: inputs must be a mapping, not "x"
`,
	},
	{
		name: "several at once",
		old:  "{ min_number_of_instances: 1, max_number_of_instances: 3 }",
		new:  "{ min_number_of_instances: x, max_number_of_instances: y, z: 1 }",
		want: `error v.yaml:18:49: node_templates.VDU1.properties.vdu_profile.min_number_of_instances must be a whole number, not "x"
error v.yaml:18:77: node_templates.VDU1.properties.vdu_profile.max_number_of_instances must be a whole number, not "y"
`,
	},
	{
		name: "node type in another case",
		old:  "type: tosca.nodes.nfv.Vdu.Compute",
		new:  "type: tosca.nodes.nfv.Vdu.compute",
		want: `error v.yaml:15:13: the type tosca.nodes.nfv.Vdu.compute of the node VDU1 does not exist; the nearest is tosca.nodes.nfv.Vdu.Compute
`,
	},
	{
		name: "node type that derives from one that does not exist",
		old:  "type: tosca.nodes.nfv.Vdu.Compute",
		new:  `type: example.VDU`,
		files: map[string]string{
			"etsi_nfv_sol001_vnfd_types.yaml": "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types: { example.VDU: { derived_from: tosca.nodes.nfv.Vdu.Computer } }\n",
		},
		want: `error v.yaml:15:13: the type example.VDU of the node VDU1 derives from tosca.nodes.nfv.Vdu.Computer, which does not exist; the nearest is tosca.nodes.nfv.Vdu.Compute
`,
	},
	{
		name: "node type of no standard",
		old:  "type: tosca.nodes.nfv.VnfVirtualLink",
		new:  "type: tosca.nodes.vendor.Bus",
		want: `error v.yaml:40:13: the type tosca.nodes.vendor.Bus of the node net does not exist: it is defined neither in the package nor by TOSCA or SOL001 (v4.4.1)
error v.yaml:38:25: the connection point cp requires the virtual link "net", which does not exist: name a VnfVirtualLink of the flavour
`,
	},
	{
		name: "policy type in the plural",
		old:  "type: tosca.policies.nfv.VduInitialDelta",
		new:  "type: tosca.policies.nfv.VduInitialDeltas",
		want: `error v.yaml:54:15: the type tosca.policies.nfv.VduInitialDeltas of the policy initial does not exist; the nearest is tosca.policies.nfv.VduInitialDelta
`,
	},
	{
		name: "policy type of a vendor",
		old:  "type: tosca.policies.nfv.AffinityRule",
		new:  "type: example.policies.Rule",
		want: `warning v.yaml:69:15: the type example.policies.Rule of the policy rule is neither defined in the package nor one of ETSI's; the policy is ignored
`,
	},
	{
		name: "version of four vendors",
		old:  "tosca_simple_yaml_1_3",
		new:  "tosca_simple_profile_yaml_1_1",
		want: `warning v.yaml:1:28: tosca_definitions_version "tosca_simple_profile_yaml_1_1" is not a name of TOSCA; it is read as tosca_simple_yaml_1_1
`,
	},
	{
		name: "import in another case",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new:  "imports: [ Types/company.yaml ]",
		files: map[string]string{
			"types/Company.yaml": "tosca_definitions_version: tosca_simple_yaml_1_3\n",
		},
		want: `error v.yaml:2:12: the import Types/company.yaml is not in the package; there is types/Company.yaml, and names differ by case
`,
	},
	{
		name:  "image file missing",
		old:   "file: i:qcow2",
		new:   "file: I.qcow2",
		files: map[string]string{"i.qcow2": "x"},
		want: `warning v.yaml:22:59: the file "I.qcow2" of the artifact image of the node VDU1 is not in the package; there is i.qcow2, and names differ by case
`,
	},
	{
		name: "image that a registry or the VIM knows",
		old:  "file: i:qcow2",
		new:  "file: registry.example/image:1.0",
		want: "",
	},
	{
		name: "image without data, and another one",
		old:  "image: { type: tosca.artifacts.nfv.SwImage, file: i:qcow2, properties: { min_ram: 1 GB } }",
		new: `image: { type: tosca.artifacts.nfv.SwImage, file: i.qcow2 }
        second: { type: tosca.artifacts.nfv.SwImage, file: i.qcow2, properties: { name: b } }`,
		files: map[string]string{"i.qcow2": "x"},
		want: `warning v.yaml:22:9: the software image image of the node VDU1 has no data; SOL001 requires name, version, checksum, container_format, disk_format, min_disk and size
warning v.yaml:23:9: the node VDU1 has another software image, second; the first is used, for SOL001 allows one
`,
	},
	{
		name: "provider that its type does not admit",
		old:  "imports: [ etsi_nfv_sol001_vnfd_types.yaml ]",
		new: `imports: [ etsi_nfv_sol001_vnfd_types.yaml ]
node_types:
  tosca.nodes.nfv.VNF: { properties: { provider: { type: string, constraints: [ { valid_values: [ q ] } ] } } }`,
		want: `warning v.yaml:12:19: the provider "p" of the node vnf is not among the valid_values of its type: "q"
`,
	},
}
