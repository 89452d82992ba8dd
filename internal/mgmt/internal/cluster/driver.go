package cluster

import (
	"context"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Driver is a management driver that makes a Kubernetes cluster of the servers of an instance. It is safe for concurrent use.
type Driver struct {
	// Name is the name of the driver in a VNFD.
	Name string
	// Own reads the parameters of this driver alone.
	Own Kind
	// CheckSettings adds the problems of settings that are specific to this driver.
	CheckSettings func(c *vnfm.HookCheck, s *Settings, problems *vnfm.Problems)
	// CheckHost reports missing dependencies on the host of the installer; nil if it has no host.
	CheckHost func(ctx context.Context, s *Settings, keys vnfm.HostKeys) (vnfm.Problems, error)
	// NewInstaller returns the installer of one call, which closes it if it is an io.Closer.
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

// NodeVDUs implements vnfm.NodeKeeper: the VDUs of the nodes and of the load balancer.
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

// Rounds implements vnfm.NodeKeeper: the nodes leave one at a time, masters first. If no master would remain during the replacement, all
// leave together; the cluster is then created again, provided that no worker stays.
func (d Driver) Rounds(c *vnfm.HookCheck, replaced []vnfm.Replacement) [][]string {
	var problems vnfm.Problems
	s := Read(c.Params, c.Later, c.Package, c.Flavour, d.Own, &problems)
	var all, first []string
	byVDU := map[string][]string{}
	mastersAtOnce := 0
	for _, r := range replaced {
		all = append(all, r.VNFC)
		vdu := c.Flavour.VDUOf(r.VNFC)
		switch node := s != nil && (vdu == s.Master.Access.VDU || vdu == s.Worker.Access.VDU); {
		case node && !r.AtOnce:
			byVDU[vdu] = append(byVDU[vdu], r.VNFC)
		default:
			first = append(first, r.VNFC)
			if node && vdu == s.Master.Access.VDU {
				mastersAtOnce++
			}
		}
	}
	if s == nil {
		return [][]string{all}
	}
	masters := s.Master.Access.VDU
	stay := c.Counts[masters] - mastersAtOnce
	if stay < 1 || len(byVDU[masters]) > 0 && c.Counts[masters] < 2 {
		return [][]string{all}
	}
	var out [][]string
	if len(first) > 0 {
		out = append(out, first)
	}
	for _, vdu := range []string{masters, s.Worker.Access.VDU} {
		for _, id := range byVDU[vdu] {
			out = append(out, []string{id})
		}
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
