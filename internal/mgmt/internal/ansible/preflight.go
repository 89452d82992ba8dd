package ansible

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path"
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

// oldest is the first version of ansible-core that is known to do.
const oldest = "2.11"

// preflightTimeout bounds a look at the host; Python starts slowly on a small one.
const preflightTimeout = 2 * time.Minute

// Needs are what playbooks need on the host of Ansible.
type Needs struct {
	// Dir is the working folder, Playbooks are paths, relative to it or absolute.
	Dir       string
	Playbooks []string
	// Passwords says that the inventory has passwords for SSH.
	Passwords bool
}

// Preflight checks that a host can run playbooks, and returns the version of its
// ansible-core. The error tells each thing that is missing, and what to install.
func Preflight(ctx context.Context, host *remote.Client, needs Needs) (version string, err error) {
	passwords := ""
	if needs.Passwords {
		passwords = "passwords"
	}
	result, err := host.Run(ctx, remote.Command{
		What: "looking for Ansible", Script: pathScript + checkScript, Timeout: preflightTimeout,
		Args: append([]string{needs.Dir, passwords}, needs.Playbooks...),
	})
	if err != nil {
		return "", err
	}
	version, missing, _ := strings.Cut(result.Stdout, "\n")
	var errs []error
	for line := range strings.Lines(missing) {
		errs = append(errs, needs.missing(host.Name(), strings.TrimSpace(line)))
	}
	if version != "" && older(version, oldest) {
		errs = append(errs, fmt.Errorf("host %s has ansible-core %s, but at least %s is needed: install a newer one", host.Name(), version, oldest))
	}
	return version, errors.Join(errs...)
}

// missing tells a person what is not there.
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
		return fmt.Errorf("host %s has no ansible-playbook: install ansible-core %s or later (the package ansible-core, or pip install into %s)", host, oldest, path.Join(n.Dir, "venv"))
	case name == "sshpass":
		return fmt.Errorf("host %s has no sshpass, which Ansible needs for nodes with passwords: install the package sshpass, or use a key", host)
	case name == "ssh":
		return fmt.Errorf("host %s has no ssh, by which Ansible reaches the nodes: install the package openssh-client", host)
	default:
		return fmt.Errorf("host %s answered %q to the search for Ansible", host, line)
	}
}

// older compares versions by their first two numbers.
func older(version, than string) bool {
	number := func(version string) int {
		major, rest, _ := strings.Cut(version, ".")
		minor, _, _ := strings.Cut(rest, ".")
		a, _ := strconv.Atoi(major)
		b, _ := strconv.Atoi(minor)
		return a*1000 + b
	}
	return number(version) < number(than)
}
