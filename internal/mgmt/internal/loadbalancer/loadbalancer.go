// Package loadbalancer configures the load balancers of a Kubernetes cluster: with a script of the VNF package, or with HAProxy and, for
// a shared address, keepalived.
package loadbalancer

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Node is a node behind the load balancers.
type Node struct{ Name, Address string }

// At is the address of a port of the node.
func (n Node) At(port int) string { return net.JoinHostPort(n.Address, strconv.Itoa(port)) }

// Server is a load balancer. The first of several gets the virtual address if all of them are created at once.
type Server struct {
	// Name is the name in messages. Address is the one for the other load balancers.
	Name, Address string
	// Client is nil for a load balancer that stays unchanged.
	Client *remote.Client
}

// Config is the desired configuration of the load balancers of a cluster.
type Config struct {
	// Script configures everything; nil means HAProxy.
	Script *Script
	// APIPort is the port for the API server, APITarget its port on the masters.
	APIPort, APITarget int
	// NodePorts are forwarded to the same port of all nodes.
	NodePorts        []int
	Masters, Workers []Node
	// Virtual is the shared address of the load balancers; nil if unset.
	Virtual *Virtual
	// Proxy has the environment variables for package downloads.
	Proxy map[string]string
	// Secrets are masked in output and errors.
	Secrets []vnfm.Secret
	Report  func(line string)
}

// Nodes are all nodes, masters first.
func (c Config) Nodes() []Node { return slices.Concat(c.Masters, c.Workers) }

// Ports are the sorted node ports.
func (c Config) Ports() []int { return slices.Compact(slices.Sorted(slices.Values(c.NodePorts))) }

// Bind is the address of a HAProxy bind line for a port. It includes IPv6 if the cluster has IPv6 addresses.
func (c Config) Bind(port int) string {
	six := c.Virtual != nil && c.Virtual.Address.Is6()
	for _, n := range c.Nodes() {
		address, err := netip.ParseAddr(n.Address)
		six = six || err == nil && address.Is6()
	}
	if six {
		return fmt.Sprintf("[::]:%d v4v6", port)
	}
	return fmt.Sprintf("*:%d", port)
}

// Apply configures load balancers, one after the other. It changes nothing on a load balancer that is up to date.
func Apply(ctx context.Context, all []Server, cfg Config) error {
	for at, s := range all {
		if s.Client == nil {
			continue
		}
		if cfg.Script != nil {
			if err := cfg.run(ctx, all, at); err != nil {
				return err
			}
			continue
		}
		if err := cfg.proxy(ctx, s.Client); err != nil {
			return err
		}
		if cfg.Virtual == nil {
			continue
		}
		if err := cfg.share(ctx, all, at); err != nil {
			return err
		}
	}
	return nil
}

// Await waits until exactly one of the load balancers has the virtual address. A script manages that address itself.
func Await(ctx context.Context, all []Server, cfg Config) error {
	if cfg.Script != nil || cfg.Virtual == nil {
		return nil
	}
	return cfg.Virtual.await(ctx, all)
}
