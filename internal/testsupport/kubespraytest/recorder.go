package kubespraytest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hosttest"
)

// recorder stands for Ansible in a virtual environment of a tree: it keeps each call with a copy of its inventory, and does what
// the script "effects" of the tree does for the playbook. Without a folder of its own a call has the facts of all, as ansible.cfg of
// kubespray has it. sshpass is there too.
const recorder = `#!/bin/sh
if [ "$1" = --version ]; then echo 'ansible-playbook [core VERSION]'; exit; fi
here=TREE/calls
mkdir -p "$here"
call=$here/$(printf %03d "$(ls "$here" | wc -l)")
mkdir "$call"
printf '%s\n' "$@" >"$call/args"
for each; do
	case $each in
	@*) cp "${each#@}" "$call/vars.json" ;;
	--inventory=*) inventory=$(dirname "${each#--inventory=}") ;;
	--limit=*) limit=${each#--limit=} ;;
	esac
	playbook=$each
done
cp -R "$inventory" "$call/inventory"
printf %s "${ANSIBLE_CACHE_PLUGIN_CONNECTION-}" >"$call/cache"
cache=${ANSIBLE_CACHE_PLUGIN_CONNECTION:-LAB/facts}
mkdir -p "$cache"
[ -z "$(ls -A "$cache")" ] || echo used >"$call/facts"
echo facts >"$cache/node"
sh TREE/effects "$playbook" "$inventory" "${limit-}" "$call/vars.json" || exit
echo 'vnf-event {"event": "stats", "hosts": {"any": {}}}'
`

// Recorded is a call of a playbook that was kept.
type Recorded struct {
	Playbook string
	// Args are the arguments of ansible-playbook, with the copies of the files that they name.
	Args []string
	// Limit are the hosts of --limit, Extra the variables of -e.
	Limit []string
	Extra map[string]any
	// Groups are the hosts of groups in their order, Hosts the variables of hosts, Variables those of the cluster.
	Groups    map[string][]string
	Hosts     map[string]map[string]any
	Variables map[string]any
	// Folder is a copy of the folder of the inventory, Cache the folder of the fact cache; Used says that there were facts.
	Folder, Cache string
	Used          bool
}

// Effects is what playbooks do to the hosts of AddHost, which have a cluster in files: /run/nodes has names and addresses of its nodes,
// /run/members the members of etcd. A host with /run/dead is not reached.
//
//go:embed effects.sh
var Effects string

// lab is the folder beside a tree with what is known of hosts and clusters. It outlives the tree.
func lab(tree string) string { return tree + ".lab" }

// Record has the tree of a shape keep the calls of its playbooks, for an Ansible of a version. Effects is a script for sh with the
// playbook, the folder of the inventory, the limit and the file of extra variables as arguments; a status other than 0 is that of Ansible.
func Record(t testing.TB, tree, version, effects string) {
	t.Helper()
	bin := filepath.Join(tree, "venv", "bin")
	for _, folder := range []string{bin, lab(tree)} {
		require.NoError(t, os.MkdirAll(folder, 0o700))
	}
	place := strings.NewReplacer("TREE", tree, "LAB", lab(tree), "VERSION", version)
	for _, file := range [][2]string{{"venv/bin/ansible-playbook", place.Replace(recorder)}, {"venv/bin/sshpass", "#!/bin/sh\n"}, {"effects", place.Replace(effects)}} {
		if err := os.WriteFile(filepath.Join(tree, file[0]), []byte(file[1]), 0o700); err != nil { //nolint:gosec // They are run.
			t.Fatal(err)
		}
	}
}

// AddHost makes a host known to the playbooks of a tree that are recorded.
func AddHost(t testing.TB, tree string, host *hosttest.Host) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(lab(tree), "hosts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // The folder is the test's.
	if err == nil {
		_, err = fmt.Fprintln(f, host.Host().Address, host.Root)
		err = errors.Join(err, f.Close())
	}
	require.NoError(t, err)
}

// Replace replaces a tree that is recorded by that of another release. Hosts and clusters stay.
func Replace(t testing.TB, tree, release string) {
	t.Helper()
	other := Shape(t, release)
	err := os.RemoveAll(tree)
	if err == nil {
		err = os.Rename(other, tree)
	}
	require.NoError(t, err)
	Record(t, tree, AtLeast(t, tree), Effects)
}

// Take returns the calls that were kept, and forgets them.
func Take(t testing.TB, tree string) []Recorded {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "calls")
	if err := os.Rename(filepath.Join(tree, "calls"), kept); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(kept, "*"))
	require.NoError(t, err)
	slices.Sort(folders)
	var out []Recorded
	for _, folder := range folders {
		out = append(out, readCall(t, folder))
	}
	return out
}

func readCall(t testing.TB, folder string) Recorded {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return data
	}
	args := strings.Fields(string(read("args")))
	call := Recorded{Playbook: args[len(args)-1], Folder: filepath.Join(folder, "inventory"), Cache: string(read("cache")), Used: len(read("facts")) > 0}
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "@"):
			call.Args = append(call.Args, "@"+filepath.Join(folder, "vars.json"))
		case strings.HasPrefix(arg, "--inventory="):
			call.Args = append(call.Args, "--inventory="+filepath.Join(call.Folder, filepath.Base(arg)))
		default:
			call.Args = append(call.Args, arg)
		}
		if list, ok := strings.CutPrefix(arg, "--limit="); ok {
			call.Limit = strings.Split(list, ",")
		}
	}
	var inventory struct {
		All struct {
			Hosts    map[string]map[string]any `yaml:"hosts"`
			Children map[string]struct {
				Hosts yaml.Node `yaml:"hosts"`
			} `yaml:"children"`
		} `yaml:"all"`
	}
	for name, into := range map[string]any{"inventory/hosts.yaml": &inventory, "inventory/group_vars/k8s_cluster/zz-vnf.yml": &call.Variables} {
		require.NoError(t, yaml.Unmarshal(read(name), into), "reading %s", name)
	}
	require.NoError(t, json.Unmarshal(read("vars.json"), &call.Extra))
	call.Hosts, call.Groups = inventory.All.Hosts, map[string][]string{}
	for name, group := range inventory.All.Children {
		for n := 0; n+1 < len(group.Hosts.Content); n += 2 {
			call.Groups[name] = append(call.Groups[name], group.Hosts.Content[n].Value)
		}
	}
	return call
}
