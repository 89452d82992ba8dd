package connect

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files again")

// both are a registry over HTTP, and one over HTTPS with an authority, a user and a name.
func both(t *testing.T) []Connection {
	t.Helper()
	return []Connection{
		{Type: HTTP, Server: "192.168.0.10:5000"},
		{
			Type: HTTPS, Server: "registry.example.com", Username: "user01", Password: "password of user01",
			Certificate: authority(t), HostsString: "192.168.0.20 registry.example.com",
		},
	}
}

func text(t *testing.T, name string) file {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return file{content: content, mode: 0o644, owner: "root:root"}
}

// nodesOfGolden are nodes as they are found.
func nodesOfGolden(t *testing.T) map[string]*node {
	t.Helper()
	hosts := file{content: []byte("127.0.0.1 localhost\n10.0.0.5 worker1\n"), mode: 0o644, owner: "root:root"}
	return map[string]*node{
		// Debian 12 as its package comes.
		"containerd-1.6": {containerd: true, kubelet: true, files: map[string]file{hostsFile: hosts, containerdConfig: text(t, "containerd-1.6.toml")}},
		// The output of `containerd config default` of version 2, as installers write it.
		"containerd-2": {containerd: true, kubelet: true, files: map[string]file{hostsFile: hosts, containerdConfig: text(t, "containerd-2.toml")}},
		// As kubespray leaves it: there is nothing to set in the configuration.
		"containerd-kubespray": {
			containerd: true, kubelet: true, files: map[string]file{hostsFile: hosts, containerdConfig: text(t, "containerd-2.toml")},
			effective: "version = 3\n[plugins.\"io.containerd.cri.v1.images\".registry]\nconfig_path = \"/etc/containerd/certs.d:/etc/docker/certs.d\"\n",
		},
		// Up to v2.26 without containerd_use_config_path, which is not set where no registries were connected at first.
		"kubespray-2.23": {
			containerd: true, kubelet: true, effective: string(text(t, "kubespray-2.23.toml").content),
			files: map[string]file{hostsFile: hosts, containerdConfig: text(t, "kubespray-2.23.toml"), hostsTOMLOf("docker.io"): {content: []byte("server = \"https://docker.io\"\n")}},
		},
		// From v2.27 on, and before with containerd_use_config_path.
		"kubespray-2.27": {
			containerd: true, kubelet: true, effective: string(text(t, "kubespray-2.27.toml").content),
			files: map[string]file{hostsFile: hosts, containerdConfig: text(t, "kubespray-2.27.toml")},
		},
		"docker": {docker: true, kubelet: true, files: map[string]file{
			hostsFile:    hosts,
			daemonConfig: {content: []byte(`{"exec-opts": ["native.cgroupdriver=systemd"], "insecure-registries": ["old:5000"], "max-concurrent-downloads": 12345678901234567890}`), mode: 0o640, owner: "root:docker"},
			dockerAuth:   {content: []byte(`{"auths": {"ghcr.io": {"auth": "c29tZWJvZHk6ZWxzZQ=="}}, "credHelpers": {"gcr.io": "gcloud"}}`), mode: 0o666, owner: "root:root"},
		}},
		"crio": {crio: true, kubelet: true, files: map[string]file{hostsFile: hosts}},
		"crio-with-logins": {
			crio: true, kubelet: true, globalAuth: "/etc/crio/auth.json",
			files: map[string]file{hostsFile: hosts, "/etc/crio/auth.json": {content: []byte(`{"auths":{"quay.io":{"auth":"cXVheTpxdWF5"}}}`), mode: 0o600, owner: "root:root"}},
		},
		"all": {
			containerd: true, docker: true, crio: true, kubelet: true,
			files: map[string]file{hostsFile: hosts, hostsTemplate: {content: []byte("## template:jinja\n127.0.1.1 {{fqdn}}\n"), mode: 0o644, owner: "root:root"}},
		},
	}
}

func TestPlanGolden(t *testing.T) {
	for name, n := range nodesOfGolden(t) {
		t.Run(name, func(t *testing.T) {
			p, err := planFor(n, both(t))
			require.NoError(t, err)
			golden(t, name, p)
		})
	}
}

