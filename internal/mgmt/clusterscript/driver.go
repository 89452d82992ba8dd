// Package clusterscript is the management driver that makes a Kubernetes cluster of the servers of
// a VNF instance with a script of its package.
package clusterscript

import (
	"context"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
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
	s := cluster.Read(c.Params, c.Later, c.Package, c.Flavour, cluster.Script, &problems)
	cluster.CheckHooks(vnfm.KubernetesScript, c.Hooks, &problems)
	if s == nil {
		return problems
	}
	if s.ScriptPath != "" {
		if _, err := hosts.ReadProgram(c.Package.Content, s.ScriptPath); err != nil {
			problems.Errorf(s.ScriptPath, 0, 0, "the script that installs the cluster: %s", err)
		}
	}
	if s.Master.Access.VDU == "" || c.Request.OperationalState == vnfm.Stopped {
		return problems
	}
	switch n := c.Counts[s.Master.Access.VDU]; {
	case n == 0:
		problems = append(problems, vnfm.Problem{
			Attribute: "scale_levels", Summary: "the cluster would have no master",
			Detail: fmt.Sprintf("VDU %s must have a server", s.Master.Access.VDU),
		})
	case n%2 == 0:
		// Where etcd is, is the affair of the script.
		problems = append(problems, vnfm.Problem{
			Severity: vnfm.SeverityWarning, Attribute: "scale_levels", Summary: fmt.Sprintf("the cluster would have %d masters", n),
			Detail: fmt.Sprintf("etcd needs a majority: when it is on the masters, an even number of servers of VDU %s survives no more failures than one less", s.Master.Access.VDU),
		})
	}
	return problems
}

// Run implements vnfm.ManagementDriver.
func (Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	var problems vnfm.Problems
	s := cluster.Read(call.Params, false, call.Package, call.Flavour, cluster.Script, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	c, err := cluster.Open(call, s, &installer{})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
