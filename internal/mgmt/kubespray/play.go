package kubespray

import (
	"context"
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
)

// run is one playbook of kubespray with the inventory that it is run on.
type run struct {
	playbook string
	limit    []string
	extra    map[string]any
	// facts are those that it gathers itself, unless they are named.
	facts ansible.Facts
	// nodes are those of the inventory; nil are all.
	nodes []*cluster.Node
	// noMember is a master that is no member of etcd any more.
	noMember *cluster.Node
	// version is the kube_version of the run; an empty one is that which the cluster has.
	version string
}

// all are the nodes of the inventory.
func (r run) all(c *cluster.Cluster) []*cluster.Node {
	if r.nodes != nil {
		return r.nodes
	}
	return c.All()
}

// play writes the inventory and runs a playbook on it.
func (i *installer) play(ctx context.Context, c *cluster.Cluster, r run) error {
	if err := i.write(ctx, c, r); err != nil {
		return err
	}
	c.Progress(ctx, "kubespray: %s", strings.Join(append([]string{r.playbook}, r.limit...), " "))
	_, err := ansible.Run(ctx, ansible.Play{
		Host: i.client, Dir: c.Ansible.Root, Inventory: path.Join(c.Ansible.Inventory, hostsFile), Playbook: r.playbook, Limit: r.limit, ExtraVars: r.extra,
		Facts: r.facts, Become: true, Timeout: c.Ansible.Timeout, KnownHosts: knownHosts(c), Secrets: c.Secrets(),
		Output: func(line string) { c.Progress(ctx, "kubespray: %s", line) },
	})
	return err
}

// knownHosts are the keys of the nodes, which were read during the wait for each.
func knownHosts(c *cluster.Cluster) string {
	var out strings.Builder
	for _, n := range c.All() {
		out.WriteString(hosts.KnownHosts(c.Call, c.Group(n).Access.Login, n.VNFC, n.Address))
	}
	return out.String()
}
