package heat

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

func template(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

func TestReadForeign(t *testing.T) {
	content := func() *openstack.StackContent {
		return &openstack.StackContent{
			Template: template(t, `
parameters: { size: { type: number }, token: { type: string, hidden: true }, unset: { type: string, hidden: true, default: x } }
resources:
  web: { type: "file:///home/user/web.yaml", properties: { script: { get_file: "file:///home/user/start.sh" } } }
  db: { type: "My::DB" }
  pair: { type: OS::Heat::ResourceGroup, properties: { count: 2, resource_def: { type: "file:///home/user/other/web.yaml" } } }
  net: { type: OS::Neutron::Net }
  host: { type: OS::Nova::Server }`),
			Files: map[string]string{
				"file:///home/user/web.yaml":       `resources: { server: { type: OS::Nova::Server, properties: { user_data: { get_file: "file:///home/user/start.sh" } } } }`,
				"file:///home/user/other/web.yaml": "resources: { a: { type: OS::Nova::Server }, b: { type: OS::Nova::Server } }",
				"file:///home/user/start.sh":       "echo",
			},
			Parameters: map[string]any{"size": 1.0, "token": "******"}, Notes: map[string]any{noteName: "{}"},
			Registry: map[string]any{"resources": map[string]any{}, "My::DB": "file:///home/user/web.yaml"},
		}
	}
	var f Foreign
	require.NoError(t, f.readContent(content()))
	require.NoError(t, f.findVDUs(&live{stack: &openstack.Stack{}}))
	assert.Equal(t, map[string]string{
		"web-2.yaml": `resources: { server: { type: OS::Nova::Server, properties: { user_data: { get_file: "start.sh" } } } }`,
		"web.yaml":   "resources: { a: { type: OS::Nova::Server }, b: { type: OS::Nova::Server } }", "start.sh": "echo",
	}, f.Files, "files")
	if diff := cmp.Diff([]ForeignVDU{{"db", "web-2.yaml", 0}, {"host", "OS::Nova::Server", 0}, {"a", "OS::Heat::ResourceGroup", 0}, {"b", "OS::Heat::ResourceGroup", 0}, {"web", "web-2.yaml", 0}}, f.VDUs); diff != "" {
		t.Errorf("VDUs (-want +got):\n%s", diff)
	}
	assert.Equal(t, map[string]any{"size": 1.0}, f.Parameters, "parameters")
	assert.Equal(t, []string{"token"}, f.Hidden, "hidden parameters")
	for want, change := range map[string]func(*openstack.StackContent){
		"what stands for the type My::Net": func(c *openstack.StackContent) { c.Registry["My::Net"] = "OS::Neutron::Net" },
		"what stands for the type My::*":   func(c *openstack.StackContent) { c.Registry["My::*"] = "file:///home/user/web.yaml" },
		"a value of zone for nested":       func(c *openstack.StackContent) { c.Notes["zone"] = "nova" },
		"a nested template with the servers": func(c *openstack.StackContent) {
			section(c.Template, keyResources)["two"] = map[string]any{keyType: "file:///home/user/other/web.yaml"}
		},
		"the file start.sh has the type My::DB": func(c *openstack.StackContent) { c.Files["file:///home/user/start.sh"] = "My::DB" },
		"it has no server":                      func(c *openstack.StackContent) { c.Template[keyResources] = map[string]any{} },
	} {
		c, f := content(), Foreign{}
		change(c)
		err := f.readContent(c)
		if err == nil {
			err = f.findVDUs(&live{stack: &openstack.Stack{}})
		}
		require.ErrorContains(t, err, want)
	}
}
