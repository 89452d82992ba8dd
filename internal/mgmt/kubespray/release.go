package kubespray

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// release describes the kubespray tree on the Ansible server.
type release struct {
	// groups are the names of its inventory groups, confirmation is the variable that answers the prompt before a removal of nodes.
	groups       names
	confirmation string
	// facts is the playbook that gathers facts; empty if the release has none.
	facts string
	// atLeast and before bound the version of ansible-core. collections and modules (Python) are dependencies of its playbooks.
	atLeast, before      string
	collections, modules []string
	// bareVersion says that kube_version has no leading v.
	bareVersion bool
	// looseMember says that a removal finds the etcd member by its address anywhere in a line, needsMember that it fails if there is
	// no such member.
	looseMember, needsMember bool
	// localBecome says that a play on the Ansible server itself becomes root.
	localBecome bool
}

// detectRelease prints the properties of the kubespray tree.
//
//go:embed detect_release.sh
var detectRelease string

// readRelease detects the release of a kubespray tree. A missing folder gives the defaults; check reports it.
func readRelease(ctx context.Context, client *remote.Client, root string) (*release, error) {
	answer, err := client.Answer(ctx, remote.Command{What: "checking kubespray in " + root, Script: detectRelease, Args: []string{root}})
	if err != nil {
		return nil, err
	}
	r := &release{groups: today, confirmation: "skip_confirmation", facts: "facts.yml"}
	for line := range strings.Lines(answer) {
		switch word, value, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case "former-groups":
			r.groups = former
		case "asks-by-prompt":
			r.confirmation = "delete_nodes_confirmation"
		case "facts-below":
			r.facts = "playbooks/facts.yml"
		case "no-facts":
			r.facts = ""
		case "bare-version":
			r.bareVersion = true
		case "loose-member":
			r.looseMember = true
		case "needs-member":
			r.needsMember = true
		case "local-become":
			r.localBecome = true
		case "at-least":
			r.atLeast = value
		case "before":
			r.before = value
		case "collection":
			r.collections = append(r.collections, value)
		case "module":
			r.modules = append(r.modules, value)
		}
	}
	slices.Sort(r.collections)
	r.collections = slices.Compact(r.collections)
	return r, nil
}

// checkHost reports missing dependencies of kubespray on the Ansible server.
func checkHost(ctx context.Context, s *cluster.Settings, keys vnfm.HostKeys) (vnfm.Problems, error) {
	client, err := dial(ctx, s, keys)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	r, err := readRelease(ctx, client, s.Ansible.Root)
	if err != nil {
		return nil, err
	}
	if err := r.check(ctx, client, s); err != nil {
		if _, broken := errors.AsType[*remote.ConnectionError](err); broken || ctx.Err() != nil {
			return nil, err
		}
		return vnfm.Problems{cluster.Problem(vnfm.SeverityError, "ansible", err.Error(), "names a server that cannot run this kubespray")}, nil
	}
	return nil, nil
}

// check checks that the Ansible server has all dependencies of the playbooks.
func (r *release) check(ctx context.Context, client *remote.Client, s *cluster.Settings) error {
	root := s.Ansible.Root
	_, err := ansible.Preflight(ctx, client, ansible.Needs{
		Dir: root, Playbooks: []string{"cluster.yml", "scale.yml", "remove-node.yml"},
		Passwords: s.Master.Access.Login.Password != "" || s.Worker.Access.Login.Password != "",
		AtLeast:   r.atLeast, Before: r.before, Collections: r.collections, Modules: r.modules,
		Install: fmt.Sprintf("python3 -m venv %[1]s && %[1]s/bin/pip install -r %s", path.Join(root, "venv"), path.Join(root, "requirements.txt")),
	})
	if err != nil {
		return fmt.Errorf("preparing the Ansible server: %w", err)
	}
	return nil
}
