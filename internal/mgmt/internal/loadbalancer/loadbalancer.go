// Package loadbalancer sets up the servers in front of a Kubernetes cluster: with a script
// of the VNF package, or with configurations of HAProxy and, when they share an address,
// keepalived of its own.
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

// At is a port of the node.
func (n Node) At(port int) string { return net.JoinHostPort(n.Address, strconv.Itoa(port)) }

// Server is a load balancer. The first of several has the virtual address, when all of them
// are made at once.
type Server struct {
	// Name is for people, and Address that by which the others reach it.
	Name, Address string
	// Client is nil for one that is left as it is.
	Client *remote.Client
}

// Config is what the load balancers of a cluster pass on, and to whom.
type Config struct {
	// Script does all the work; nil means HAProxy.
	Script *Script
	// APIPort is the port for the API server, which has APITarget on the masters.
	APIPort, APITarget int
	// NodePorts go to the same port of all nodes.
	NodePorts        []int
	Masters, Workers []Node
	// Virtual is an address that the load balancers share; nil when they share none.
	Virtual *Virtual
	// Proxy is the environment in which packages are fetched.
	Proxy map[string]string
	// Secrets are kept out of what is shown.
	Secrets []vnfm.Secret
	Report  func(line string)
}

// Nodes are all nodes, masters first.
func (c Config) Nodes() []Node { return slices.Concat(c.Masters, c.Workers) }

// Ports are the node ports in their order.
func (c Config) Ports() []int { return slices.Compact(slices.Sorted(slices.Values(c.NodePorts))) }

// Bind is where connections to a port are taken, as HAProxy writes it: at addresses of IPv6
// too, where the cluster has such.
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

// Apply sets load balancers up, one after the other, and changes nothing where all is as it should be.
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

// Await waits until one of the load balancers, and no other, has the virtual address. Where that address is, is the affair of a script.
func Await(ctx context.Context, all []Server, cfg Config) error {
	if cfg.Script != nil || cfg.Virtual == nil {
		return nil
	}
	return cfg.Virtual.await(ctx, all)
}
