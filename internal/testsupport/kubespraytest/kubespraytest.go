// Package kubespraytest puts a stand-in of kubespray onto a host with Ansible. It has the
// playbooks, groups and variables of kubespray v2.23, and refuses what that does not know;
// what it installs is a small Kubernetes without containers: etcd, the API server with its
// controllers and KWOK, which plays nodes and pods, all from the program of the lab, which
// servers of a lab with labtest.OpenStackDocker have. Nodes of the real kubeadm would take more processor
// time, see CONTRIBUTING.md, "Loops".
package kubespraytest

import (
	"archive/tar"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// Root is the folder of the tree on the host.
const Root = "/home/ubuntu/kubespray"

// record is the file on the host that has a line for each call of a playbook.
const record = "/var/log/kubespray-calls.jsonl"

// tree is the stand-in. It lists what it installs, so that a removal leaves nothing.
//
//go:embed all:tree
var tree embed.FS

// Host is a host with Ansible.
type Host struct{ shell *labtest.Shell }

// Call is how a playbook was called.
type Call struct {
	// Playbook is its name, such as "cluster.yml".
	Playbook string `json:"playbook"`
	// Limit is that of --limit, empty for none.
	Limit string `json:"limit"`
	// Extra are the variables of -e.
	Extra map[string]any `json:"extra"`
	// Groups are the hosts of the groups of the inventory.
	Groups map[string][]string `json:"groups"`
	// Problems are what kubespray would not take; the playbook has failed when there are any.
	Problems []string `json:"problems"`
}

// Install writes the tree to a host.
func Install(t testing.TB, shell *labtest.Shell) Host {
	t.Helper()
	archive, err := pack()
	require.NoError(t, err)
	h := Host{shell: shell}
	h.run(t, fmt.Sprintf("rm -rf %[1]s && mkdir %[1]s && tar -xC %[1]s && sudo install -m 666 /dev/null %[2]s", Root, record), archive)
	return h
}

// Calls are those since the tree was installed, in their order.
func (h Host) Calls(t testing.TB) []Call {
	t.Helper()
	var calls []Call
	for line := range strings.Lines(h.run(t, "cat "+record, nil)) {
		var call Call
		require.NoError(t, json.Unmarshal([]byte(line), &call), "reading the call %q", line)
		calls = append(calls, call)
	}
	return calls
}

// Stages is the configuration of KWOK, by which nodes and pods are played.
func Stages(t testing.TB) string {
	t.Helper()
	data, err := tree.ReadFile("tree/roles/control-plane/files/kwok.yaml")
	require.NoError(t, err)
	return strings.TrimSpace(string(data))
}

// run runs a script as the user of the host.
func (h Host) run(t testing.TB, script string, stdin []byte) string {
	t.Helper()
	result, err := h.shell.Run(t.Context(), remote.Command{What: "a command of the test", Script: script, Stdin: bytes.NewReader(stdin)})
	require.NoError(t, err)
	return result.Stdout
}

// pack makes an archive of the tree.
func pack() ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := fs.WalkDir(tree, "tree", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: path.Clean(strings.TrimPrefix(name, "tree/")), Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
