package kubespray

import (
	"context"
	_ "embed"
	"net/netip"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// memberScript reports whether etcd has a member.
//
//go:embed member.sh
var memberScript string

// memberGone reports whether an interrupted removal has already removed a master from etcd. Releases from 2.27 to 2.30 always fail
// for such a master, unless the inventory leaves it out of the etcd group.
func (i *installer) memberGone(ctx context.Context, c *cluster.Cluster, n *cluster.Node) (bool, error) {
	if !i.release.needsMember {
		return false, nil
	}
	_, client, err := c.Living(ctx, n)
	if err != nil {
		return false, err
	}
	answer, err := client.Answer(ctx, remote.Command{What: "finding the member of etcd of " + n.Name, Script: memberScript, Args: []string{wrapped(n.IP)}, Sudo: true})
	return answer == "none", err
}

// anchor makes releases up to 2.25 match the whole address of the leaving etcd member: they match it anywhere in a line, and 10.0.0.1
// is in 10.0.0.11. Extra variables override facts such as the node_ip that these releases set.
func (i *installer) anchor(n *cluster.Node, extra map[string]any) {
	if address, err := netip.ParseAddr(n.IP); i.release.looseMember && err == nil && address.Is4() {
		extra["node_ip"] = "//" + n.IP + ":"
	}
}

// wrapped is an address in the form of a URL.
func wrapped(address string) string {
	if parsed, err := netip.ParseAddr(address); err == nil && parsed.Is6() {
		return "[" + address + "]"
	}
	return address
}
