package heat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Templates of a VDU with two VNFCs: as a resource, as a nested template, and as a group of nested templates.
const (
	headerOfTemplate = `heat_template_version: 2018-08-31
parameters:
  nfv: { type: json }
  login: { type: string, hidden: true, default: x }
resources:
`
	wantsOfServer = `flavor: { get_param: [nfv, VDU, VDU1, computeFlavourId] }, image: { get_param: [nfv, VDU, VDU1, vcImageId] }`
	flatServers   = headerOfTemplate + `  VDU1: { type: OS::Nova::Server, properties: { ` + wantsOfServer + `, networks: [{ port: { get_resource: VDU1_CP1 } }] } }
  VDU1_CP1: { type: OS::Neutron::Port, properties: { network: net } }
`
	nestedServers  = headerOfTemplate + `  VDU1: { type: VDU1.yaml, properties: { ` + wantsOfServer + ` } }` + "\n"
	groupedServers = headerOfTemplate + `  VDU1:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      desired_capacity: { get_param: [nfv, VDU, VDU1, desired_capacity] }
      resource: { type: VDU1.yaml, properties: { ` + wantsOfServer + ` } }
`
	serverTemplate = `heat_template_version: 2018-08-31
parameters:
  flavor: { type: string }
  image: { type: string }
resources:
  VDU1: { type: OS::Nova::Server, properties: { flavor: { get_param: flavor }, image: { get_param: image }, networks: [{ port: { get_resource: VDU1_CP1 } }] } }
  VDU1_CP1: { type: OS::Neutron::Port, properties: { network: net } }
`
)

// stackForms are the forms of template, with the path of the server of each VNFC.
var stackForms = map[string]struct {
	top, nested string
	paths       []string
}{
	"flat":    {flatServers, "", []string{"VDU1-0", "VDU1-1"}},
	"nested":  {nestedServers, serverTemplate, []string{"VDU1-0/VDU1", "VDU1-1/VDU1"}},
	"grouped": {groupedServers, serverTemplate, []string{"VDU1/aaa/VDU1", "VDU1/bbb/VDU1"}},
}

// sessionOf is a session with a package, and what Heat is asked for by it.
func sessionOf(t *testing.T, top, nested string, asset hot.Asset) (*session, *openstack.StackRequest) {
	t.Helper()
	flavour := &vnfm.Flavour{
		ID: "simple", VDUs: []vnfm.VDU{{ID: "VDU1", Name: "VDU1", MaxInstances: 3, SWImages: []vnfm.SWImage{{ID: "image", Name: "image"}}}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "VDU1_CP1", VDUID: "VDU1"}},
	}
	files := fstest.MapFS{"BaseHOT/simple/top.yaml": {Data: []byte(top)}}
	if nested != "" {
		files["BaseHOT/simple/nested/VDU1.yaml"] = &fstest.MapFile{Data: []byte(nested)}
	}
	source, problems := hot.Load(budget.New(t.Context(), budget.Limits{}), &vnfm.Package{Content: files}, flavour)
	require.NoError(t, problems.Err())
	request := hot.Request{
		Flavour: flavour, Counts: map[string]int{"VDU1": 2}, VNFCs: map[string][]int{"VDU1": {0, 1}},
		Assets: map[hot.DemandKey]hot.Asset{{VDUID: "VDU1"}: asset}, DigestKey: []byte("key"),
	}
	stack, problems := source.Stack(request)
	require.NoError(t, problems.Err())
	objects, problems := source.Objects(request)
	require.NoError(t, problems.Err())
	s := &session{target: &vnfm.Target{}, source: source, request: request, objects: objects}
	return s, &openstack.StackRequest{StackContent: openstack.StackContent{Template: stack.Template, Files: stack.Files, Parameters: stack.Parameters}}
}

