package playbook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/playbook"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hooktest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// site writes down what it is called with, by a role and a template of its folder.
const site = `
- name: Set up
  hosts: web_server
  gather_facts: false
  roles: [tell]
- name: Look at the folder
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Modes
      shell: 'find {{ playbook_dir }}/.. -printf "%m %P\n"; ps -eo args'
      register: found
    - name: Write them down
      copy: {content: "{{ found.stdout }}", dest: "{{ out }}/modes", mode: "0600"}
`

const role = `
- name: Who am I
  command: id -un
  register: me
- name: Write it down
  template: {src: facts.json, dest: "{{ out }}/{{ vnfc_id }}.json", mode: "0600"}
- name: Fails when told to
  command: "false"
  when: broken | default(false)
`

const facts = `{{ {"me": me.stdout, "id": vnfc_id, "name": vnfc_name, "vdu": vdu_id, "leaving": leaving, "points": connection_points, "groups": groups.keys() | sort,
"site": site, "token": token, "hook": vnf_hook, "operation": vnf_operation, "instance": vnf_instance_id} | to_json }}`

func files() fstest.MapFS {
	return fstest.MapFS{
		"Ansible/site.yml": {Data: []byte(site)}, "Ansible/roles/tell/tasks/main.yml": {Data: []byte(role)},
		"Ansible/roles/tell/templates/facts.json": {Data: []byte(facts)},
		"Ansible/group_vars/web_server.yml":       {Data: []byte("ansible_python_interpreter: /usr/bin/python3\n")},
		"Ansible/notes.yml":                       {Data: []byte("a: 1\n")},
		"Ansible/broken.yml":                      {Data: []byte("- hosts: [\n")},
		"site.yml":                                {Data: []byte(site)},
	}
}

func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "default", VDUs: []vnfm.VDU{{ID: "web-server"}, {ID: "db"}},
		ConnectionPoints: []vnfm.ConnectionPoint{{ID: "web_cp", VDUID: "web-server"}, {ID: "db_cp", VDUID: "db"}},
	}
}

func hook(name, file string, inputs map[string]string) vnfm.Hook {
	return vnfm.Hook{Name: name, Implementation: vnfm.Implementation{Artifact: "setup", File: file, Type: vnfm.ArtifactAnsible, Inputs: inputs}}
}

const password = "it's {{ secret }} #1"

// newCall returns a call of a hook of an instance with servers of OpenSSH, and a host of Ansible.
func newCall(t *testing.T) (call *vnfm.HookCall, rec *hooktest.Recorder, out, temporary string) {
	t.Helper()
	labtest.NotShort(t, "Ansible")
	labtest.FullRun(t, "Ansible")
	for _, program := range []string{"ansible-playbook", "sshpass", "ssh"} {
		if _, err := exec.LookPath(program); err != nil {
			labtest.Missing(t, fmt.Sprintf("Ansible: %v", err))
		}
	}
	node := sshtest.OpenSSH(t, sshtest.Account{User: "ops", Password: password, Sudoers: "ALL=(ALL:ALL) ALL"}).Host("ops")
	temporary, out = t.TempDir(), t.TempDir()
	server := sshtest.New(t, sshtest.Options{Env: []string{"TMPDIR=" + temporary}}).Host()
	rec = &hooktest.Recorder{}
	has := &vnfm.ResourceInfo{VNFCs: []vnfm.VNFC{
		{ID: "7f0a-1", VDUID: "web-server", Resource: "web1", State: "ACTIVE", ConnectionPoints: map[string][]string{"web_cp": {node.Address}}, Addresses: []string{node.Address}},
		{ID: "web-0", VDUID: "web-server", State: vnfm.VNFCGone},
		{ID: "db-1", VDUID: "db", State: "ACTIVE"},
	}}
	return &vnfm.HookCall{
		Hook:      hook("instantiate_end", "Ansible/site.yml", map[string]string{"vdus": "web-server", "sudo": "true", "site": "edge", "out": out}),
		Operation: vnfm.OpInstantiate, End: true,
		Params: map[string]any{
			"ansible_host":   map[string]any{"ip_address": server.Address, "port": int64(server.Port), "username": server.User, "password": server.Password.Reveal(), "timeout": "2m"},
			"ssh_access":     map[string]any{"web-server": map[string]any{"ssh_cp_name": "web_cp", "username": "ops", "password": password, "port": int64(node.Port)}},
			"ansible_params": map[string]any{"token": "planted-playbook-token"},
		},
		Instance: &vnfm.Instance{ID: "7", Name: "core", FlavourID: "default"}, Flavour: flavour(), Package: &vnfm.Package{Content: files()},
		Resources: func(context.Context) (*vnfm.ResourceInfo, error) { return has, nil }, Recorder: rec, HostKeys: rec,
	}, rec, out, temporary
}

// The playbook runs with its folder, as root on the servers, and leaves nothing behind. It
// is not run again for the same hook.
func TestPlaybook(t *testing.T) {
	call, rec, out, temporary := newCall(t)
	stale := filepath.Join(temporary, "vnf-playbook.7.killed")
	require.NoError(t, os.Mkdir(stale, 0o700))
	require.NoError(t, playbook.New().Run(t.Context(), call), strings.Join(rec.Lines(), "\n"))
	text, err := os.ReadFile(filepath.Join(out, "7f0a-1.json"))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got), string(text))
	assert.Equal(t, map[string]any{
		"me": "root", "id": "7f0a-1", "name": "web1", "vdu": "web-server", "leaving": false, "points": map[string]any{"web_cp": []any{"127.0.0.1"}},
		"groups": []any{"all", "ungrouped", "web_server"}, "site": "edge", "token": "planted-playbook-token",
		"hook": "instantiate_end", "operation": "INSTANTIATE", "instance": "7",
	}, got)
	assert.Contains(t, rec.Lines(), "site.yml: TASK [tell : Write it down]")
	assert.NotContains(t, strings.Join(rec.Lines(), "\n"), "planted-playbook-token")

	modes, err := os.ReadFile(filepath.Join(out, "modes"))
	require.NoError(t, err)
	for _, want := range []string{"700 ", "600 inventory.yml", "600 playbooks/site.yml", "700 playbooks/roles"} {
		assert.Contains(t, strings.Split(string(modes), "\n"), want)
	}
	assert.Contains(t, string(modes), "ansible-playbook -e @")
	for _, secret := range []string{"planted-playbook-token", password} {
		assert.NotContains(t, string(modes), secret)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	before := rec.Lines()
	require.NoError(t, playbook.New().Run(t.Context(), call))
	assert.Equal(t, before, rec.Lines(), "what has succeeded is not run again")
}

