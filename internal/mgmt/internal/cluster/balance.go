package cluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/loadbalancer"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
)

// balancers returns the servers of the load balancer, at least one.
func (c *Cluster) balancers(ctx context.Context) ([]hosts.Server, error) {
	has, err := c.Call.Resources(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.LoadBalancer.Access.Find(has)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("VDU %s has no server that could be the load balancer", c.LoadBalancer.Access.VDU)
	}
	return found, nil
}

// balance configures the load balancers to forward to exactly these nodes.
func (c *Cluster) balance(ctx context.Context, all []*Node) error {
	if c.LoadBalancer == nil {
		return nil
	}
	if !c.LoadBalancer.FollowServices {
		c.state.ServicePorts = nil
	}
	cfg, err := c.balancing(all)
	if err != nil {
		return err
	}
	balancers, err := c.openBalancers(ctx)
	defer func() {
		for _, b := range balancers {
			if b.Client != nil {
				_ = b.Client.Close()
			}
		}
	}()
	if err != nil {
		return err
	}
	c.Progress(ctx, "setting up the load balancer for %d nodes", len(cfg.Nodes()))
	cfg.Report = func(line string) { c.Progress(ctx, "load balancer: %s", line) }
	err = loadbalancer.Apply(ctx, balancers, cfg)
	if err == nil && c.Call.End {
		err = loadbalancer.Await(ctx, balancers, cfg)
	}
	if err != nil {
		return fmt.Errorf("load balancer: %w", err)
	}
	return nil
}

// openBalancers connects to the load balancers that the operation does not remove. The others stay unchanged: they may be replaced
// because they do not answer. The caller closes the connections, also after an error.
func (c *Cluster) openBalancers(ctx context.Context) ([]loadbalancer.Server, error) {
	servers, err := c.balancers(ctx)
	if err != nil {
		return nil, err
	}
	var out []loadbalancer.Server
	for i := range servers {
		s := &servers[i]
		address, err := c.LoadBalancer.address(s)
		if err != nil {
			return out, err
		}
		b := loadbalancer.Server{Name: s.ID, Address: address}
		if c.Call.End || !slices.Contains(c.Call.Leaving, s.ID) {
			if b.Client, err = s.Open(ctx, c.Call); err != nil {
				return out, fmt.Errorf("load balancer: %w", err)
			}
		}
		out = append(out, b)
	}
	return out, nil
}

// balancing returns the desired configuration of the load balancers.
func (c *Cluster) balancing(all []*Node) (loadbalancer.Config, error) {
	lb := c.LoadBalancer
	cfg := loadbalancer.Config{
		APIPort: lb.APIPort, APITarget: apiPort, NodePorts: slices.Concat(lb.NodePorts, c.state.ServicePorts), Proxy: c.Proxy.Environment(), Secrets: c.Secrets(),
	}
	if lb.Virtual.IsValid() {
		cfg.Virtual = &loadbalancer.Virtual{Address: lb.Virtual, RouterID: lb.RouterID}
	}
	if lb.Script != "" {
		text, err := hosts.ReadProgram(c.Call.Package.Content, lb.Script)
		if err != nil {
			return cfg, err
		}
		cfg.Script = &loadbalancer.Script{Path: lb.Script, Content: text, Timeout: lb.ScriptTimeout, Env: map[string]string{
			"VNF_INSTANCE_ID": c.Call.Instance.ID, "VNF_INSTANCE_NAME": c.Call.Instance.Name, "VNF_OPERATION": string(c.Call.Operation),
		}}
	}
	for _, n := range all {
		if n.Gone {
			continue
		}
		node := loadbalancer.Node{Name: n.Name, Address: n.IP}
		if n.Role == Master {
			cfg.Masters = append(cfg.Masters, node)
		} else {
			cfg.Workers = append(cfg.Workers, node)
		}
	}
	return cfg, nil
}

