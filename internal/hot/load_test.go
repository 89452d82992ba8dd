package hot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// whole is a BaseHOT that is right; nested is one of its files.
const (
	nestedFile = `-- simple/nested/VDU1.yaml --
heat_template_version: 2013-05-23
parameters: { flavor: { type: string }, zone: { type: string, default: nova } }
resources:
  VDU1: { type: OS::Nova::Server, properties: { flavor: { get_param: flavor } } }
`
	both = `
  VDU1: { type: VDU1.yaml, properties: { flavor: { get_param: [nfv, VDU, VDU1, computeFlavourId] } } }
  VDU2: { type: OS::Nova::Server }
`
	head = `-- simple/top.yaml --
heat_template_version: 2013-05-23
parameters: { nfv: { type: json } }
resources:`
)

func TestBadTemplates(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"two templates", head + both + nestedFile + "-- simple/other.yaml --\na: b\n",
			"BaseHOT/simple/top.yaml: BaseHOT/simple/other.yaml is a template of the same flavour; one of them is at the top, the others belong in BaseHOT/simple/nested\n"},
		{"none", nestedFile, "BaseHOT/simple: the directory holds no template; a flavour with BaseHOT has one file *.yaml here, and nested templates in BaseHOT/simple/nested\n"},
		{"beside its directory", strings.ReplaceAll(head+both, "simple/", ""),
			"BaseHOT/top.yaml: the template is in BaseHOT itself, where no deployment flavour has its templates: Move it to BaseHOT/simple, and what it refers to as nested templates to BaseHOT/simple/nested.\n"},
		{"no YAML", "-- simple/top.yaml --\na: b\nc: [\n", "BaseHOT/simple/top.yaml:3: the file is not valid YAML: did not find expected node content\n"},
		{"empty", "-- simple/top.yaml --\n# nothing\n", "BaseHOT/simple/top.yaml: the template is empty\n"},
		{"two documents", head + both + "---\na: b\n", "BaseHOT/simple/top.yaml:6:1: the file has more than one YAML document; a template is a single document\n"},
		{"key twice", head + " {}\nresources: {}\n", "BaseHOT/simple/top.yaml:4:1: the key \"resources\" is given twice, first in line 3\n"},
		{"endless alias", "-- simple/top.yaml --\na: &a { b: *a }\n", "BaseHOT/simple/top.yaml:1:12: the alias *a contains itself\n"},
		{"a list", "-- simple/top.yaml --\n- a\n", "BaseHOT/simple/top.yaml:1:1: a template must be a mapping, not a list\n"},
		{"no version", "-- simple/top.yaml --\nresources: {}\n", "BaseHOT/simple/top.yaml:1: the template has no heat_template_version\n"},
		{"nested without version", head + both + "-- simple/nested/VDU1.yaml --\nresources: {}\n", "BaseHOT/simple/nested/VDU1.yaml:1: the template has no heat_template_version\n"},
		{"no type", head + both + "  other: {}\n" + nestedFile, "BaseHOT/simple/top.yaml:6:3: the resource other has no type\n"},
		{"resources of another kind", head + " []\n", "BaseHOT/simple/top.yaml:3:1: resources must be a mapping\n"},
		{"no nested file", head + both, "BaseHOT/simple/top.yaml:4:11: the nested template VDU1.yaml is not in BaseHOT/simple/nested\n"},
		{"address as type", head + both + "  more: { type: https://example.com/a.yaml }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:6:11: the type https://example.com/a.yaml is an address; a nested template is a file of the package, in BaseHOT/simple/nested\n"},
		{"nested file outside", head + both + "  more: { type: ../../../Definitions/a.yaml }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:6:11: the nested template ../../../Definitions/a.yaml is not in BaseHOT/simple/nested\n"},
		{"file outside", head + both + "  more: { type: OS::Heat::SoftwareConfig, properties: { config: { get_file: ../../Scripts/a.sh } } }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:6:57: get_file names \"../../Scripts/a.sh\", which is not a file in BaseHOT/simple: Files of templates are those in the directory BaseHOT of the package, and are named from BaseHOT/simple on.\n"},
		{"parameter that is not declared", head + "\n  VDU1: { type: VDU1.yaml, properties: { flavor: { get_param: size } } }\n  VDU2: { type: OS::Nova::Server }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:4:42: get_param names \"size\", which is not among the parameters of the template\n"},
		{"resource that does not exist", head + "\n  VDU1: { type: VDU1.yaml, properties: { flavor: { get_attr: [port, name] } } }\n  VDU2: { type: OS::Nova::Server, depends_on: [VDU1, CP1] }\n  more: { type: OS::Nova::Server, depends_on: VDU2-0, properties: { networks: [{ port: { get_resource: CP-2 } }] } }\noutputs: { ip: { value: { get_attr: [VDU, first_address] } } }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:4:42: resource VDU1: get_attr names \"port\", which is not a resource of the template\n" +
				"BaseHOT/simple/top.yaml:6:82: resource more: get_resource names \"CP-2\", which is not a resource of the template\n" +
				"BaseHOT/simple/top.yaml:7:18: output ip: get_attr names \"VDU\", which is not a resource of the template\n" +
				"BaseHOT/simple/top.yaml:5:54: resource VDU2: depends_on names \"CP1\", which is not a resource of the template\n"},
		{"number of what is not copied", head + "\n  VDU1: { type: VDU1.yaml, depends_on: VDU2-0 }\n  VDU2: { type: OS::Nova::Server, depends_on: net-0 }\n  net: { type: OS::Neutron::Net }\noutputs: { id: { value: { get_resource: net-1 } } }\n" +
			"-- simple/nested/VDU1.yaml --\nheat_template_version: 2013-05-23\nresources: { VDU1: { type: OS::Nova::Server, depends_on: VDU1-0 } }\n",
			"BaseHOT/simple/top.yaml:7:18: output id: get_resource names \"net-1\", which is not a resource of the template\n" +
				"BaseHOT/simple/top.yaml:5:35: resource VDU2: depends_on names \"net-0\", which is not a resource of the template\n" +
				"BaseHOT/simple/nested/VDU1.yaml:2:46: resource VDU1: depends_on names \"VDU1-0\", which is not a resource of the template\n"},
		{"properties of a nested template", head + "\n  VDU1: { type: VDU1.yaml, properties: { size: m1 } }\n  VDU2: { type: OS::Nova::Server }\n" + nestedFile,
			"BaseHOT/simple/top.yaml:4:42: the nested template BaseHOT/simple/nested/VDU1.yaml has no parameter \"size\"\n" +
				"BaseHOT/simple/top.yaml:4:11: the parameter \"flavor\" of the nested template BaseHOT/simple/nested/VDU1.yaml has no default and is not given\n"},
		{"VDU without resource", head + "\n  VDU2: { type: OS::Nova::Server }\n",
			"BaseHOT/simple/top.yaml:3:1: no resource of the template makes the VDU VDU1: A resource is named VDU1, or is a group whose size is { get_param: [nfv, VDU, VDU1, desired_capacity] }, or has a nested template with a server of that name.\n"},
		{"two VDUs in one resource", head + "\n  pair: { type: pair.yaml }\n-- simple/nested/pair.yaml --\nheat_template_version: wallaby\nresources: { VDU1: { type: OS::Nova::Server }, VDU2: { type: OS::Nova::Server } }\n",
			"BaseHOT/simple/top.yaml:4:3: the resource pair makes the VDUs VDU1 and VDU2, which cannot be scaled apart; give each a resource of its own\n"},
		{"one of several", head + "\n  VDU1: { type: OS::Nova::Server }\n  VDU2: { type: OS::Nova::Server, properties: { user_data: { get_attr: [VDU1, first_address] } } }\n",
			"BaseHOT/simple/top.yaml:5:3: the resource VDU2 refers to a resource of the VDU VDU1, of which there can be several: Refer to them in a list, or set max_number_of_instances of the VDU to 1.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ps := Load(budget.New(t.Context(), budget.Limits{}), files(c.files), router())
			if diff := cmp.Diff(c.want, lines(ps)); diff != "" || s != nil {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnused warns of parameters that nothing reads.
func TestUnused(t *testing.T) {
	s := mustLoad(t, files(head+both+nestedFile), router())
	assert.Equal(t, "warning BaseHOT/simple/nested/VDU1.yaml:2:41: the template does not use its parameter \"zone\": remove it, or read it with get_param\n", lines(s.Unused()))
}

// TestForms: what makes the VDUs of a flavour.
func TestForms(t *testing.T) {
	group := func(name, size, member string) string {
		return "\n  " + name + ": { type: OS::Heat::AutoScalingGroup, properties: { min_size: 0, max_size: 3, desired_capacity: " + size + ", resource: { type: " + member + " } } }"
	}
	const back = "\n  VDU2: { type: OS::Nova::Server }\n"
	const server = "-- simple/nested/unit.yaml --\nheat_template_version: wallaby\nresources: { front: { type: OS::Nova::Server } }\n"
	for name, c := range map[string]struct {
		files string
		want  VDU
	}{
		"by id":            {head + "\n  VDU1: { type: OS::Nova::Server }" + back, VDU{Copied, "VDU1"}},
		"by name":          {head + "\n  front: { type: OS::Nova::Server }" + back, VDU{Copied, "front"}},
		"group by id":      {head + group("VDU1", "1", "OS::Nova::Server") + back, VDU{Grouped, "VDU1"}},
		"group by size":    {head + group("many", "{ get_param: [nfv, VDU, VDU1, desired_capacity] }", "OS::Nova::Server") + back, VDU{Grouped, "many"}},
		"group by member":  {head + group("many", "1", "unit.yaml") + back + server, VDU{Grouped, "many"}},
		"by nested server": {head + "\n  unit: { type: unit.yaml }" + back + server, VDU{Copied, "unit"}},
		"group in a group": {head + group("many", "1", "outer.yaml") + back + server +
			"-- simple/nested/outer.yaml --\nheat_template_version: wallaby\nresources: { inner: { type: unit.yaml } }\n", VDU{Grouped, "many"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustLoad(t, files(c.files), router())
			assert.Equal(t, map[string]VDU{"VDU1": c.want, "VDU2": {Copied, "VDU2"}}, s.VDUs)
		})
	}
}

// TestScalars: a template is read as Heat reads it, by the rules of YAML 1.1.
func TestScalars(t *testing.T) {
	s := mustLoad(t, files(`-- simple/top.yaml --
heat_template_version: 2013-05-23
resources:
  VDU1: { type: OS::Nova::Server }
  VDU2:
    type: OS::Nova::Server
    metadata:
      <<: &more { merged: yes, own: 1 }
      own: 2
      words: [yes, Off, "yes", y, true]
      numbers: [0o17, 1.5, .inf, 52:54:00:12:34:56, 0x10]
      nothing: [null, ~]
      again: *more
`), router())
	if got := s.Top["heat_template_version"]; got != "2013-05-23" {
		t.Errorf("heat_template_version is %v (%T)", got, got)
	}
	want := map[string]any{
		"merged": true, "own": int64(2), "words": []any{true, false, "yes", "y", true},
		"numbers": []any{int64(15), 1.5, ".inf", "52:54:00:12:34:56", int64(16)}, "nothing": []any{nil, nil},
		"again": map[string]any{"merged": true, "own": int64(1)},
	}
	assert.Empty(t, cmp.Diff(want, mapOf(mapOf(s.Top["resources"])["VDU2"])["metadata"]))
}

// TestFiles: the files that a stack needs are those that its templates name.
func TestFiles(t *testing.T) {
	s := mustLoad(t, files(head+both+`  config: { type: OS::Heat::SoftwareConfig, properties: { config: { get_file: scripts/start.sh } } }
`+nestedFile+`-- simple/nested/unused.yaml --
a: b
-- simple/scripts/start.sh --
echo hello
`), router())
	want := map[string]string{"VDU1.yaml": nestedFile[len("-- simple/nested/VDU1.yaml --\n"):], "scripts/start.sh": "echo hello\n"}
	assert.Equal(t, want, s.Files)
}
