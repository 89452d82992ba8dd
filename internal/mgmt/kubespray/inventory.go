package kubespray

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// The files of an inventory. The marker names the instance that owns it.
const (
	hostsFile  = "hosts.yaml"
	markerFile = ".vnf-instance"
	// factsFolder has the facts of all nodes while scale.yml runs on a part.
	factsFolder = "facts"
)

// inventory lists the nodes. The first master comes first: kubespray has the other nodes join that one.
func (i *installer) inventory(c *cluster.Cluster, r run) ([]byte, error) {
	g, all := i.release.groups, r.all(c)
	members := func(nodes []*cluster.Node) *ansible.Group {
		out := &ansible.Group{Hosts: map[string]map[string]any{}}
		for _, n := range nodes {
			out.Hosts[n.Name] = map[string]any{}
		}
		return out
	}
	masters, workers := byRole(all, cluster.Master), byRole(all, cluster.Worker)
	etcd := slices.DeleteFunc(slices.Clone(masters), func(n *cluster.Node) bool { return n == r.noMember })
	root := &ansible.Group{Hosts: map[string]map[string]any{}, Children: map[string]*ansible.Group{
		g.masters: members(masters), g.etcd: members(etcd), g.workers: members(workers), g.reflectors: {Hosts: map[string]map[string]any{}},
		g.all: {Children: map[string]*ansible.Group{g.masters: {}, g.workers: {}}},
	}}
	for _, n := range masters {
		root.Hosts[n.Name] = i.host(c, n)
		root.Hosts[n.Name]["etcd_member_name"] = "etcd" + strings.TrimPrefix(n.Name, string(cluster.Master))
	}
	for _, n := range workers {
		root.Hosts[n.Name] = i.host(c, n)
	}
	return encode(map[string]*ansible.Group{"all": root}, all)
}

// host returns the variables of one node.
func (i *installer) host(c *cluster.Cluster, n *cluster.Node) map[string]any {
	out := ansible.ConnectionVariables(n.Address, c.Group(n).Access.Login, path.Join(c.Ansible.Inventory, keyFile(n.Role)))
	out["ip"], out["access_ip"] = n.IP, n.IP
	// Releases from 2.28 on find the etcd member of a node by these facts. They compute them on the node, which is impossible if its
	// server does not answer.
	out["main_ip"], out["main_access_ip"] = n.IP, n.IP
	out["main_ips"], out["main_access_ips"] = []string{n.IP}, []string{n.IP}
	return out
}

func keyFile(role cluster.Role) string { return string(role) + ".key" }

// variables returns the variables of the cluster, overridden by the variables of the user.
func variables(c *cluster.Cluster) map[string]any {
	out := map[string]any{
		"kube_pods_subnet": c.PodCIDR.String(), "kube_service_addresses": c.ServiceCIDR.String(),
	}
	computed := len(out)
	set := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	set("http_proxy", c.Proxy.HTTP.Reveal())
	set("https_proxy", c.Proxy.HTTPS.Reveal())
	if len(out) > computed {
		set("additional_no_proxy", c.Proxy.NoProxy())
	}
	if len(c.Registries) > 0 {
		// Otherwise releases up to v2.26 write mirrors into the configuration of containerd, which excludes a folder of registries.
		// Later releases always use the folder.
		out["containerd_use_config_path"] = true
	}
	maps.Copy(out, c.Ansible.Variables)
	return out
}

