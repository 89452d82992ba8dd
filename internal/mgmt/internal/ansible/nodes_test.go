package ansible_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestNodes reaches nodes over the real SSH, with passwords.
func TestNodes(t *testing.T) {
	t.Parallel()
	c, _ := host(t, "sshpass", "ssh")
	daemon := sshtest.OpenSSH(t, sshtest.Account{User: "ops", Password: "opspass1", Sudoers: "ALL=(ALL:ALL) ALL"})
	node := daemon.Host("ops")
	playbook := `
- name: Look around
  hosts: all
  gather_facts: false
  tasks:
    - name: Who am I
      command: id -u
      register: me
    - name: Root it is
      assert: {that: "me.stdout == '0'"}
`
	run := func(t *testing.T, password, known string) ([]string, error) {
		t.Helper()
		lines, p := play(t, c, playbook)
		write(t, p.Dir, "inventory.ini", fmt.Sprintf("edge ansible_host=127.0.0.1 ansible_port=%d ansible_user=ops ansible_password=%s ansible_become_password=%s ansible_python_interpreter=/usr/bin/python3\n", node.Port, password, password))
		// The ansible.cfg of an administrator does not weaken the check of host keys.
		write(t, p.Dir, "ansible.cfg", "[defaults]\nhost_key_checking = False\n[ssh_connection]\nssh_args = -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no\n")
		p.KnownHosts, p.Become, p.Secrets = known, true, []vnfm.Secret{vnfm.Secret(password)}
		_, err := ansible.Run(t.Context(), p)
		return *lines, err
	}
	known := fmt.Sprintf("[127.0.0.1]:%d %s\n", node.Port, node.HostKeys[0])
	other, _ := sshtest.NewKey(t)
	changed := fmt.Sprintf("[127.0.0.1]:%d %s\n", node.Port, sshtest.Line(other.PublicKey()))

	lines, err := run(t, "opspass1", known)
	require.NoError(t, err, strings.Join(lines, "\n"))
	assert.Contains(t, lines, "changed: [edge]")

	for name, test := range map[string]struct{ password, known, want string }{
		"wrong password": {"wrongpass1", known, "Invalid/incorrect password"},
		"no host key":    {"opspass1", "", "Host key verification failed"},
		"changed key":    {"opspass1", changed, "Host key verification failed"},
	} {
		t.Run(name, func(t *testing.T) {
			lines, err := run(t, test.password, test.known)
			var failed *ansible.PlaybookError
			require.ErrorAs(t, err, &failed)
			require.Len(t, failed.Failures, 1)
			assert.True(t, failed.Failures[0].Unreachable)
			require.ErrorContains(t, err, `node edge, play "Look around": task "Who am I" did not reach the node: `)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error()+strings.Join(lines, ""), "pass1")
		})
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	c, _ := host(t, "sshpass", "ssh")
	dir := t.TempDir()
	write(t, dir, "cluster.yml", "- hosts: all\n")
	version, err := ansible.Preflight(t.Context(), c, ansible.Needs{Dir: dir, Playbooks: []string{"cluster.yml", dir + "/cluster.yml"}, Passwords: true})
	require.NoError(t, err)
	assert.Regexp(t, `^2\.[0-9]+`, version)

	_, err = ansible.Preflight(t.Context(), c, ansible.Needs{Dir: dir, Playbooks: []string{"cluster.yml", "scale.yml", "/no/reset.yml"}})
	require.EqualError(t, err, fmt.Sprintf("host %s has no playbook %s/scale.yml, or its user may not read it\nhost %s has no playbook /no/reset.yml, or its user may not read it", c.Name(), dir, c.Name()))
	_, err = ansible.Preflight(t.Context(), c, ansible.Needs{Dir: "/no/such"})
	require.ErrorContains(t, err, "has no folder /no/such")

	// A virtual environment goes before what the host has.
	old := filepath.Join(dir, "venv", "bin")
	require.NoError(t, os.MkdirAll(old, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(old, "ansible-playbook"), []byte("#!/bin/sh\necho 'ansible-playbook 2.9.27'\n"), 0o755))
	version, err = ansible.Preflight(t.Context(), c, ansible.Needs{Dir: dir})
	require.ErrorContains(t, err, "has ansible-core 2.9.27, but at least 2.11 is needed")
	assert.Equal(t, "2.9.27", version)

	// The Python of Ansible is asked for modules, and Ansible for its collections.
	_, err = ansible.Preflight(t.Context(), c, ansible.Needs{Dir: t.TempDir(), Collections: []string{"no.such"}, Modules: []string{"json", "no_such"}, Install: "pip install all"})
	require.EqualError(t, err, fmt.Sprintf("host %s has no Ansible collection no.such, which the playbooks use: run there: pip install all\nhost %s has no Python module no_such for its Ansible: run there: pip install all", c.Name(), c.Name()))

	bare := connectBare(t)
	_, err = ansible.Preflight(t.Context(), bare, ansible.Needs{Dir: filepath.Join(dir, "venv"), Passwords: true})
	require.ErrorContains(t, err, "has no ansible-playbook: install ansible-core 2.11 or later")
	require.ErrorContains(t, err, "has no sshpass")
}
