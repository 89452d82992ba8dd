package cluster

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is a management driver that makes a Kubernetes cluster of the servers of an instance. It is safe for concurrent use.
type Driver struct {
	// Name is what a VNFD calls the driver.
	Name string
	// Own reads the parameters that only this driver has.
	Own Kind
	// CheckSettings adds what this driver cannot work with in settings that were read.
	CheckSettings func(c *vnfm.HookCheck, s *Settings, problems *vnfm.Problems)
	// CheckHost finds what the host that the installer works on lacks; nil where there is none.
	CheckHost func(ctx context.Context, s *Settings, keys vnfm.HostKeys) (vnfm.Problems, error)
	// NewInstaller returns the installer of one call. It is closed after the call when it is an io.Closer.
	NewInstaller func() Installer
}

var (
	_ vnfm.Registrar   = Driver{}
	_ vnfm.HostChecker = Driver{}
	_ vnfm.NodeKeeper  = Driver{}
	_ vnfm.Watcher     = Driver{}
)

// RegistersVIM implements vnfm.Registrar.
func (Driver) RegistersVIM() {}

// NodeVDUs implements vnfm.NodeKeeper: the VDUs of the nodes and that of the load balancer.
func (d Driver) NodeVDUs(c *vnfm.HookCheck) []string {
	var problems vnfm.Problems
	s := Read(c.Params, c.Later, c.Package, c.Flavour, d.Own, &problems)
	if s == nil || s.Master.Access.VDU == "" || s.Worker.Access.VDU == "" {
		return nil
	}
	out := []string{s.Master.Access.VDU, s.Worker.Access.VDU}
	if s.LoadBalancer != nil {
		if s.LoadBalancer.Access.VDU == "" {
			return nil
		}
		out = append(out, s.LoadBalancer.Access.VDU)
	}
	return out
}

// Params implements vnfm.ManagementDriver.
func (Driver) Params() []string { return []string{Param} }

// Check implements vnfm.ManagementDriver.
func (d Driver) Check(c *vnfm.HookCheck) vnfm.Problems {
	var problems vnfm.Problems
	s := Read(c.Params, c.Later, c.Package, c.Flavour, d.Own, &problems)
	checkHooks(d.Name, c.Hooks, &problems)
	if s != nil {
		checkBalancers(c, s, &problems)
		d.CheckSettings(c, s, &problems)
	}
	return problems
}

// CheckHosts implements vnfm.HostChecker.
func (d Driver) CheckHosts(ctx context.Context, c *vnfm.HostCheck) (vnfm.Problems, error) {
	if d.CheckHost == nil {
		return nil, nil
	}
	var problems vnfm.Problems
	s := Read(c.Params, false, c.Package, c.Flavour, d.Own, &problems)
	if problems.HasErrors() {
		// Check reports them.
		return nil, nil
	}
	return d.CheckHost(ctx, s, c.HostKeys)
}

// Run implements vnfm.ManagementDriver.
func (d Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	var problems vnfm.Problems
	s := Read(call.Params, false, call.Package, call.Flavour, d.Own, &problems)
	if err := problems.Err(); err != nil {
		return err
	}
	c, err := openCluster(call, s, d.NewInstaller())
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
