package ansible_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// host is one that has Ansible, and the server that can be cut.
func host(t *testing.T, programs ...string) (*remote.Client, *sshtest.Server) {
	t.Helper()
	labtest.NotShort(t, "Ansible")
	labtest.FullRun(t, "Ansible")
	for _, program := range append(programs, "ansible-playbook") {
		if _, err := exec.LookPath(program); err != nil {
			labtest.Missing(t, fmt.Sprintf("Ansible: %v", err))
		}
	}
	server := sshtest.New(t, sshtest.Options{})
	c, err := remote.Dial(t.Context(), server.Host(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c, server
}

// play is a playbook in a folder of its own, for two nodes that are the machine itself.
func play(t *testing.T, c *remote.Client, playbook string) (*[]string, ansible.Play) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "site.yml", playbook)
	write(t, dir, "inventory.ini", "[nodes]\nn1\nn2\n[nodes:vars]\nansible_connection=local\nansible_python_interpreter=/usr/bin/python3\n")
	lines := &[]string{}
	return lines, ansible.Play{
		Host: c, Dir: dir, Inventory: "inventory.ini", Playbook: "site.yml", Timeout: time.Minute,
		Output: func(line string) { *lines = append(*lines, line) },
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func TestRun(t *testing.T) {
	t.Parallel()
	c, _ := host(t)
	lines, p := play(t, c, `
- name: Say it
  hosts: nodes
  gather_facts: false
  tasks:
    - name: Create a file
      copy: {content: "{{ text }}", dest: "{{ folder }}/{{ inventory_hostname }}", mode: "0600"}
      when: inventory_hostname == "n1"
      notify: Tell
    - name: Who is it
      debug: {msg: "{{ inventory_hostname }} {{ text }}"}
    - name: Fails and may
      command: /bin/false
      ignore_errors: true
    - name: Is rescued
      block:
        - fail: {msg: not this way}
      rescue:
        - debug: {msg: another way}
  handlers:
    - name: Tell
      debug: {msg: told}
`)
	// These secrets equal counts of Ansible, which must not be masked.
	p.Secrets = []vnfm.Secret{"hunter22 \"quoted\"", "0", "1", "2", "3", "4", "5"}
	p.ExtraVars = map[string]any{"text": p.Secrets[0], "folder": p.Dir}
	result, err := ansible.Run(t.Context(), p)
	require.NoError(t, err)
	assert.Equal(t, ansible.Result{Changed: []string{"n1"}}, withoutIgnored(result))
	assert.Subset(t, *lines, []string{
		"PLAY [Say it]", "TASK [Create a file]", "changed: [n1]", "ok: [n2]",
		"failed: [n1] (ignored): non-zero return code", "failed: [n1]: not this way", "TASK [Tell]",
	})
	assert.NotContains(t, strings.Join(*lines, "\n"), "hunter22")
	content, err := os.ReadFile(filepath.Join(p.Dir, "n1"))
	require.NoError(t, err)
	assert.Equal(t, `hunter22 "quoted"`, string(content))

	p.Limit = []string{"n2"}
	*lines = nil
	result, err = ansible.Run(t.Context(), p)
	require.NoError(t, err)
	assert.Empty(t, withoutIgnored(result))
	assert.NotContains(t, strings.Join(*lines, "\n"), "[n1]")
}

// withoutIgnored leaves out the nodes that a failure changed that was ignored.
func withoutIgnored(r ansible.Result) ansible.Result {
	var changed []string
	for _, node := range r.Changed {
		if node != "n2" {
			changed = append(changed, node)
		}
	}
	r.Changed = changed
	return r
}

func TestFailures(t *testing.T) {
	t.Parallel()
	c, _ := host(t)
	for name, test := range map[string]struct {
		playbook string
		change   func(*ansible.Play)
		want     []string
		failures []ansible.Failure
	}{
		"command": {
			playbook: "- name: Install\n  hosts: nodes\n  gather_facts: false\n  tasks:\n    - name: Pull\n      shell: echo no route to registry >&2; exit 3\n      when: inventory_hostname == 'n2'\n",
			want:     []string{`node n2, play "Install": task "Pull" failed: non-zero return code` + "\nno route to registry"},
			failures: []ansible.Failure{{Node: "n2", Play: "Install", Task: "Pull", Message: "non-zero return code\nno route to registry"}},
		},
		"loop": {
			playbook: "- name: Install\n  hosts: n1\n  gather_facts: false\n  tasks:\n    - name: Many\n      shell: \"echo {{ item }} >&2; [ {{ item }} != b ]\"\n      loop: [a, b, c]\n",
			failures: []ansible.Failure{{Node: "n1", Play: "Install", Task: "Many", Message: "non-zero return code\nb"}},
		},
		"no_log": {
			playbook: "- name: Log in\n  hosts: n1\n  gather_facts: false\n  tasks:\n    - name: Password\n      shell: echo quiet-one >&2; exit 3\n      no_log: true\n",
			failures: []ansible.Failure{{Node: "n1", Play: "Log in", Task: "Password", Message: "the output has been hidden due to the fact that 'no_log: true' was specified for this result"}},
		},
		"no_log in a loop": {
			playbook: "- name: Log in\n  hosts: n1\n  gather_facts: false\n  tasks:\n    - name: Password\n      shell: echo {{ item }} >&2; exit 3\n      loop: [quiet-one]\n      no_log: true\n",
			failures: []ansible.Failure{{Node: "n1", Play: "Log in", Task: "Password", Message: "the output has been hidden due to the fact that 'no_log: true' was specified for this result"}},
		},
		"secret": {
			playbook: "- name: Log in\n  hosts: n1\n  gather_facts: false\n  tasks:\n    - name: Tell {{ password }}\n      shell: \"printf '%s' '{{ password }}'; exit 1\"\n",
			change: func(p *ansible.Play) {
				p.ExtraVars, p.Secrets = map[string]any{"password": vnfm.Secret("a\"b\\c-quiet-one")}, []vnfm.Secret{"a\"b\\c-quiet-one"}
			},
			failures: []ansible.Failure{{Node: "n1", Play: "Log in", Task: "Tell (sensitive)", Message: "non-zero return code\n(sensitive)"}},
		},
		"undefined": {
			playbook: "- name: Ask\n  hosts: n1\n  gather_facts: false\n  tasks:\n    - name: Say\n      debug: {msg: \"{{ nothing.there }}\"}\n",
			want:     []string{`task "Say" failed: The task includes an option with an undefined variable`},
		},
		"syntax":      {playbook: "- name: x\n  hosts: [", want: []string{"status 4 of ansible-playbook: ", "Syntax Error while loading YAML"}},
		"no playbook": {change: func(p *ansible.Play) { p.Playbook = "none.yml" }, want: []string{"status 1 of ansible-playbook: the playbook: none.yml could not be found"}},
		"no node":     {playbook: "- hosts: others\n", want: []string{"did nothing: none of its plays has a node in inventory inventory.ini"}},
		"limit":       {playbook: "- hosts: nodes\n", change: func(p *ansible.Play) { p.Limit = []string{"n3"} }, want: []string{"ansible-playbook: Specified "}},
		"bad limit":   {change: func(p *ansible.Play) { p.Limit = []string{"all:!n1"} }, want: []string{`"all:!n1" is not the name of a node`}},
		"option":      {change: func(p *ansible.Play) { p.Playbook = "--version" }, want: []string{"must not begin with a dash"}},
		"no folder":   {change: func(p *ansible.Play) { p.Dir = "/no/such" }, want: []string{"/no/such"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, p := play(t, c, test.playbook)
			if test.change != nil {
				test.change(&p)
			}
			result, err := ansible.Run(t.Context(), p)
			require.Error(t, err)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error()+strings.Join(*lines, "\n"), "quiet-one")
			if len(test.failures) > 0 {
				var failed *ansible.PlaybookError
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, test.failures, failed.Failures)
				assert.Equal(t, []string{test.failures[0].Node}, result.Failed)
				require.ErrorContains(t, err, "playbook site.yml on "+c.Name()+" failed\nnode ")
			}
		})
	}
}

