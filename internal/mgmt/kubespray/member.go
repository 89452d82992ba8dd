package kubespray

import (
	"context"
	_ "embed"
	"net/netip"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// memberScript prints whether etcd has a member.
//
//go:embed member.sh
var memberScript string

// memberGone reports whether a removal that was interrupted has taken a master out of etcd already. Releases from 2.27 to 2.30 fail
// at such a master for ever, unless it is in no group of etcd.
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

// anchor has releases up to 2.25 find the member of etcd that leaves by its whole address: they take the lines that have it anywhere,
// and 10.0.0.1 is in 10.0.0.11. Extra variables go before facts, such as the node_ip that they set.
func (i *installer) anchor(n *cluster.Node, extra map[string]any) {
	if address, err := netip.ParseAddr(n.IP); i.release.looseMember && err == nil && address.Is4() {
		extra["node_ip"] = "//" + n.IP + ":"
	}
}

// wrapped is an address as it is in a URL.
func wrapped(address string) string {
	if parsed, err := netip.ParseAddr(address); err == nil && parsed.Is6() {
		return "[" + address + "]"
	}
	return address
}
