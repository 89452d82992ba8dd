// Package ansible runs playbooks over SSH on a host that has Ansible. Its callback plugin reports progress and results as events, so
// that errors name playbook, play, task and node. Callers provide host keys, inventory and playbooks.
package ansible

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Play is a playbook to run.
type Play struct {
	// Host is the host of Ansible.
	Host *remote.Client
	// Dir is the working folder on Host, such as the folder of kubespray. Its ansible.cfg applies.
	Dir string
	// Inventory and Playbook are paths, relative to Dir or absolute. The caller restricts an inventory with passwords to mode 0600.
	Inventory string
	Playbook  string
	// Limit are the nodes to run on; empty means all.
	Limit []string
	// ExtraVars override all other variables. They are never on a command line.
	ExtraVars map[string]any
	// Become runs tasks as root on the nodes.
	Become bool
	// Facts is the fact cache.
	Facts Facts
	// KnownHosts are the host keys of the nodes in the format of known_hosts. Ansible accepts no others, whatever the user of the host
	// or its ansible.cfg configures.
	KnownHosts string
	// Timeout bounds the run; 0 means that only the context does.
	Timeout time.Duration
	// Output gets readable lines: plays, tasks, results on each node.
	Output func(line string)
	// Secrets are masked in Output and errors.
	Secrets []vnfm.Secret
}

// Facts is the folder of the fact cache of a playbook. Ansible finds the facts of a node by its name alone: inventories that shared a
// folder would mix the facts of nodes of the same name. The folder overrides ansible.cfg. If it is empty, the cache is in the private
// folder of the run.
type Facts struct {
	Folder string
	// Keep has the playbook start with an empty cache and leave it to the next run with the same folder, which removes it.
	Keep bool
}

// args are the arguments of run.sh for the folder: its path, and whether to keep it.
func (f Facts) args() []string {
	switch {
	case f.Folder == "":
		return []string{"", ""}
	case f.Keep:
		return []string{f.Folder, "keep"}
	default:
		return []string{f.Folder, "last"}
	}
}

// Result lists nodes by outcome, sorted by name.
type Result struct {
	// Changed are the changed nodes, Failed the nodes on which the playbook failed, Unreachable the failed nodes that Ansible did not
	// reach.
	Changed, Failed, Unreachable []string
}

//go:embed run.sh
var runScript string

//go:embed vnf_events.py
var plugin string

// Run runs a playbook and waits for it. A playbook that fails is a *PlaybookError. When ctx ends or the connection breaks,
// ansible-playbook is killed with its child processes on the host; a module that is running on a node completes there.
func Run(ctx context.Context, p Play) (Result, error) {
	if err := p.check(); err != nil {
		return Result{}, err
	}
	files, err := p.files()
	if err != nil {
		return Result{}, err
	}
	log := &journal{play: p, stats: map[string]stats{}, last: map[string]Failure{}}
	ran, err := p.Host.Run(ctx, remote.Command{
		What: "playbook " + p.Playbook, Script: files + pathScript + runScript, Args: slices.Concat([]string{p.Dir}, p.Facts.args(), p.args()),
		Timeout: p.Timeout, Decode: log.event, Output: log.other, Secrets: p.Secrets,
	})
	result := log.result()
	var ended *remote.StatusError
	var broken *remote.ConnectionError
	switch {
	case errors.As(err, &ended):
		return result, &PlaybookError{Host: p.Host.Name(), Playbook: p.Playbook, Status: ended.Status, Failures: log.failures(), output: log.ownOutput(ran)}
	case errors.As(err, &broken):
		return result, fmt.Errorf("%w; Ansible was %s and is killed with the connection: run the playbook again", err, log.where())
	case err != nil:
		return result, fmt.Errorf("%w; Ansible was %s", err, log.where())
	case len(log.stats) == 0:
		return result, fmt.Errorf("playbook %s on %s did nothing: none of its plays has a node in inventory %s", p.Playbook, p.Host.Name(), p.Inventory)
	}
	return result, nil
}

// check rejects values that ansible-playbook would read as an option, or as a list or pattern of nodes.
func (p Play) check() error {
	switch {
	case p.Dir == "" || p.Inventory == "" || p.Playbook == "":
		return fmt.Errorf("playbook %q in folder %q with inventory %q: none of them may be empty", p.Playbook, p.Dir, p.Inventory)
	case strings.HasPrefix(p.Playbook, "-"), strings.HasPrefix(p.Dir, "-"):
		return fmt.Errorf("playbook %q in folder %q: a path must not begin with a dash", p.Playbook, p.Dir)
	case strings.HasSuffix(p.Inventory, ","):
		return fmt.Errorf("inventory %q is not a path", p.Inventory)
	}
	for _, node := range p.Limit {
		if node == "" || strings.ContainsAny(node, ",:!&@*?[]~ \t\n") {
			return fmt.Errorf("playbook %s: %q is not the name of a node", p.Playbook, node)
		}
	}
	return nil
}

// args are the arguments of ansible-playbook, without secrets: other users of the host can read them.
func (p Play) args() []string {
	args := []string{"--inventory=" + p.Inventory}
	if len(p.Limit) > 0 {
		args = append(args, "--limit="+strings.Join(p.Limit, ","))
	}
	if p.Become {
		args = append(args, "--become")
	}
	return append(args, p.Playbook)
}

// files returns the shell function that writes the private files.
func (p Play) files() (string, error) {
	vars := p.ExtraVars
	if vars == nil {
		vars = map[string]any{}
	}
	encoded, err := json.Marshal(reveal(vars))
	if err != nil {
		return "", fmt.Errorf("playbook %s: encoding the extra variables: %w", p.Playbook, err)
	}
	end := "end-" + rand.Text()
	var b strings.Builder
	b.WriteString("write_files() {\n")
	for _, file := range [][2]string{{"vars.json", string(encoded)}, {"known_hosts", p.KnownHosts}, {"vnf_events.py", plugin}} {
		fmt.Fprintf(&b, "cat >\"$private/%s\" <<'%s' || return\n%s\n%s\n", file[0], end, strings.TrimSuffix(file[1], "\n"), end)
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// reveal replaces secrets by their texts: the type vnfm.Secret encodes as a mask.
func reveal(value any) any {
	return document.Map(value, func(value any) any {
		switch value := value.(type) {
		case vnfm.Secret:
			return value.Reveal()
		case map[string]vnfm.Secret:
			out := make(map[string]any, len(value))
			for k, v := range value {
				out[k] = v.Reveal()
			}
			return out
		case []vnfm.Secret:
			out := make([]any, len(value))
			for i, v := range value {
				out[i] = v.Reveal()
			}
			return out
		default:
			return value
		}
	})
}
