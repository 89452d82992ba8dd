package kubespray

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/kubespraytest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
)

// ansibleHost is a host whose Ansible is a program that says its version, if there is one.
func ansibleHost(t *testing.T, root, version string) *remote.Client {
	t.Helper()
	server := sshtest.New(t, sshtest.Options{Env: []string{"HOME=" + t.TempDir()}})
	client, err := remote.Dial(t.Context(), server.Host(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	if version != "" {
		bin := filepath.Join(root, "venv", "bin")
		require.NoError(t, os.MkdirAll(bin, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(bin, "ansible-playbook"), []byte("#!/bin/sh\necho 'ansible-playbook [core "+version+"]'\n"), 0o700)) //nolint:gosec // It is run.
	}
	return client
}

// Each release accepts a window of ansible-core, which its own check names. Errors contain the command that installs what is
// missing.
func TestVersionsOfAnsible(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ release, has, want string }{
		{"2.22", "2.12.10", ""}, {"2.22", "2.13.0", "a version before 2.13.0 is needed"},
		{"2.23", "2.14.18", ""}, {"2.23", "2.12.10", "at least 2.14.0 is needed"}, {"2.23", "2.15.0", "a version before 2.15.0 is needed"},
		{"2.24", "2.15.5", ""}, {"2.24", "2.15.4", "at least 2.15.5 is needed"}, {"2.24", "2.16.9", ""},
		{"2.25", "2.16.3", "at least 2.16.4 is needed"}, {"2.26", "2.16.4", ""}, {"2.27", "2.17.0", "a version before 2.17.0 is needed"},
		{"2.28", "2.14.18", "at least 2.16.4 is needed"}, {"2.29", "2.17.3", ""}, {"2.29", "2.16.14", "at least 2.17.3 is needed"},
		{"2.30", "2.18.0rc1", "a version before 2.18.0 is needed"}, {"2.31", "2.18.6", ""}, {"2.31", "2.19.0b2", "a version before 2.19.0 is needed"},
	} {
		t.Run(c.release+" "+c.has, func(t *testing.T) {
			t.Parallel()
			root := kubespraytest.Shape(t, c.release)
			client := ansibleHost(t, root, c.has)
			r, err := readRelease(t.Context(), client, root)
			require.NoError(t, err)
			err = r.check(t.Context(), client, &cluster.Settings{Ansible: &cluster.Ansible{Root: root}})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "has ansible-core "+c.has)
			require.ErrorContains(t, err, c.want+": run there: python3 -m venv "+root+"/venv && "+root+"/venv/bin/pip install -r "+root+"/requirements.txt")
		})
	}
}

// Filters and modules of collections, and the modules of Python that they need, are looked for where Ansible is.
func TestWhatPlaybooksUse(t *testing.T) {
	t.Parallel()
	for _, release := range kubespraytest.Releases() {
		root := kubespraytest.Shape(t, release)
		r, err := readRelease(t.Context(), ansibleHost(t, root, ""), root)
		require.NoError(t, err)
		assert.Equal(t, []string{"ansible.utils", "community.general"}, r.collections, release)
		assert.Equal(t, []string{"netaddr"}, r.modules, release)
		assert.Equal(t, today, r.groups, release)
		assert.Equal(t, "playbooks/facts.yml", r.facts, release)
	}
}

// A tree that is not there is said to be missing, and no more.
func TestNoTree(t *testing.T) {
	t.Parallel()
	client := ansibleHost(t, "", "")
	r, err := readRelease(t.Context(), client, "/no/kubespray")
	require.NoError(t, err)
	err = r.check(t.Context(), client, &cluster.Settings{
		Ansible: &cluster.Ansible{Root: "/no/kubespray"}, Master: cluster.Group{Access: hosts.Access{}},
	})
	require.EqualError(t, err, "preparing the Ansible server: host "+client.Name()+" has no folder /no/kubespray, or its user may not enter it: put the playbooks there")
}

// Nodes of some network plugins are clients of etcd; the parameters count more than the inventory.
func TestClientsOfEtcd(t *testing.T) {
	t.Parallel()
	client := ansibleHost(t, "", "")
	for _, c := range []struct {
		inventory string
		variables map[string]any
		want      bool
	}{
		{inventory: "kube_network_plugin: calico\n"},
		{inventory: "kube_network_plugin: \"flannel\"  # of the sample\n", want: true},
		{inventory: "kube_network_plugin: flannel\n", variables: map[string]any{"kube_network_plugin": "calico"}},
		{variables: map[string]any{"kube_network_plugin": "cilium"}, want: true},
		{variables: map[string]any{"calico_datastore": "etcd"}, want: true},
		{variables: map[string]any{"cilium_deploy_additionally": true}, want: true},
		{inventory: "# kube_network_plugin: cilium\n"},
	} {
		folder := t.TempDir()
		at := filepath.Join(folder, "group_vars", "k8s_cluster")
		require.NoError(t, os.MkdirAll(at, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(at, "k8s-cluster.yml"), []byte(c.inventory), 0o600))
		i := &installer{client: client}
		got, err := i.needsEtcd(t.Context(), &cluster.Cluster{Settings: &cluster.Settings{Ansible: &cluster.Ansible{Inventory: folder, Variables: c.variables}}})
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%s%v", c.inventory, c.variables)
	}
}
