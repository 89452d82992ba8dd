// Package kubespray is the management driver that makes a Kubernetes cluster of the servers of a VNF instance. It runs kubespray on an
// Ansible server of the user.
package kubespray

import (
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// New returns the driver.
func New() cluster.Driver {
	return cluster.Driver{
		Name: vnfm.Kubespray, Own: cluster.Kubespray, CheckSettings: checkSettings, CheckHost: checkHost,
		NewInstaller: func() cluster.Installer { return &installer{} },
	}
}

func checkSettings(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	checkMasters(c, s, problems)
	checkVersion(s, problems)
	checkPods(c, s, problems)
}

// checkMasters rejects an even number of masters: kubespray runs etcd on them, which needs a majority.
func checkMasters(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	vdu := s.Master.Access.VDU
	if n := c.Counts[vdu]; vdu != "" && n%2 == 0 && c.Request.OperationalState != vnfm.Stopped {
		problems.Invalid("scale_levels", fmt.Sprintf("the cluster would have %d masters", n),
			fmt.Sprintf("VDU %s must have an odd number of servers, since etcd, which is on them, needs a majority", vdu))
	}
}

// names are the names of the inventory groups in a release of kubespray.
type names struct {
	masters, etcd, workers, reflectors, all string
}

var (
	today = names{masters: "kube_control_plane", etcd: "etcd", workers: "kube_node", reflectors: "calico_rr", all: "k8s_cluster"}
	// former are the names in releases up to v2.15.
	former = names{masters: "kube-master", etcd: "etcd", workers: "kube-node", reflectors: "calico-rr", all: "k8s-cluster"}
)

// byRole returns the nodes of a role.
func byRole(all []*cluster.Node, role cluster.Role) []*cluster.Node {
	return slices.DeleteFunc(slices.Clone(all), func(n *cluster.Node) bool { return n.Role != role })
}

func namesOf(all []*cluster.Node) []string {
	out := make([]string, 0, len(all))
	for _, n := range all {
		out = append(out, n.Name)
	}
	return out
}
