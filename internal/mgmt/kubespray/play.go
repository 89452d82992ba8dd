package kubespray

import (
	"context"
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
)

// run is one run of a playbook of kubespray, with its inventory.
type run struct {
	playbook string
	limit    []string
	extra    map[string]any
	// facts is the fact cache; the zero value is a private one.
	facts ansible.Facts
	// nodes are the nodes of the inventory; nil means all.
	nodes []*cluster.Node
	// noMember is a master that has left etcd.
	noMember *cluster.Node
	// version is the kube_version of the run; empty means the version of the cluster.
	version string
}

// all returns the nodes of the inventory.
func (r run) all(c *cluster.Cluster) []*cluster.Node {
	if r.nodes != nil {
		return r.nodes
	}
	return c.All()
}

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

// knownHosts returns the host keys of the nodes, recorded when the operation connected to each.
func knownHosts(c *cluster.Cluster) string {
	var out strings.Builder
	for _, n := range c.All() {
		out.WriteString(hosts.KnownHosts(c.Call, c.Group(n).Access.Login, n.VNFC, n.Address))
	}
	return out.String()
}