func TestPlaybookFails(t *testing.T) {
	call, rec, _, temporary := newCall(t)
	call.Hook.Implementation.Inputs["broken"] = "true"
	err := playbook.New().Run(t.Context(), call)
	require.ErrorContains(t, err, "playbook site.yml on root@127.0.0.1")
	require.ErrorContains(t, err, `node vnfc_7f0a-1, play "Set up": task "tell : Fails when told to" failed: non-zero return code`)
	assert.Empty(t, rec.Note("instantiate_end/playbook"))
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestCheck(t *testing.T) {
	login := func(point string) map[string]any {
		return map[string]any{"ssh_cp_name": point, "username": "root", "password": "x"}
	}
	with := func(name string, value any) func(map[string]any) {
		return func(p map[string]any) { p["ssh_access"].(map[string]any)["web-server"].(map[string]any)[name] = value } //nolint:forcetypeassert // It is below.
	}
	web := map[string]string{"vdus": "web-server"}
	for name, c := range map[string]struct {
		hook  vnfm.Hook
		edit  func(map[string]any)
		later bool
		want  string
	}{
		"whole":       {hook("scale_end", "Ansible/site.yml", web), nil, false, ""},
		"known later": {hook("scale_end", "Ansible/site.yml", nil), func(p map[string]any) { clear(p) }, true, ""},
		"no servers":  {hook("terminate_end", "Ansible/site.yml", nil), nil, false, "hook terminate_end: there are no servers"},
		"all VDUs":    {hook("scale_end", "Ansible/site.yml", nil), nil, false, "ssh_access.db is missing"},
		"wrong VDU":   {hook("scale_end", "Ansible/site.yml", map[string]string{"vdus": "wep"}), nil, false, `input vdus names "wep", which is not a VDU`},
		"no file":     {hook("scale_end", "Ansible/sight.yml", web), nil, false, "the package has no file Ansible/sight.yml"},
		"no folder":   {hook("scale_end", "site.yml", web), nil, false, "put the playbook into a folder of its own"},
		"no playbook": {hook("scale_end", "Ansible/notes.yml", web), nil, false, "it must be a list of plays"},
		"no YAML":     {hook("scale_end", "Ansible/broken.yml", web), nil, false, "Ansible/broken.yml of the package is not a playbook: yaml: "},
		"bad sudo":    {hook("scale_end", "Ansible/site.yml", map[string]string{"vdus": "web-server", "sudo": "maybe"}), nil, false, `input sudo is "maybe"`},
		"bad input":   {hook("scale_end", "Ansible/site.yml", map[string]string{"vdus": "web-server", "a-b": "1"}), nil, false, `input "a-b" is not a valid name of an Ansible variable`},
		"no host":     {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) { delete(p, "ansible_host") }, false, "ansible_host is missing"},
		"bad address": {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) {
			p["ansible_host"] = map[string]any{"ip_address": "0.0.0.0", "username": "a", "password": "b"}
		}, false, `ansible_host.ip_address must be the IP address`},
		"bad timeout": {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) {
			p["ansible_host"] = map[string]any{"ip_address": "192.0.2.1", "username": "a", "password": "b", "timeout": "soon"}
		}, false, `ansible_host.timeout must be a duration, not "soon"`},
		"bad variable":  {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) { p["ansible_params"] = map[string]any{"1st": 1.0} }, false, "ansible_params.1st is not a valid name of an Ansible variable"},
		"bad variables": {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) { p["ansible_params"] = "x" }, false, "ansible_params must be an object"},
		"bad access":    {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) { p["ssh_access"].(map[string]any)["web-server"] = login("db_cp") }, false, "names a connection point of VDU db"}, //nolint:forcetypeassert // It is below.
		"jump host":     {hook("scale_end", "Ansible/site.yml", web), with("jump_host", map[string]any{"address": "192.0.2.9", "username": "a", "password": "b"}), false, "ssh_access.web-server.jump_host cannot be used for a playbook"},
		"agent":         {hook("scale_end", "Ansible/site.yml", web), func(p map[string]any) { with("password", nil)(p); with("ssh_agent", true)(p) }, false, "ssh_access.web-server.ssh_agent cannot be used: Ansible has no agent"},
	} {
		t.Run(name, func(t *testing.T) {
			given := map[string]any{
				"ansible_host": map[string]any{"ip_address": "192.0.2.1", "username": "ansible", "password": "x"},
				"ssh_access":   map[string]any{"web-server": login("web_cp")},
			}
			if c.edit != nil {
				c.edit(given)
			}
			problems := playbook.New().Check(&vnfm.HookCheck{
				Hooks: []vnfm.Hook{c.hook}, Params: given, Later: c.later, Flavour: flavour(), Package: &vnfm.Package{Content: files()},
			})
			if c.want == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			assert.Contains(t, problems[0].String(), c.want)
		})
	}
}
