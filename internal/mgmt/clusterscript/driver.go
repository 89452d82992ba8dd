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

// checkSettings rejects a cluster without a master, and a pod network without an address for each node. It warns of an even number of
// masters.
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
		// A warning only: the script may run etcd elsewhere.
		*problems = append(*problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "scale_levels", Summary: fmt.Sprintf("the cluster would have %d masters", n),
			Detail: fmt.Sprintf("etcd needs a majority: when it is on the masters, an even number of servers of VDU %s survives no more failures than one less", vdu),
		})
	}
}

// Prefix lengths of the pod network of a node, as kubeadm configures by default.
const (
	kubeadmIPv4 = 24
	kubeadmIPv6 = 64
)

// checkPods checks the pod network for the greatest number of nodes. The script decides on the share of each node: fewer addresses
// than nodes are an error, less room than the defaults of kubeadm need is a warning.
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
