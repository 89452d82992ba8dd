package cluster

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// LoadBalancer is the load balancer of the cluster: one server, or several that share an address.
type LoadBalancer struct {
	Access hosts.Access
	// NIC is the connection point for VRRP between several load balancers.
	NIC string
	// Script is a file of the package; empty means the built-in configuration. ScriptTimeout bounds each call of the script.
	Script        string
	ScriptTimeout time.Duration
	// APIPort is the port of the API server. NodePorts are forwarded to all nodes.
	APIPort   int
	NodePorts []int
	// FollowServices forwards node ports of Services as well.
	FollowServices bool
	// Virtual is the shared address of the load balancers, RouterID their VRRP group. Without Virtual there is one load balancer.
	Virtual  netip.Addr
	RouterID int
}

const (
	balancerParam    = "external_lb_param"
	virtualParam     = "virtual_address"
	routerParam      = "virtual_router_id"
	nodePortsParam   = "node_ports"
	scriptParam      = "script_path"
	scriptLimitParam = "script_timeout"
)

// defaultAPIPort is the port of the API server on a load balancer, as in Tacker.
const defaultAPIPort = 8383

// defaultRouterID is the router id in the samples of keepalived.
const defaultRouterID = 51

// sshPort is the default port of SSH.
const sshPort = 22

// loadBalancer reads the load balancer of a cluster.
func (r Reader) loadBalancer(o *params.Object, s *Settings) *LoadBalancer {
	below := o.Object(balancerParam)
	if below == nil {
		return nil
	}
	lb := &LoadBalancer{Access: hosts.ReadAccess(below, r.flavour), Script: r.file(below, scriptParam, false), APIPort: below.Int("api_port", defaultAPIPort, 1, 65535)}
	lb.NIC = r.point(below, "nic_cp_name", lb.Access, lb.Access.ConnectionPoint)
	lb.ScriptTimeout = below.Duration(scriptLimitParam, defaultScriptTimeout)
	if lb.Script != "" {
		if _, err := hosts.ReadProgram(r.content, lb.Script); err != nil {
			//findings:says name a script of the package of 1 MiB at most
			below.Errorf(scriptParam, "", "cannot be used: %s", err)
		}
	} else if below.Has(scriptLimitParam) && !below.Has(scriptParam) && !below.Later() {
		below.Errorf(scriptLimitParam, "it limits each call of the script", "has no effect without %s", scriptParam)
	}
	lb.FollowServices = below.Bool("follow_services")
	lb.virtual(below, s)
	lb.nodePorts(below)
	below.Done()
	return lb
}

// virtual reads the shared address of load balancers.
func (lb *LoadBalancer) virtual(o *params.Object, s *Settings) {
	lb.RouterID = o.Int(routerParam, defaultRouterID, 1, 255)
	text := o.Text(virtualParam)
	if text == "" {
		if o.Has(routerParam) && !o.Later() {
			o.Errorf(routerParam, "it tells load balancers that share one address from others on their network", "has no effect without %s", virtualParam)
		}
		return
	}
	const wanted = "an address of the network of the load balancers that no server has, for example 10.0.0.100"
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		o.Errorf(virtualParam, wanted, "must be an IP address, not %q", text)
		return
	case address.Zone() != "" || !address.IsGlobalUnicast():
		o.Errorf(virtualParam, wanted, "must be an address that clients reach, not %s", text)
		return
	}
	for _, network := range []struct {
		name   string
		prefix netip.Prefix
	}{{"pod_cidr", s.PodCIDR}, {"cluster_cidr", s.ServiceCIDR}} {
		if network.prefix.IsValid() && network.prefix.Contains(address) {
			o.Errorf(virtualParam, wanted, "is within %s.%s %s, which nodes route inside of the cluster: %s", masterNode, network.name, network.prefix, text)
		}
	}
	lb.Virtual = address.Unmap()
}

// nodePorts reads the ports that are always forwarded.
func (lb *LoadBalancer) nodePorts(o *params.Object) {
	list, ok := o.Raw(nodePortsParam).([]any)
	if !ok && o.Has(nodePortsParam) {
		o.Errorf(nodePortsParam, "", "must be a list of ports")
	}
	taken := lb.ownPorts()
	if !o.Has("api_port") && o.Later() {
		delete(taken, lb.APIPort)
	}
	if what := taken[lb.APIPort]; what != "" && what != apiPortName {
		//findings:says choose an api_port that the load balancer does not listen on otherwise
		o.Errorf("api_port", "", "is %s of the load balancer, %d", what, lb.APIPort)
	}
	for n, item := range list {
		if item == nil && o.Later() {
			continue
		}
		port, isNumber := item.(int64)
		if f, isFloat := item.(float64); isFloat {
			port, isNumber = int64(f), float64(int64(f)) == f
		}
		at := fmt.Sprintf("%s.%d", nodePortsParam, n)
		switch {
		case !isNumber || port < 1 || port > 65535:
			o.Errorf(at, "", "must be a port")
			continue
		case taken[int(port)] != "":
			//findings:says name each port once, and none that the load balancer listens on itself
			o.Errorf(nodePortsParam, "", "has %s, %d", taken[int(port)], port)
		}
		taken[int(port)] = "the same port twice"
		lb.NodePorts = append(lb.NodePorts, int(port))
	}
}

// apiPortName is the name of the port of the API server in messages.
const apiPortName = "the port of the API server"

// ownPorts are the ports on which a load balancer itself listens, with their names in messages.
func (lb *LoadBalancer) ownPorts() map[int]string {
	ssh := lb.Access.Login.Port
	if ssh == 0 {
		ssh = sshPort
	}
	out := map[int]string{lb.APIPort: apiPortName}
	out[ssh] = "the port of SSH"
	return out
}

// checkBalancers rejects a VDU of load balancers without servers, and several load balancers without a shared address.
func checkBalancers(c *vnfm.HookCheck, s *Settings, problems *vnfm.Problems) {
	lb := s.LoadBalancer
	if lb == nil || lb.Access.VDU == "" || c.Request.OperationalState == vnfm.Stopped {
		return
	}
	count, planned := c.Counts[lb.Access.VDU]
	refuse := func(name, summary, detail string) {
		*problems = append(*problems, vnfm.Problem{
			Severity: vnfm.SeverityError, Attribute: vnfm.AttributeParams, Key: Param, Summary: fmt.Sprintf("%s.%s.%s %s", Param, balancerParam, name, summary), Detail: detail,
		})
	}
	switch {
	case planned && count == 0:
		refuse("ssh_cp_name", fmt.Sprintf("is of VDU %s, which would have no server", lb.Access.VDU), "a load balancer needs one server at least")
	case count > 1 && !lb.Virtual.IsValid() && !c.Later:
		refuse(virtualParam, fmt.Sprintf("is missing: VDU %s would have %d servers", lb.Access.VDU, count),
			"several load balancers share an address, at which the cluster is reached while one of them works; without it the VDU must have one server")
	}
}
