package ansible

import (
	"cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// Group is a group of an inventory in YAML.
type Group struct {
	Hosts    map[string]map[string]any `yaml:"hosts,omitempty"`
	Children map[string]*Group         `yaml:"children,omitempty"`
}

// ConnectionVariables returns the variables with which Ansible logs in to a node. keyFile is the path of the private key on the host
// of Ansible, used if the login has a private key.
func ConnectionVariables(address string, login remote.Host, keyFile string) map[string]any {
	out := map[string]any{"ansible_host": address, "ansible_user": Literal(login.User)}
	if login.Port != 0 {
		out["ansible_port"] = login.Port
	}
	if login.Password != "" {
		out["ansible_password"] = Literal(login.Password.Reveal())
	}
	if become := cmp.Or(login.SudoPassword, login.Password); become != "" {
		out["ansible_become_password"] = Literal(become.Reveal())
	}
	if login.PrivateKey != "" {
		out["ansible_ssh_private_key_file"] = keyFile
	}
	return out
}
