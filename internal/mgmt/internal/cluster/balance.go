package cluster

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/loadbalancer"
)

// balancer is the server of the load balancer.
func (c *Cluster) balancer(ctx context.Context) (*hosts.Server, error) {
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
	return &found[0], nil
}

// balance has the load balancer pass on to these nodes and no others.
func (c *Cluster) balance(ctx context.Context, all []*Node) error {
	if c.LoadBalancer == nil {
		return nil
	}
	s, err := c.balancer(ctx)
	if err != nil {
		return err
	}
	client, err := s.Open(ctx, c.Call)
	if err != nil {
		return fmt.Errorf("load balancer: %w", err)
	}
	defer func() { _ = client.Close() }()
	c.Progress(ctx, "setting up the load balancer for %d nodes", len(all))
	cfg := loadbalancer.Config{
		Script: c.LoadBalancer.Script, APIPort: c.LoadBalancer.APIPort, APITarget: apiPort, NodePorts: c.LoadBalancer.NodePorts,
		Proxy: c.Proxy.Environment(), Secrets: c.Secrets(), Report: func(line string) { c.Progress(ctx, "load balancer: %s", line) },
	}
	if cfg.Script != "" {
		text, err := fs.ReadFile(c.Call.Package.Content, cfg.Script)
		if err != nil {
			return fmt.Errorf("reading script %s of the package: %w", cfg.Script, err)
		}
		cfg.Content = string(text)
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
	if err := loadbalancer.Apply(ctx, client, cfg); err != nil {
		return fmt.Errorf("load balancer: %w", err)
	}
	return nil
}

// Environment is the proxy as environment variables, by the names that programs know.
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
