package kubespray

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// networkScript prints the network settings of an inventory.
//
//go:embed network.sh
var networkScript string

// certified are the network plugins whose nodes get etcd certificates from the first member.
var certified = []string{"cilium", "flannel", "canal"}

// needsEtcd reports whether nodes of the cluster are clients of etcd. If so, a limit of scale.yml must include the masters: a play on
// them prepares the certificates of the clients.
func (i *installer) needsEtcd(ctx context.Context, c *cluster.Cluster) (bool, error) {
	answer, err := i.client.Answer(ctx, remote.Command{What: "reading the inventory " + c.Ansible.Inventory, Script: networkScript, Args: []string{c.Ansible.Inventory}})
	if err != nil {
		return false, err
	}
	settings := map[string]string{}
	for line := range strings.Lines(answer) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value, _, _ = strings.Cut(value, " #")
		settings[name] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	for name, value := range c.Ansible.Variables {
		settings[name] = fmt.Sprint(value)
	}
	return slices.Contains(certified, settings["kube_network_plugin"]) || settings["calico_datastore"] == "etcd" || settings["cilium_deploy_additionally"] == "true", nil
}
