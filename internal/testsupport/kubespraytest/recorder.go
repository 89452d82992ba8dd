package kubespraytest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// recorder stands for Ansible in a virtual environment of a tree: it keeps each call with a copy of its inventory, and does what
// the script "effects" of the tree does for the playbook. sshpass is there too.
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
	esac
	playbook=$each
done
cp -R "$inventory" "$call/inventory"
printf %s "$ANSIBLE_CACHE_PLUGIN_CONNECTION" >"$call/cache"
[ -z "$(ls -A "$ANSIBLE_CACHE_PLUGIN_CONNECTION")" ] || echo used >"$call/facts"
echo facts >"$ANSIBLE_CACHE_PLUGIN_CONNECTION/node"
if [ -e TREE/effects ]; then sh TREE/effects "$playbook" "$inventory" || exit; fi
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

// Record has the tree of a shape keep the calls of its playbooks. Effects is a script for sh with the playbook and the folder of the
// inventory as arguments; a status other than 0 is that of Ansible.
func Record(t testing.TB, tree, version, effects string) {
	t.Helper()
	bin := filepath.Join(tree, "venv", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("TREE", tree, "VERSION", version).Replace(recorder)
	for _, file := range [][2]string{{"venv/bin/ansible-playbook", text}, {"venv/bin/sshpass", "#!/bin/sh\n"}, {"effects", effects}} {
		if err := os.WriteFile(filepath.Join(tree, file[0]), []byte(file[1]), 0o700); err != nil { //nolint:gosec // They are run.
			t.Fatal(err)
		}
	}
}

// Take returns the calls that were kept, and forgets them.
func Take(t testing.TB, tree string) []Recorded {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "calls")
	if err := os.Rename(filepath.Join(tree, "calls"), kept); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil {
		t.Fatal(err)
	}
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
		if err := yaml.Unmarshal(read(name), into); err != nil {
			t.Fatal(fmt.Errorf("reading %s: %w", name, err))
		}
	}
	if err := json.Unmarshal(read("vars.json"), &call.Extra); err != nil {
		t.Fatal(err)
	}
	call.Hosts, call.Groups = inventory.All.Hosts, map[string][]string{}
	for name, group := range inventory.All.Children {
		for n := 0; n+1 < len(group.Hosts.Content); n += 2 {
			call.Groups[name] = append(call.Groups[name], group.Hosts.Content[n].Value)
		}
	}
	return call
}