// liveOf is the stack that Heat has made of a request, with servers at some paths.
func liveOf(t *testing.T, made *openstack.StackRequest, paths []string) *live {
	t.Helper()
	l := &live{stack: &openstack.Stack{ID: "top"}, content: &openstack.StackContent{Files: made.Files}, servers: map[string]*openstack.Server{}}
	text, err := json.Marshal([]any{made.Template, made.Parameters})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &[]any{&l.content.Template, &l.content.Parameters}))
	seen := map[string]bool{}
	for n, path := range paths {
		holder, names := "top", strings.Split(path, "/")
		for i, name := range names {
			at, typ, id := strings.Join(names[:i+1], "/"), "nested", "stack-"+strings.Join(names[:i+1], ".")
			if i == len(names)-1 {
				typ, id = serverType, fmt.Sprintf("s%d", n)
				l.servers[id] = &openstack.Server{ID: id}
			}
			if !seen[at] {
				var r openstack.StackResource
				require.NoError(t, json.Unmarshal([]byte(fmt.Sprintf(`{"resource_name": %q, "resource_type": %q, "physical_resource_id": %q,
					"creation_time": "2026-01-01T00:00:0%dZ", "links": [{"rel": "stack", "href": "https://heat/v1/t/stacks/x/%s"}]}`, name, typ, id, n, holder)), &r))
				l.resources, seen[at] = append(l.resources, r), true
			}
			holder = id
		}
	}
	return l
}

// TestReplacing compares what a stack is made of with what it is to be: which servers become others, and which of them can wait.
func TestReplacing(t *testing.T) {
	before := hot.Asset{FlavorID: "small", ImageID: "old"}
	for name, tt := range map[string]struct {
		asset hot.Asset
		edit  func(top, nested string) (string, string)
		// replaced are the forms in which the servers are replaced, waits those in which one can wait for the other.
		replaced, waits []string
	}{
		"nothing":    {before, nil, nil, nil},
		"new flavor": {hot.Asset{FlavorID: "large", ImageID: "old"}, nil, nil, nil},
		"new image":  {hot.Asset{FlavorID: "small", ImageID: "new"}, nil, []string{"flat", "grouped", "nested"}, []string{"flat", "nested"}},
		"user data": {before, func(top, nested string) (string, string) {
			edit := func(text string) string { return strings.Replace(text, "networks:", "user_data: hello, networks:", 1) }
			return edit(top), edit(nested)
		}, []string{"flat", "grouped", "nested"}, []string{"flat"}},
		"ignored user data": {before, func(top, nested string) (string, string) {
			edit := func(text string) string {
				return strings.Replace(text, "networks:", "user_data: hello, user_data_update_policy: IGNORE, networks:", 1)
			}
			return edit(top), edit(nested)
		}, nil, nil},
		"name and network": {before, func(top, nested string) (string, string) {
			edit := func(text string) string {
				return strings.NewReplacer("networks:", "name: other, networks:", "network: net", "network: other").Replace(text)
			}
			return edit(top), edit(nested)
		}, nil, nil},
		"flavor whose policy replaces": {hot.Asset{FlavorID: "large", ImageID: "old"}, func(top, nested string) (string, string) {
			edit := func(text string) string {
				return strings.Replace(text, "networks:", "flavor_update_policy: REPLACE, networks:", 1)
			}
			return edit(top), edit(nested)
		}, []string{"flat", "grouped", "nested"}, []string{"flat"}},
	} {
		for _, form := range slices.Sorted(maps.Keys(stackForms)) {
			f := stackForms[form]
			_, made := sessionOf(t, f.top, f.nested, before)
			top, nested := f.top, f.nested
			if tt.edit != nil {
				top, nested = tt.edit(top, nested)
			}
			s, want := sessionOf(t, top, nested, tt.asset)
			l := liveOf(t, made, f.paths)
			got, err := s.replacements(l, nil, want, &note{})
			require.NoError(t, err, "%s, %s", name, form)
			var expected []vnfm.Replacement
			if slices.Contains(tt.replaced, form) {
				atOnce := !slices.Contains(tt.waits, form)
				expected = []vnfm.Replacement{{VNFC: "VDU1-s0", AtOnce: atOnce}, {VNFC: "VDU1-s1", AtOnce: atOnce}}
			}
			assert.Equal(t, expected, got, "%s, %s", name, form)
		}
	}
}