// golden compares all that a plan says.
func golden(t *testing.T, name string, p *plan) {
	t.Helper()
	var b strings.Builder
	for _, f := range p.files {
		fmt.Fprintf(&b, "-- %s %o %s %s--\n%s", f.path, f.mode, f.owner, f.after, f.content)
	}
	for _, path := range p.gone {
		fmt.Fprintf(&b, "-- %s goes --\n", path)
	}
	fmt.Fprintf(&b, "-- record --\n%s", p.record.text())
	at := filepath.Join("testdata", name+".golden")
	got := strings.ReplaceAll(b.String(), authority(t), "(authority)\n")
	if *update {
		require.NoError(t, os.WriteFile(at, []byte(got), 0o600))
	}
	want, err := os.ReadFile(at)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// after is the node once a plan was carried out.
func after(n *node, p *plan) *node {
	out := *n
	out.files = map[string]file{}
	for name, f := range n.files {
		out.files[name] = f
	}
	for _, f := range p.files {
		if f.content == nil {
			delete(out.files, f.path)
			continue
		}
		out.files[f.path] = file{content: f.content, mode: f.mode, owner: f.owner}
		if f.path == containerdConfig {
			out.effective = string(f.content)
		}
	}
	for _, name := range p.gone {
		delete(out.files, name)
	}
	out.record = p.record
	return &out
}

func TestPlanIsDoneOnce(t *testing.T) {
	for name, n := range nodesOfGolden(t) {
		t.Run(name, func(t *testing.T) {
			first, err := planFor(n, both(t))
			require.NoError(t, err)
			second, err := planFor(after(n, first), both(t))
			require.NoError(t, err)
			for _, f := range second.files {
				assert.True(t, f.ours, "%s is written again", f.path)
			}
			assert.Empty(t, second.gone)
			assert.Equal(t, first.record, second.record)
		})
	}
}

// Settings of others are still there after the connections came and went.
func TestPlanTakesBackItsOwn(t *testing.T) {
	for name, n := range nodesOfGolden(t) {
		t.Run(name, func(t *testing.T) {
			first, err := planFor(n, both(t))
			require.NoError(t, err)
			connected := after(n, first)
			second, err := planFor(connected, nil)
			require.NoError(t, err)
			assert.True(t, second.record.empty(), "%+v", second.record)
			bare := after(connected, second)
			for path, f := range n.files {
				switch path {
				case containerdConfig:
					// That registries are described in a folder stays.
				case daemonConfig, dockerAuth, "/etc/crio/auth.json":
					assert.JSONEq(t, string(f.content), string(bare.files[path].content), path)
				default:
					assert.Equal(t, string(f.content), string(bare.files[path].content), path)
				}
			}
			for path := range bare.files {
				if _, was := n.files[path]; !was {
					assert.Equal(t, containerdConfig, path, "it was not there before")
				}
			}
		})
	}
}

func TestPlanRefusals(t *testing.T) {
	one := both(t)[:1]
	tests := map[string]struct {
		node *node
		text string
	}{
		"nothing runs": {&node{}, "no container runtime is running there"},
		"former mirrors": {
			&node{containerd: true, effective: "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"docker.io\"]\nendpoint = [\"http://m\"]\n"},
			`registry.mirrors."docker.io", which containerd refuses beside config_path`,
		},
		"former TLS": {
			&node{containerd: true, effective: "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.\"r:5000\".tls]\ninsecure_skip_verify = true\n"},
			`registry.configs."r:5000".tls`,
		},
		"daemon.json is none": {&node{docker: true, files: map[string]file{daemonConfig: {content: []byte("{,}")}}}, daemonConfig + " cannot be read"},
		"dotted keys": {
			&node{containerd: true, files: map[string]file{containerdConfig: {content: []byte("version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nregistry.config_path = \"\"\n")}}},
			"set it there to \"/etc/containerd/certs.d\"",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := planFor(test.node, one)
			require.ErrorContains(t, err, test.text)
		})
	}
	_, err := withConfigPath("version = 2\n[debug]\naddress = '''\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\n'''\n", "/x")
	require.ErrorContains(t, err, "a form that cannot be edited")
	_, err = planFor(&node{files: map[string]file{hostsFile: {content: []byte("a\n" + hostsBegin + "\nb\n")}}}, nil)
	require.ErrorContains(t, err, "somebody changed our block")
}

// Kubernetes does not use a containerd whose CRI plugin is disabled.
func TestPlanLeavesContainerdOfDockerAlone(t *testing.T) {
	p, err := planFor(&node{containerd: true, docker: true, effective: "disabled_plugins = [\"cri\"]\n"}, both(t)[:1])
	require.NoError(t, err)
	for _, f := range p.files {
		assert.Equal(t, daemonConfig, f.path)
	}
}

func TestPlanTakesRegistriesAway(t *testing.T) {
	n := nodesOfGolden(t)["all"]
	first, err := planFor(n, both(t))
	require.NoError(t, err)
	connected := after(n, first)
	second, err := planFor(connected, both(t)[:1])
	require.NoError(t, err)
	golden(t, "all-without-second", second)
	assert.Contains(t, second.pending(connected), restartCRIO)
}

func TestWithConfigPathKeepsText(t *testing.T) {
	before := "# mine\nversion = 3\n\n[plugins]\n  [plugins.'io.containerd.cri.v1.images']\n    snapshotter = 'overlayfs' # as it is\n\n" +
		"    [plugins.'io.containerd.cri.v1.images'.registry]\n      config_path = '' # off\n\n[grpc]\n  gid = 0\n"
	after, err := withConfigPath(before, "/etc/containerd/certs.d")
	require.NoError(t, err)
	assert.Equal(t, strings.Replace(before, `config_path = '' # off`, `config_path = "/etc/containerd/certs.d"`, 1), after)
}

// kubespray rewrites its configuration with each run: containerd_use_config_path keeps the connections. Mirrors without a file are not
// lost.
func TestKubesprayConfigurations(t *testing.T) {
	n := nodesOfGolden(t)["kubespray-2.23"]
	p, err := planFor(n, both(t))
	require.NoError(t, err)
	connected := after(n, p)
	settings, err := readContainerd(connected.effective)
	require.NoError(t, err)
	assert.Equal(t, containerdCerts, settings.configPath)
	assert.Empty(t, settings.former)
	assert.Contains(t, connected.effective, `registry.configs."quay.example.com".auth`)

	again := *connected
	again.files[containerdConfig] = text(t, "kubespray-2.27.toml")
	again.effective = string(again.files[containerdConfig].content)
	p, err = planFor(&again, both(t))
	require.NoError(t, err)
	for _, f := range p.files {
		assert.True(t, f.ours, "%s is written again", f.path)
	}

	delete(n.files, hostsTOMLOf("docker.io"))
	_, err = planFor(n, both(t))
	require.ErrorContains(t, err, `has registry.mirrors."docker.io", which containerd refuses beside config_path`)
}
