package ansible_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
)

// tellAndKeep writes a cached fact of a node to a file and caches one, as kubespray does with the addresses of nodes.
const tellAndKeep = `
- name: Tell and keep
  hosts: n1
  gather_facts: false
  tasks:
    - copy: {content: "{{ keeps | default('nothing') }}", dest: "{{ folder }}/known", mode: "0600"}
    - set_fact: {keeps: "{{ keep }}", cacheable: true}
`

// Facts that ansible.cfg keeps in a folder for all inventories are never found: a node of another cluster has the same name
// and another address. Facts that one playbook keeps for the next are found by that one alone.
func TestFacts(t *testing.T) {
	t.Parallel()
	c, _ := host(t)
	shared := t.TempDir()
	plays := map[string]ansible.Play{}
	for _, name := range []string{"a", "b"} {
		_, p := play(t, c, tellAndKeep)
		write(t, p.Dir, "ansible.cfg", "[defaults]\ngathering = smart\nfact_caching = jsonfile\nfact_caching_connection = "+shared+"\nfact_caching_timeout = 86400\n")
		plays[name] = p
	}
	run := func(name string, facts ansible.Facts) string {
		t.Helper()
		p := plays[name]
		p.Facts, p.ExtraVars = facts, map[string]any{"folder": p.Dir, "keep": "of " + name}
		_, err := ansible.Run(t.Context(), p)
		require.NoError(t, err)
		known, err := os.ReadFile(filepath.Join(p.Dir, "known"))
		require.NoError(t, err)
		return string(known)
	}
	folder := filepath.Join(t.TempDir(), "facts")
	keep, last := ansible.Facts{Folder: folder, Keep: true}, ansible.Facts{Folder: folder}
	assert.Equal(t, "nothing", run("a", ansible.Facts{}))
	assert.Equal(t, "nothing", run("b", ansible.Facts{}), "facts of another cluster")
	assert.Equal(t, "nothing", run("a", keep))
	assert.Equal(t, "nothing", run("a", keep), "facts of an earlier run")
	assert.Equal(t, "of a", run("a", last))
	assert.NoDirExists(t, folder)
	left, err := os.ReadDir(shared)
	require.NoError(t, err)
	assert.Empty(t, left, "the shared cache")
}
