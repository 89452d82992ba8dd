package params_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func texts(problems vnfm.Problems) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.Attribute+"["+p.Key+"] "+p.String())
	}
	return out
}

func TestObject(t *testing.T) {
	values := map[string]any{"site": map[string]any{
		"name": "edge", "port": "22", "count": int64(3), "on": "true", "user_name": "root", "list": []any{"a", "b"}, "bad": []any{}, "far": int64(70000),
		"nodes": []any{map[string]any{"cp": "CP1"}, "x"},
	}}
	var problems vnfm.Problems
	root := params.Root(values, false, &problems)
	site := root.Object("site")
	assert.Equal(t, "edge", site.Text("name"))
	assert.Equal(t, 22, site.Int("port", 0, 1, 65535))
	assert.Equal(t, 7, site.Int("none", 7, 1, 9))
	assert.Equal(t, "3", site.Text("count"))
	assert.True(t, site.Bool("on"))
	assert.Equal(t, []string{"a", "b"}, site.Texts("list"))
	assert.Equal(t, []string{"edge"}, site.Texts("name"))
	site.Required("username")
	site.Text("bad")
	site.Int("far", 0, 1, 65535)
	nodes := site.Objects("nodes")
	assert.Len(t, nodes, 1)
	nodes[0].Required("ssh_cp_name")
	nodes[0].Done()
	site.Done()
	assert.Equal(t, []string{
		"additional_params[site] site.username is missing",
		"additional_params[site] site.bad must be a string, not a list",
		"additional_params[site] site.far must be a whole number between 1 and 65535",
		"additional_params[site] site.nodes.1 must be an object, not text",
		"additional_params[site] site.nodes.0.ssh_cp_name is missing",
		"additional_params[site] site.nodes.0.cp is not known: known here are ssh_cp_name",
		`additional_params[site] site.user_name is not known: did you mean "username"? known here are bad, count, far, list, name, nodes, none, on, port, username`,
	}, texts(problems))
}

// A parameter that may still come is not missing.
func TestLater(t *testing.T) {
	var problems vnfm.Problems
	site := params.Root(map[string]any{"site": map[string]any{}}, true, &problems).Object("site")
	site.Required("username")
	site.Done()
	assert.Empty(t, problems)
}
