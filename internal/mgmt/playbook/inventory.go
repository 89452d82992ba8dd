package playbook

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// inventory are the servers that a playbook runs for.
type inventory struct {
	call    *vnfm.HookCall
	vdus    []string
	access  map[string]hosts.Access
	servers []hosts.Server
}

// group is a group of Ansible's inventory in YAML.
type group struct {
	Hosts    map[string]map[string]any `yaml:"hosts,omitempty"`
	Children map[string]*group         `yaml:"children,omitempty"`
}

// encode writes the inventory, with keys in a folder: a group for each VDU, and in it a host
// for each VNFC.
func (i *inventory) encode(keys string) ([]byte, error) {
	root := &group{Children: map[string]*group{}}
	groups, names := namer{"all": true, "ungrouped": true}, namer{}
	for _, vdu := range i.vdus {
		g := &group{Hosts: map[string]map[string]any{}}
		root.Children[groups.name(notGroup.ReplaceAllString(vdu, "_"), "vdu_")] = g
		for n := range i.servers {
			if s := &i.servers[n]; s.VDUID == vdu {
				g.Hosts[names.name(notHost.ReplaceAllString(s.ID, "_"), "vnfc_")] = i.host(s, keys)
			}
		}
	}
	return yaml.Marshal(map[string]*group{"all": root})
}

// host are the variables of a server.
func (i *inventory) host(s *hosts.Server, keys string) map[string]any {
	login := i.access[s.VDUID].Login
	out := map[string]any{
		"ansible_host": s.Address, "ansible_user": ansible.Literal(login.User),
		"vnfc_id": ansible.Literal(s.ID), "vnfc_name": ansible.Literal(s.Resource), "vdu_id": ansible.Literal(s.VDUID), "connection_points": s.ConnectionPoints,
		"leaving": slices.Contains(i.call.Leaving, s.ID),
	}
	if login.Port != 0 {
		out["ansible_port"] = login.Port
	}
	if login.Password != "" {
		out["ansible_password"] = ansible.Literal(login.Password.Reveal())
	}
	if become := cmp.Or(login.SudoPassword, login.Password); become != "" {
		out["ansible_become_password"] = ansible.Literal(become.Reveal())
	}
	if login.PrivateKey != "" {
		out["ansible_ssh_private_key_file"] = path.Join(keys, i.keyFile(s.VDUID))
	}
	return out
}

// keyFile is the name of the file of the key for a VDU.
func (i *inventory) keyFile(vdu string) string {
	return fmt.Sprintf("%d.key", slices.Index(i.vdus, vdu))
}

// passwords reports whether Ansible logs in by password somewhere.
func (i *inventory) passwords() bool {
	return slices.ContainsFunc(i.servers, func(s hosts.Server) bool { return i.access[s.VDUID].Login.Password != "" })
}

// knownHosts are the keys of the servers, which were read during the wait for each.
func (i *inventory) knownHosts() string {
	var out strings.Builder
	for n := range i.servers {
		s := &i.servers[n]
		out.WriteString(hosts.KnownHosts(i.call, i.access[s.VDUID].Login, s.ID, s.Address))
	}
	return out.String()
}

var (
	notGroup = lazyregexp.New(`[^A-Za-z0-9_]`)
	notHost  = lazyregexp.New(`[^A-Za-z0-9_.-]`)
	// begun are names that Ansible takes: no option, and no number.
	begun = lazyregexp.New(`^[A-Za-z_]`)
)

// namer gives each name once.
type namer map[string]bool

// name is a text, with a prefix when it does not begin like a name or is taken.
func (n namer) name(text, prefix string) string {
	if !begun.MatchString(text) {
		text = prefix + text
	}
	for n[text] {
		text = prefix + text
	}
	n[text] = true
	return text
}