// write copies the inventory to the Ansible server. The certificate of the API server also covers the addresses that clients outside
// the cluster use.
func (i *installer) write(ctx context.Context, c *cluster.Cluster, r run) error {
	folder, all := c.Ansible.Inventory, r.all(c)
	vars, err := i.variablesOf(ctx, c, r)
	if err != nil {
		return err
	}
	endpoint, err := c.Endpoint(ctx)
	if err != nil {
		return err
	}
	address, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return err
	}
	names := []string{address}
	for _, n := range byRole(all, cluster.Master) {
		names = append(names, n.Cluster, n.Address)
	}
	if _, given := vars["supplementary_addresses_in_ssl_keys"]; !given {
		vars["supplementary_addresses_in_ssl_keys"] = unique(names)
	}
	varsText, err := yaml.Marshal(vars)
	if err != nil {
		return fmt.Errorf("writing the variables of the cluster: %w", err)
	}
	hostsText, err := i.inventory(c, r)
	if err != nil {
		return err
	}
	files := []remote.File{{Path: path.Join(folder, hostsFile), Content: hostsText}}
	// Ansible prefers the last file of a group, and the smaller group: the sample inventory of kubespray sets the networks in the
	// smaller one.
	for _, group := range []string{"all", i.release.groups.all} {
		files = append(files, remote.File{Path: path.Join(folder, "group_vars", group, "zz-vnf.yml"), Content: varsText})
	}
	if i.release.localBecome {
		files = append(files, remote.File{Path: path.Join(folder, "host_vars", "localhost.yml"), Content: []byte(localVariables)})
	}
	for role, g := range map[cluster.Role]cluster.Group{cluster.Master: c.Master, cluster.Worker: c.Worker} {
		if key := g.Access.Login.PrivateKey; key != "" {
			files = append(files, remote.File{Path: path.Join(folder, keyFile(role)), Content: []byte(strings.TrimRight(key.Reveal(), "\n") + "\n")})
		}
	}
	for _, f := range files {
		f.Mode, f.MkdirAll = fs.FileMode(0o600), true
		if _, err := i.client.WriteFile(ctx, f); err != nil {
			return fmt.Errorf("writing the inventory of the cluster: %w", err)
		}
	}
	return nil
}

// localVariables are the variables of the Ansible server itself. A play of release 2.28 there inherits --become without needing root.
const localVariables = "ansible_become: false\n"

// variablesOf returns the variables of the cluster for one run, with the version of Kubernetes in the format of the release.
func (i *installer) variablesOf(ctx context.Context, c *cluster.Cluster, r run) (map[string]any, error) {
	out := variables(c)
	version := r.version
	if version == "" {
		running, err := i.runningVersion(ctx, c)
		if err != nil {
			return nil, err
		}
		version = cmp.Or(running, wantedVersion(c.Settings))
	}
	if version != "" {
		out[versionVariable] = i.release.version(version)
	}
	return out, nil
}

func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range list {
		if item != "" && !seen[item] {
			seen[item] = true
			out = append(out, item)
		}
	}
	return out
}

// encode writes an inventory with its nodes in the given order. Ansible keeps the order of hosts in a file, which Go maps lose.
func encode(doc map[string]*ansible.Group, order []*cluster.Node) ([]byte, error) {
	var node yaml.Node
	if err := node.Encode(doc); err != nil {
		return nil, fmt.Errorf("writing the inventory: %w", err)
	}
	rank := map[string]int{}
	for n, item := range order {
		rank[item.Name] = n
	}
	sortHosts(&node, rank)
	return yaml.Marshal(&node)
}

// sortHosts sorts the names of nodes in every mapping by rank.
func sortHosts(node *yaml.Node, rank map[string]int) {
	for _, below := range node.Content {
		sortHosts(below, rank)
	}
	if node.Kind != yaml.MappingNode {
		return
	}
	// A pair of YAML nodes is one entry. Insertion sort suffices for so few.
	for i := 2; i < len(node.Content); i += 2 {
		for j := i; j > 0; j -= 2 {
			this, known := rank[node.Content[j].Value]
			before, knownBefore := rank[node.Content[j-2].Value]
			if !known || !knownBefore || before <= this {
				break
			}
			node.Content[j], node.Content[j-2] = node.Content[j-2], node.Content[j]
			node.Content[j+1], node.Content[j-1] = node.Content[j-1], node.Content[j+1]
		}
	}
}
