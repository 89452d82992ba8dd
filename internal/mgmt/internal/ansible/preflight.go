package ansible

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

var (
	//go:embed path.sh
	pathScript string
	//go:embed check.sh
	checkScript string
)

// oldest is the first supported version of ansible-core.
const oldest = "2.11"

// preflightTimeout bounds the check of the host. Python starts slowly on small hosts.
const preflightTimeout = 2 * time.Minute

// Needs are the dependencies of playbooks on the host of Ansible.
type Needs struct {
	// Dir is the working folder. Playbooks are paths, absolute or relative to Dir.
	Dir       string
	Playbooks []string
	// Passwords says that the inventory has passwords for SSH.
	Passwords bool
	// AtLeast and Before bound the version of ansible-core; an empty AtLeast means the first supported version.
	AtLeast, Before string
	// Collections are Ansible collections, Modules are Python modules.
	Collections, Modules []string
	// Install is the command that installs missing dependencies, in versions within the bounds.
	Install string
}

// remedy ends an error about a missing dependency.
func (n Needs) remedy(otherwise string) string {
	if n.Install == "" {
		return otherwise
	}
	return "run there: " + n.Install
}

// Preflight checks that a host can run playbooks, and returns the version of its ansible-core. The error lists each missing dependency
// with its remedy.
func Preflight(ctx context.Context, host *remote.Client, needs Needs) (version string, err error) {
	passwords := ""
	if needs.Passwords {
		passwords = "passwords"
	}
	result, err := host.Run(ctx, remote.Command{
		What: "looking for Ansible", Script: pathScript + checkScript, Timeout: preflightTimeout,
		Args: append([]string{needs.Dir, passwords, strings.Join(needs.Collections, " "), strings.Join(needs.Modules, " ")}, needs.Playbooks...),
	})
	if err != nil {
		return "", err
	}
	version, missing, _ := strings.Cut(result.Stdout, "\n")
	var errs []error
	for line := range strings.Lines(missing) {
		errs = append(errs, needs.missing(host.Name(), strings.TrimSpace(line)))
	}
	switch {
	case version == "":
	case older(version, cmp.Or(needs.AtLeast, oldest)):
		errs = append(errs, fmt.Errorf("host %s has ansible-core %s, but at least %s is needed: %s", host.Name(), version, cmp.Or(needs.AtLeast, oldest), needs.remedy("install a newer one")))
	case needs.Before != "" && !older(version, needs.Before):
		errs = append(errs, fmt.Errorf("host %s has ansible-core %s, but a version before %s is needed: %s", host.Name(), version, needs.Before, needs.remedy("install an older one")))
	}
	return version, errors.Join(errs...)
}

// missing is the error for a line of the check.
func (n Needs) missing(host, line string) error {
	kind, name, _ := strings.Cut(line, " ")
	switch {
	case kind == "folder":
		return fmt.Errorf("host %s has no folder %s, or its user may not enter it: put the playbooks there", host, name)
	case kind == "file":
		if !path.IsAbs(name) {
			name = path.Join(n.Dir, name)
		}
		return fmt.Errorf("host %s has no playbook %s, or its user may not read it", host, name)
	case name == "ansible-playbook":
		return fmt.Errorf("host %s has no ansible-playbook: %s", host, n.remedy(fmt.Sprintf("install ansible-core %s or later (the package ansible-core, or pip install into %s)", oldest, path.Join(n.Dir, "venv"))))
	case kind == "collection":
		return fmt.Errorf("host %s has no Ansible collection %s, which the playbooks use: %s", host, name, n.remedy("install it with ansible-galaxy"))
	case kind == "module":
		return fmt.Errorf("host %s has no Python module %s for its Ansible: %s", host, name, n.remedy("install it with pip"))
	case name == "sshpass":
		return fmt.Errorf("host %s has no sshpass, which Ansible needs for nodes with passwords: install the package sshpass, or use a key", host)
	case name == "ssh":
		return fmt.Errorf("host %s has no ssh, by which Ansible reaches the nodes: install the package openssh-client", host)
	default:
		return fmt.Errorf("host %s answered %q to the search for Ansible", host, line)
	}
}

// older compares versions by their first three numbers.
func older(version, than string) bool { return slices.Compare(numbers(version), numbers(than)) < 0 }

// numbers are the first three numbers of a version. A suffix of a number, as in "0rc1", is ignored.
func numbers(version string) []int {
	out := make([]int, 3)
	for n, part := range strings.SplitN(version, ".", len(out)+1)[:min(strings.Count(version, ".")+1, len(out))] {
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 0 {
			digits = len(part)
		}
		out[n], _ = strconv.Atoi(part[:digits])
	}
	return out
}
