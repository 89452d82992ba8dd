package cluster

import (
	"context"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
)

// Role is the role of a node.
type Role string

// The roles of nodes.
const (
	Master Role = "master"
	Worker Role = "worker"
)

// Node is a server of the cluster.
type Node struct {
	// Name is the name of the node in Kubernetes: the role and the lowest free number.
	Name string `json:"name"`
	Role Role   `json:"role"`
	VNFC string `json:"vnfc"`
	// Address is dialled, IP is the address for traffic between nodes, Cluster the address of the API server on a master.
	Address string `json:"address"`
	IP      string `json:"ip"`
	Cluster string `json:"cluster,omitempty"`
	// Joined is set once the node has joined the cluster.
	Joined bool `json:"joined,omitempty"`
	// Marked is set once the server has the mark of the node.
	Marked bool `json:"marked,omitempty"`
	// Gone is set if the server of the node is missing or does not answer.
	Gone bool `json:"-"`

	server *hosts.Server
}

// Nodes returns the nodes of a role, joined ones first.
func (c *Cluster) Nodes(role Role) []*Node {
	var out []*Node
	for _, joined := range []bool{true, false} {
		for _, n := range c.state.Nodes {
			if n.Role == role && n.Joined == joined {
				out = append(out, n)
			}
		}
	}
	return out
}

// All returns the nodes, masters first. They also leave in this order, because an installer may need a worker until the end.
func (c *Cluster) All() []*Node { return slices.Concat(c.Nodes(Master), c.Nodes(Worker)) }

// Group returns the group of a node.
func (c *Cluster) Group(n *Node) Group {
	if n.Role == Master {
		return c.Master
	}
	return c.Worker
}

// find matches the nodes with the servers of the instance: a node without a server is marked as gone, and a server without a node gets
// one. If the new flavour lacks the VDU of a node, the node keeps the access of its role while its server exists.
func (c *Cluster) find(ctx context.Context) error {
	has, err := c.Call.Resources(ctx)
	if err != nil {
		return err
	}
	for _, n := range c.state.Nodes {
		n.Gone, n.server = true, nil
	}
	for role, g := range map[Role]Group{Master: c.Master, Worker: c.Worker} {
		servers, err := g.Access.Find(has)
		if err != nil {
			return err
		}
		for _, s := range servers {
			n := c.node(s.ID)
			if n == nil {
				n = &Node{Role: role, VNFC: s.ID}
				c.state.Nodes = append(c.state.Nodes, n)
			}
			n.Gone, n.server, n.Address = false, &s, s.Address
			if n.IP, err = first(&s, g.NIC); err == nil && role == Master {
				n.Cluster, err = first(&s, g.Cluster)
			}
			if err != nil {
				return err
			}
		}
	}
	for _, n := range c.state.Nodes {
		if n.server != nil {
			continue
		}
		access := c.Group(n).Access
		if s := access.At(has, n.VNFC, n.Address); s != nil && s.VDUID != access.VDU {
			n.Gone, n.server = false, s
		}
	}
	return nil
}

// name gives each node without a name the lowest free one.
func (c *Cluster) name() {
	taken := map[string]bool{}
	for _, n := range c.state.Nodes {
		taken[n.Name] = true
	}
	for _, n := range c.state.Nodes {
		for i := 1; n.Name == ""; i++ {
			if name := fmt.Sprintf("%s%d", n.Role, i); !taken[name] {
				n.Name, taken[name] = name, true
			}
		}
	}
}

func first(s *hosts.Server, connectionPoint string) (string, error) {
	if addresses := s.ConnectionPoints[connectionPoint]; len(addresses) > 0 {
		return addresses[0], nil
	}
	return "", fmt.Errorf("VNFC %s has no address at connection point %s: the template of the package must have a port of that name", s.ID, connectionPoint)
}

func (c *Cluster) node(vnfc string) *Node {
	for _, n := range c.state.Nodes {
		if n.VNFC == vnfc {
			return n
		}
	}
	return nil
}

// Last moves a node after all others of its role.
func (c *Cluster) Last(n *Node) {
	c.state.Nodes = slices.DeleteFunc(c.state.Nodes, func(other *Node) bool { return other == n })
	c.state.Nodes = append(c.state.Nodes, n)
}

// forget removes a node from the record.
func (c *Cluster) forget(ctx context.Context, n *Node) error {
	c.state.Nodes = slices.DeleteFunc(c.state.Nodes, func(other *Node) bool { return other == n })
	c.state.MastersLeft = c.state.MastersLeft || n.Role == Master && n.Joined
	return c.Save(ctx)
}
