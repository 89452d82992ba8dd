package hot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deep is a BaseHOT that hands parameters on to nested templates, over two of them.
const deep = `-- simple/top.yaml --
heat_template_version: 2021-04-16
parameters:
  nfv: { type: json }
  password: { type: string }
  token: { type: string, hidden: true, default: "" }
  name: { type: string, default: vnf }
resources:
  VDU1:
    type: VDU1.yaml
    properties:
      flavor: { get_param: [nfv, VDU, VDU1, computeFlavourId] }
      login: { str_replace: { template: "root:P", params: { P: { get_param: password } } } }
      boot: { get_param: [nfv, VDU, VDU1, boot, key] }
      name: { get_param: name }
  VDU2:
    type: OS::Heat::ResourceGroup
    properties: { count: 1, resource_def: { type: VDU2.yaml, properties: { user_data: { get_param: password }, name: { get_param: name } } } }
-- simple/nested/VDU1.yaml --
heat_template_version: 2021-04-16
parameters: { flavor: { type: string }, login: { type: string }, boot: { type: string, default: "" }, name: { type: string } }
resources:
  VDU1: { type: OS::Nova::Server, properties: { flavor: { get_param: flavor }, name: { get_param: name } } }
  inner: { type: inner.yaml, properties: { data: { get_param: login }, name: { get_param: name } } }
-- simple/nested/VDU2.yaml --
heat_template_version: 2021-04-16
parameters: { user_data: { type: string }, name: { type: string } }
resources: { VDU2: { type: OS::Nova::Server, properties: { user_data: { get_param: user_data }, name: { get_param: name } } } }
-- simple/nested/inner.yaml --
heat_template_version: 2021-04-16
parameters: { data: { type: string }, name: { type: string } }
resources: { secret: { type: OS::Barbican::Secret, properties: { payload: { get_param: data } } } }
`

// deepRequest is one for deep.
func deepRequest(secrets map[string]any) Request {
	r := request()
	r.Links, r.Assets = nil, map[DemandKey]Asset{{"VDU1", ""}: {FlavorID: "flavour-1", ImageID: "image-1"}}
	r.Parameters, r.Secrets = map[string]any{"password": "p"}, secrets
	r.NFV = map[string]any{"VDU": map[string]any{"VDU1": map[string]any{"boot": map[string]any{"key": "k"}}}}
	return r
}

// TestHide hides what secrets reach, in the stack and in those nested in it, and nothing else.
func TestHide(t *testing.T) {
	boot := func(vdu string) map[string]any {
		return map[string]any{nfv: map[string]any{"VDU": map[string]any{vdu: map[string]any{"boot": map[string]any{"key": "k"}}}}}
	}
	for _, tt := range []struct {
		name    string
		secrets map[string]any
		want    string
	}{
		{"none", nil, "top token"},
		{"one that is handed on", map[string]any{"password": "p"}, "VDU1.yaml login, VDU2.yaml user_data, inner.yaml data, top password, top token"},
		{"one that is hidden", map[string]any{"token": "p"}, "top token"},
		{"below nfv", boot("VDU1"), "VDU1.yaml boot, top nfv, top token"},
		{"below nfv of one VNFC", boot("VDU1-2"), "VDU1.yaml boot, top nfv, top token"},
		{"below nfv of another", boot("VDU2"), "top nfv, top token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustLoad(t, files(deep), router())
			before := stackOf(t, s, deepRequest(nil))
			stack, _ := s.Stack(deepRequest(tt.secrets))
			found := []string{}
			note := func(template string, parameters any) {
				for _, name := range sorted(mapOf(parameters)) {
					if IsHidden(mapOf(parameters)[name]) {
						found = append(found, template+" "+name)
					}
				}
			}
			for _, name := range sorted(stack.Files) {
				if stack.Files[name] == before.Files[name] {
					continue
				}
				var body map[string]any
				require.NoError(t, json.Unmarshal([]byte(stack.Files[name]), &body))
				note(name, body["parameters"])
				assert.Equal(t, s.nested[name].body["resources"], body["resources"], "%s", name)
			}
			note("top", stack.Template["parameters"])
			assert.Equal(t, tt.want, strings.Join(found, ", "), "hidden")
			assert.Equal(t, before, stackOf(t, s, deepRequest(nil)), "the source was changed")
		})
	}
}

// TestSecretObjects: a change of a secret is one of what is made of it, be it hidden or not.
func TestSecretObjects(t *testing.T) {
	s := mustLoad(t, files(strings.Replace(copied, "key_name: { get_param: key }", "key_name: { get_param: secret }", 1)), router())
	objects := func(value string, secret bool) map[string]string {
		r := request()
		r.DigestKey, r.Parameters = []byte("key"), map[string]any{"secret": value}
		if secret {
			r.Secrets = r.Parameters
		}
		got, ps := s.Objects(r)
		require.Empty(t, ps, "%s", lines(ps))
		return got
	}
	const server = "OS::Nova::Server VDU2"
	one, two := objects("one", true), objects("two", true)
	require.NotEqual(t, two[server], one[server])
	assert.Equal(t, two["OS::Nova::Server VDU1"], one["OS::Nova::Server VDU1"], "%v and %v", one, two)
	plain := objects("one", false)
	assert.Equal(t, objects("two", false)[server], plain[server], "a hidden parameter that is no secret of the request is in a digest")
}

// TestSecretBlame: an error of a value below nfv names the argument that gives it.
func TestSecretBlame(t *testing.T) {
	s := mustLoad(t, files(copied), router())
	r := request()
	r.NFV = map[string]any{"VDU": map[string]any{"VDU1": map[string]any{"flavor": "x", "size": "y"}}}
	r.Secrets = map[string]any{nfv: map[string]any{"VDU": map[string]any{"VDU1": map[string]any{"size": "y"}}}}
	_, ps := s.Stack(r)
	var got []string
	for _, p := range ps {
		got = append(got, p.Attribute+": "+p.Summary)
	}
	want := []string{
		"additional_params: the template BaseHOT/simple/top.yaml does not ask for nfv.VDU.VDU1.flavor",
		"additional_params_wo: the template BaseHOT/simple/top.yaml does not ask for nfv.VDU.VDU1.size",
	}
	assert.Equal(t, want, got)
}
