// Package clusterscript is the management driver that makes a Kubernetes cluster of the servers of
// a VNF instance with a script of its package.
package clusterscript

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// New returns the driver.
func New() cluster.Driver {
	return cluster.Driver{
		Name: vnfm.KubernetesScript, Own: cluster.Script, CheckSettings: checkSettings,
		NewInstaller: func() cluster.Installer { return &installer{} },
	}
}

// checkSettings refuses a script that cannot be read and a cluster without a master, and warns of an even number of masters.
func checkSettings(c *vnfm.HookCheck, s *cluster.Settings, problems *vnfm.Problems) {
	if s.ScriptPath != "" {
		if _, err := hosts.ReadProgram(c.Package.Content, s.ScriptPath); err != nil {
			problems.Errorf(s.ScriptPath, 0, 0, "the script that installs the cluster: %s", err)
		}
	}
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
