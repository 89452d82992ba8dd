// Package clusterscript is the management driver that makes a Kubernetes cluster of the servers of
// a VNF instance with a script of its package.
package clusterscript

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// New returns the driver.
func New() cluster.Driver {
	return cluster.Driver{
		Name: vnfm.KubernetesScript, Own: cluster.Script, CheckSettings: checkSettings,
		NewInstaller: func() cluster.Installer { return &installer{} },
	}
}

// checkSettings refuses a cluster without a master, and a network of pods without an address for each node. It warns of an even
// number of masters.
func checkSettings(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	checkPods(c, s, problems)
	vdu := s.Master.Access.VDU
	if vdu == "" || c.Request.OperationalState == vnfm.Stopped {
		return
	}
	switch n := c.Counts[vdu]; {
	case n == 0:
		problems.Invalid("scale_levels", "the cluster would have no master", fmt.Sprintf("VDU %s must have a server", vdu))
	case n%2 == 0:
		// Where etcd is, is the affair of the script.
		*problems = append(*problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "scale_levels", Summary: fmt.Sprintf("the cluster would have %d masters", n),
			Detail: fmt.Sprintf("etcd needs a majority: when it is on the masters, an even number of servers of VDU %s survives no more failures than one less", vdu),
		})
	}
}

// The lengths of the prefixes that kubeadm gives each node, unless its configuration has others.
const (
	kubeadmIPv4 = 24
	kubeadmIPv6 = 64
)

// checkPods checks the network of pods for the greatest number of nodes. How much of it a node gets is the affair of the script:
// fewer addresses than nodes are an error, and what kubeadm needs by default is a warning.
func checkPods(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	if !s.PodCIDR.IsValid() {
		return
	}
	room := cluster.Room{At: "master_node.pod_cidr", Pods: s.PodCIDR, Length: s.PodCIDR.Addr().BitLen(), Why: "each node needs an address"}
	before := len(*problems)
	if s.CheckRoom(c, room, problems); len(*problems) > before {
		return
	}
	room.Length, room.Severity = kubeadmIPv4, vnfm.SeverityWarning
	if s.PodCIDR.Addr().Is6() {
		room.Length = kubeadmIPv6
	}
	room.Why = fmt.Sprintf("kubeadm gives each node a /%d unless the script configures it otherwise", room.Length)
	s.CheckRoom(c, room, problems)
}