// waiting is a playbook that tells of itself, and then waits.
const waiting = `
- name: Wait
  hosts: nodes
  gather_facts: false
  tasks:
    - name: Look
      shell: 'ls -lR $(dirname {{ here }}) | cat; ps -eo args | grep "[-]e @"; echo $PPID > {{ folder }}/{{ inventory_hostname }}; sleep 600'
      args: {executable: /bin/sh}
`

// begun waits until both nodes are at the task, and returns a process of each.
func begun(t *testing.T, dir string) []string {
	t.Helper()
	var pids []string
	require.Eventually(t, func() bool {
		pids = nil
		for _, node := range []string{"n1", "n2"} {
			if pid, err := os.ReadFile(filepath.Join(dir, node)); err == nil && len(pid) > 0 {
				pids = append(pids, strings.TrimSpace(string(pid)))
			}
		}
		return len(pids) == 2
	}, 30*time.Second, 50*time.Millisecond)
	return pids
}

// private are the folders of playbooks that run.
func private(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "vnf-ansible.*"))
	require.NoError(t, err)
	return found
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(cancel func(), server *sshtest.Server)
		want []string
	}{
		"cancelled": {
			end:  func(cancel func(), _ *sshtest.Server) { cancel() },
			want: []string{"playbook site.yml on", "was stopped: context canceled", `Ansible was at task "Look" of play "Wait"`},
		},
		"cut": {
			end:  func(_ func(), server *sshtest.Server) { server.Cut() },
			want: []string{"playbook site.yml on", "no connection: the host has closed it, or is unreachable", `Ansible was at task "Look" of play "Wait"`, "run the playbook again"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temporary := t.TempDir()
			server := sshtest.New(t, sshtest.Options{Env: []string{"TMPDIR=" + temporary}})
			host(t)
			c, err := remote.Dial(t.Context(), server.Host(), 0)
			require.NoError(t, err)
			defer c.Close()
			_, p := play(t, c, waiting)
			p.ExtraVars = map[string]any{"folder": p.Dir, "here": p.Dir, "password": vnfm.Secret("quiet-one")}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := ansible.Run(ctx, p)
				ended <- err
			}()
			pids := begun(t, p.Dir)
			folders := private(t, temporary)
			require.Len(t, folders, 1)
			requireClosed(t, folders[0])
			requireUnseen(t, "quiet-one")
			test.end(cancel, server)
			err = <-ended
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.Eventually(t, func() bool {
				for _, pid := range pids {
					if _, err := os.Stat("/proc/" + pid); err == nil {
						return false
					}
				}
				return len(private(t, temporary)) == 0
			}, 10*time.Second, 50*time.Millisecond, "Ansible lives on, or its private folder")
		})
	}
}

// requireClosed looks at the modes of a private folder.
func requireClosed(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	info, err = os.Stat(filepath.Join(folder, "vars.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// requireUnseen looks for a text on the command lines of the machine.
func requireUnseen(t *testing.T, text string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	found := false
	for _, file := range files {
		line, _ := os.ReadFile(file)
		assert.NotContains(t, string(line), text)
		found = found || strings.Contains(string(line), "ansible-playbook")
	}
	assert.True(t, found, "Ansible runs")
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	c, _ := host(t)
	_, p := play(t, c, waiting)
	p.ExtraVars, p.Timeout = map[string]any{"folder": p.Dir, "here": p.Dir}, 4*time.Second
	_, err := ansible.Run(t.Context(), p)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "it did not end within 4s")
}

// connectBare connects to a host that has the usual programs and no Ansible.
func connectBare(t *testing.T) *remote.Client {
	t.Helper()
	bin := t.TempDir()
	for _, program := range []string{"sh", "head", "timeout", "sed", "sleep"} {
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, program)))
	}
	server := sshtest.New(t, sshtest.Options{Env: []string{"PATH=" + bin}})
	c, err := remote.Dial(t.Context(), server.Host(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
