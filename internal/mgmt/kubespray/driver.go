// Package kubespray is the management driver that makes a Kubernetes cluster of the servers
// of a VNF instance with kubespray, which is on an Ansible server of the user's.
package kubespray

import (
	"context"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is the management driver. It is safe for concurrent use.
type Driver struct{}

var _ vnfm.ManagementDriver = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Params implements vnfm.ManagementDriver.
func (Driver) Params() []string { return []string{cluster.Param} }

// Check implements vnfm.ManagementDriver.
func (Driver) Check(c *vnfm.HookCheck) vnfm.Problems {
	var problems vnfm.Problems
	s := cluster.Read(c.Params, c.Later, c.Package, c.Flavour, cluster.Kubespray, &problems)
	cluster.CheckHooks(vnfm.Kubespray, c.Hooks, &problems)
	if s == nil || s.Master.Access.VDU == "" {
		return problems
	}
	// etcd, which kubespray puts on the masters, votes.
	if n := c.Counts[s.Master.Access.VDU]; n%2 == 0 && c.Request.OperationalState != vnfm.Stopped {
		problems = append(problems, vnfm.Problem{
			Attribute: "scale_levels", Summary: fmt.Sprintf("the cluster would have %d masters", n),
			Detail: fmt.Sprintf("VDU %s must have an odd number of servers, since etcd, which is on them, needs a majority", s.Master.Access.VDU),
		})
	}
	return problems
}

// Run implements vnfm.ManagementDriver.
func (Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	var problems vnfm.Problems
	s := cluster.Read(call.Params, false, call.Package, call.Flavour, cluster.Kubespray, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	i := &installer{}
	defer i.close()
	c, err := cluster.Open(call, s, i)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// names are the groups of an inventory as a release of kubespray has them.
type names struct {
	masters, etcd, workers, reflectors, all string
}

var (
	today = names{masters: "kube_control_plane", etcd: "etcd", workers: "kube_node", reflectors: "calico_rr", all: "k8s_cluster"}
	// former are those of releases up to v2.15.
	former = names{masters: "kube-master", etcd: "etcd", workers: "kube-node", reflectors: "calico-rr", all: "k8s-cluster"}
)

// byRole parts nodes.
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