// TestHold: a VNFC that waits keeps the definition that it has, with the values of its parameters, while the other one changes; the
// stack shows that it is not what it is to be.
func TestHold(t *testing.T) {
	for _, form := range []string{"flat", "nested"} {
		f := stackForms[form]
		_, made := sessionOf(t, f.top, f.nested, hot.Asset{FlavorID: "small", ImageID: "old"})
		s, want := sessionOf(t, f.top, f.nested, hot.Asset{FlavorID: "small", ImageID: "new"})
		s.target.Held = []string{"VDU1-s1"}
		l := liveOf(t, made, f.paths)
		key := s.objectOf("VDU1", "")
		l.note.Objects = map[string]string{key: "of before"}
		n := &note{Objects: map[string]string{key: "of now"}}
		require.NoError(t, s.hold(l, want, n))
		assert.Equal(t, "of before", n.Objects[key], form)

		gets, err := scopeOf(&want.StackContent, "")
		require.NoError(t, err)
		images := map[string]any{}
		for _, path := range f.paths {
			names := strings.Split(path, "/")
			properties, ok := gets.server(gets.resources[names[0]], names[1:], 0)
			require.True(t, ok, path)
			images[names[0]] = properties["image"]
		}
		assert.Equal(t, map[string]any{"VDU1-0": "new", "VDU1-1": "old"}, images, form)

		// The next round changes that one as well, and nothing but that.
		then := liveOf(t, want, f.paths)
		s, last := sessionOf(t, f.top, f.nested, hot.Asset{FlavorID: "small", ImageID: "new"})
		got, err := s.replacements(then, nil, last, &note{})
		require.NoError(t, err)
		assert.Equal(t, []vnfm.Replacement{{VNFC: "VDU1-s1"}}, got, form)
	}
}

// TestHoldOfDrift: a VNFC that waits, in a stack that was changed outside of Terraform, is seen to be different until its turn.
func TestHoldOfDrift(t *testing.T) {
	f := stackForms["flat"]
	_, foreign := sessionOf(t, f.top, f.nested, hot.Asset{FlavorID: "small", ImageID: "foreign"})
	s, want := sessionOf(t, f.top, f.nested, hot.Asset{FlavorID: "small", ImageID: "old"})
	l := liveOf(t, foreign, f.paths)
	key := s.objectOf("VDU1", "")
	for was, noted := range map[string]map[string]string{"the note is kept": maps.Clone(s.objects), "the note is lost": nil} {
		l.note.Objects, s.target.Held = noted, []string{"VDU1-s1"}
		n := &note{Objects: maps.Clone(s.objects)}
		require.NoError(t, s.hold(l, want, n), was)
		assert.Equal(t, vnfm.Drifted+"VNFC VDU1-s1 is still to be replaced", n.Objects[key], was)
	}
}

// A hidden value is written by nobody: what has one does not wait.
func TestHoldOfHidden(t *testing.T) {
	top := strings.Replace(flatServers, "networks:", "admin_pass: { get_param: login }, networks:", 1)
	_, made := sessionOf(t, top, "", hot.Asset{FlavorID: "small", ImageID: "old"})
	s, want := sessionOf(t, top, "", hot.Asset{FlavorID: "small", ImageID: "new"})
	l := liveOf(t, made, []string{"VDU1-0", "VDU1-1"})
	got, err := s.replacements(l, nil, want, &note{})
	require.NoError(t, err)
	assert.Equal(t, []vnfm.Replacement{{VNFC: "VDU1-s0", AtOnce: true}, {VNFC: "VDU1-s1", AtOnce: true}}, got)
	s.target.Held = []string{"VDU1-s1"}
	require.ErrorContains(t, s.hold(l, want, &note{}), "VNFC VDU1-s1 cannot stay as it is while others are replaced: its definition has a value that is hidden")
}
