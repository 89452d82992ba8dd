package kubespray

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// installer runs kubespray on the Ansible server.
type installer struct {
	client *remote.Client
	// release is set by Prepare.
	release *release
	// running is the version of the cluster; empty until it is read.
	running string
}

var _ cluster.Installer = (*installer)(nil)

// Close ends the connection to the Ansible server.
func (i *installer) Close() error {
	if i.client == nil {
		return nil
	}
	return i.client.Close()
}

func (i *installer) connect(ctx context.Context, c *cluster.Cluster) (err error) {
	if i.client == nil {
		c.Progress(ctx, "connecting to the Ansible server %s", c.Ansible.Host.Address)
		i.client, err = dial(ctx, c.Settings, c.Call.HostKeys)
	}
	return err
}

func dial(ctx context.Context, s *cluster.Settings, keys vnfm.HostKeys) (*remote.Client, error) {
	h := s.Ansible.Host
	h.Pins, h.PinName = keys, "ansible/"+h.Address
	client, err := remote.Dial(ctx, h, 0)
	if err != nil {
		return nil, fmt.Errorf("reaching the Ansible server: %w", err)
	}
	return client, nil
}

// claim creates the folder of the inventory. A folder of another cluster is an error.
//
//go:embed claim.sh
var claim string

// Prepare implements cluster.Installer.
func (i *installer) Prepare(ctx context.Context, c *cluster.Cluster) error {
	if err := i.connect(ctx, c); err != nil {
		return err
	}
	found, err := readRelease(ctx, i.client, c.Ansible.Root)
	if err != nil {
		return err
	}
	if err := found.check(ctx, i.client, c.Settings); err != nil {
		return err
	}
	i.release = found
	if _, err := i.client.Run(ctx, remote.Command{
		What: "making the folder of the inventory " + c.Ansible.Inventory, Script: claim, Args: []string{c.Ansible.Inventory, markerFile, c.Call.Instance.ID, c.Ansible.Root},
	}); err != nil {
		return fmt.Errorf("preparing the Ansible server: %w", err)
	}
	return nil
}

// Install implements cluster.Installer.
func (i *installer) Install(ctx context.Context, c *cluster.Cluster) error {
	return i.play(ctx, c, run{playbook: "cluster.yml"})
}

// Add implements cluster.Installer, following kubespray's docs/operations/nodes.md: workers by scale.yml, with the facts of all nodes;
// masters by cluster.yml, during which their number may be even. A change of masters runs cluster.yml on all nodes, because the proxy
// on each worker lists the API servers.
func (i *installer) Add(ctx context.Context, c *cluster.Cluster, added []*cluster.Node, mastersLeft bool) error {
	if mastersLeft || len(byRole(added, cluster.Master)) > 0 {
		return i.play(ctx, c, run{playbook: "cluster.yml", extra: map[string]any{"ignore_assert_errors": true, "etcd_retries": 10}})
	}
	facts := ansible.Facts{}
	if i.release.facts != "" {
		facts.Folder = path.Join(c.Ansible.Inventory, factsFolder)
		if err := i.play(ctx, c, run{playbook: i.release.facts, facts: ansible.Facts{Folder: facts.Folder, Keep: true}}); err != nil {
			return err
		}
	}
	limit := namesOf(added)
	clients, err := i.needsEtcd(ctx, c)
	if err != nil {
		return err
	}
	if clients {
		limit = append(limit, namesOf(c.Nodes(cluster.Master))...)
	}
	// Releases from 2.26 on need the Ansible server itself in the limit.
	return i.play(ctx, c, run{playbook: "scale.yml", limit: append(limit, "localhost"), facts: facts})
}

// repoint changes the ConfigMap cluster-info to a master that stays.
//
//go:embed repoint.sh
var repoint string

// Remove implements cluster.Installer. It does nothing on a server that is missing or does not answer.
func (i *installer) Remove(ctx context.Context, c *cluster.Cluster, n *cluster.Node) error {
	r := run{playbook: "remove-node.yml", extra: map[string]any{"node": n.Name, i.release.confirmation: "yes"}}
	extra := i.even(c, r.extra)
	if n.Role == cluster.Master {
		if err := i.demote(ctx, c, n); err != nil {
			return err
		}
		i.anchor(n, extra)
		gone, err := i.memberGone(ctx, c, n)
		if err != nil {
			return err
		}
		if gone {
			r.noMember, extra["ignore_assert_errors"] = n, true
		}
	}
	if n.Gone {
		extra["reset_nodes"], extra["allow_ungraceful_removal"] = false, true
	}
	if err := i.play(ctx, c, r); err != nil {
		return err
	}
	if n.Role == cluster.Master {
		stays, client, err := c.Living(ctx, n)
		if err != nil {
			return err
		}
		_, err = client.Run(ctx, remote.Command{
			What: "pointing cluster-info at " + stays.Name, Script: repoint, Args: []string{cluster.AdminConfig, net.JoinHostPort(n.IP, ""), net.JoinHostPort(stays.IP, "")}, Sudo: true,
		})
		if err != nil {
			return fmt.Errorf("node %s: %w", stays.Name, err)
		}
	}
	return i.write(ctx, c, run{nodes: slices.DeleteFunc(c.All(), func(other *cluster.Node) bool { return other == n })})
}

// demote moves a leaving master to the end of the inventory and applies that order to the cluster, because kubespray cannot remove the
// first master (docs/operations/nodes.md, "Removal of first kube_control_plane"). If the server does not answer, or the node to
// replace is broken, no playbook can run on all nodes: then only the order changes.
func (i *installer) demote(ctx context.Context, c *cluster.Cluster, n *cluster.Node) error {
	if c.Nodes(cluster.Master)[0] != n {
		return nil
	}
	c.Last(n)
	if n.Gone {
		return nil
	}
	if err := i.play(ctx, c, run{playbook: "cluster.yml", extra: i.even(c, map[string]any{})}); err != nil {
		if !c.Call.Replaces() || ctx.Err() != nil {
			return err
		}
		c.Progress(ctx, "the other masters were not prepared for the removal of %s, which is replaced: %s", n.Name, err)
	}
	// Without this record a resumed removal would first add the node to the cluster again.
	return c.Save(ctx)
}

// even permits an even number of masters in the variables of a playbook. Masters leave and join one at a time, and kubespray otherwise
// rejects an even number of etcd members.
func (i *installer) even(c *cluster.Cluster, extra map[string]any) map[string]any {
	if len(c.Nodes(cluster.Master))%2 == 0 {
		extra["ignore_assert_errors"] = true
	}
	return extra
}

// Discard implements cluster.Installer.
func (i *installer) Discard(ctx context.Context, c *cluster.Cluster) error {
	if err := i.connect(ctx, c); err != nil {
		return err
	}
	folder := c.Ansible.Inventory
	owner, err := i.client.ReadFile(ctx, path.Join(folder, markerFile), false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reaching the Ansible server: %w", err)
	case strings.TrimSpace(string(owner)) != c.Call.Instance.ID:
		return nil
	}
	_, err = i.client.Run(ctx, remote.Command{What: "removing the inventory " + folder, Script: `rm -rf -- "$1"`, Args: []string{folder}})
	return err
}