// address returns the address of a server for the other load balancers, in the family of the virtual address.
func (lb *LoadBalancer) address(s *hosts.Server) (string, error) {
	if !lb.Virtual.IsValid() {
		return first(s, lb.NIC)
	}
	for _, text := range s.ConnectionPoints[lb.NIC] {
		if a, err := netip.ParseAddr(text); err == nil && a.Is4() == lb.Virtual.Is4() {
			return text, nil
		}
	}
	return "", fmt.Errorf("VNFC %s has no address at connection point %s that goes with the virtual address %s: it has %s",
		s.ID, lb.NIC, lb.Virtual, strings.Join(s.ConnectionPoints[lb.NIC], ", "))
}

// servicesScript prints the node ports of the Services of a cluster.
//
//go:embed services.sh
var servicesScript string

// servicePort is a node port of a Service.
type servicePort struct {
	service, protocol string
	port              int
}

// services reads the node ports of all Services from a master.
func (c *Cluster) services(ctx context.Context) ([]servicePort, error) {
	n, client, err := c.Living(ctx, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Answer(ctx, remote.Command{What: "reading the node ports of Services", Script: servicesScript, Args: []string{AdminConfig}, Sudo: true})
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	var out []servicePort
	for line := range strings.Lines(answer) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, fmt.Errorf("node %s: reading the node ports of Services: kubectl says %q", n.Name, line)
		}
		port, err := strconv.Atoi(words[1])
		if err != nil {
			return nil, fmt.Errorf("node %s: reading the node ports of Services: %w", n.Name, err)
		}
		out = append(out, servicePort{service: words[0], port: port, protocol: words[2]})
	}
	return out, nil
}

// forwarded returns the node ports of Services to forward, without the ones in NodePorts. skipped describes ports that cannot be
// forwarded.
func (lb *LoadBalancer) forwarded(all []servicePort) (ports []int, skipped []string) {
	found, owned := map[int]bool{}, lb.ownPorts()
	for _, s := range all {
		switch {
		case s.protocol != "TCP":
			skipped = append(skipped, fmt.Sprintf("port %d of Service %s is of %s", s.port, s.service, s.protocol))
		case owned[s.port] != "":
			skipped = append(skipped, fmt.Sprintf("port %d of Service %s is %s of the load balancer", s.port, s.service, owned[s.port]))
		case !slices.Contains(lb.NodePorts, s.port):
			found[s.port] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), skipped
}

// follow updates the load balancers to the current node ports of Services. It runs after balance, because the load balancers may be the
// only way to the API server.
func (c *Cluster) follow(ctx context.Context, all []*Node) error {
	if c.LoadBalancer == nil || !c.LoadBalancer.FollowServices {
		return nil
	}
	was := c.state.ServicePorts
	if err := c.readServices(ctx); err != nil || slices.Equal(was, c.state.ServicePorts) {
		return err
	}
	if err := c.balance(ctx, all); err != nil {
		c.state.ServicePorts = was
		return errors.Join(err, c.Save(ctx))
	}
	return c.Save(ctx)
}

// recallServices reads the node ports of Services if the record has none: the record may have been lost.
func (c *Cluster) recallServices(ctx context.Context) error {
	if c.LoadBalancer == nil || !c.LoadBalancer.FollowServices || len(c.state.ServicePorts) > 0 {
		return nil
	}
	return c.readServices(ctx)
}

// readServices reads the node ports of Services to forward into the state.
func (c *Cluster) readServices(ctx context.Context) error {
	found, err := c.services(ctx)
	if err != nil {
		return err
	}
	ports, skipped := c.LoadBalancer.forwarded(found)
	for _, text := range skipped {
		c.Progress(ctx, "not passed on by the load balancer: %s", text)
	}
	c.state.ServicePorts = ports
	return nil
}

// Environment returns the proxy as environment variables.
func (p Proxy) Environment() map[string]string {
	out := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			out[name] = value
		}
	}
	set("http_proxy", p.HTTP.Reveal())
	set("https_proxy", p.HTTPS.Reveal())
	if len(out) > 0 {
		set("no_proxy", p.NoProxy())
	}
	return out
}
