package playbook

import (
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

// encode returns the inventory: a group for each VDU with a host for each VNFC. The key files are in the folder keys.
func (i *inventory) encode(keys string) ([]byte, error) {
	root := &ansible.Group{Children: map[string]*ansible.Group{}}
	groups, names := namer{"all": true, "ungrouped": true}, namer{}
	for _, vdu := range i.vdus {
		g := &ansible.Group{Hosts: map[string]map[string]any{}}
		root.Children[groups.name(notGroup.ReplaceAllString(vdu, "_"), "vdu_")] = g
		for n := range i.servers {
			if s := &i.servers[n]; s.VDUID == vdu {
				g.Hosts[names.name(notHost.ReplaceAllString(s.ID, "_"), "vnfc_")] = i.host(s, keys)
			}
		}
	}
	return yaml.Marshal(map[string]*ansible.Group{"all": root})
}

// host returns the variables of a server.
func (i *inventory) host(s *hosts.Server, keys string) map[string]any {
	out := ansible.ConnectionVariables(s.Address, i.access[s.VDUID].Login, path.Join(keys, i.keyFile(s.VDUID)))
	out["vnfc_id"], out["vnfc_name"], out["vdu_id"] = ansible.Literal(s.ID), ansible.Literal(s.Resource), ansible.Literal(s.VDUID)
	out["connection_points"], out["leaving"] = s.ConnectionPoints, slices.Contains(i.call.Leaving, s.ID)
	return out
}

// keyFile is the name of the file of the key for a VDU.
func (i *inventory) keyFile(vdu string) string {
	return fmt.Sprintf("%d.key", slices.Index(i.vdus, vdu))
}

// passwords reports whether Ansible logs in to any server by password.
func (i *inventory) passwords() bool {
	return slices.ContainsFunc(i.servers, func(s hosts.Server) bool { return i.access[s.VDUID].Login.Password != "" })
}

// knownHosts returns the host keys of the servers, recorded when find connected to each.
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
	// begun matches a valid first character: Ansible must not read a name as an option or a number.
	begun = lazyregexp.New(`^[A-Za-z_]`)
)

// namer records the names in use.
type namer map[string]bool

// name returns a unique name: the text, with a prefix if its first character is invalid or the name is in use.
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
