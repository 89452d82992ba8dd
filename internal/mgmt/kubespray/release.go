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

// release is what a tree of kubespray says of itself.
type release struct {
	// groups are the names that it has, confirmation the variable by which its removal of nodes does not ask.
	groups       names
	confirmation string
	// facts is the playbook that gathers facts.
	facts string
	// atLeast and before bound the version of ansible-core, collections and modules of Python are those that it uses.
	atLeast, before      string
	collections, modules []string
	// bareVersion says that kube_version has no v before its numbers.
	bareVersion bool
	// looseMember says that a removal finds the member of etcd by its address anywhere in a line, and needsMember that it
	// fails when there is none.
	looseMember, needsMember bool
	// localBecome says that a play on the host of Ansible itself becomes root.
	localBecome bool
}

// detectRelease prints what release of kubespray is there.
//
//go:embed detect_release.sh
var detectRelease string

// readRelease reads what a tree of kubespray says of itself. Of a folder that is not there nothing is said.
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

// checkHost finds what the Ansible server lacks for the kubespray that is there.
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

// check checks that the host of Ansible has all that playbooks of the release need.
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
