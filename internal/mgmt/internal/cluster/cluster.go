package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/registry/connect"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Installer turns servers into nodes. All methods can be repeated.
type Installer interface {
	// Prepare checks everything that can be checked before changes.
	Prepare(ctx context.Context, c *Cluster) error
	// Install creates a cluster of all nodes. None of them is in a cluster yet, and at least one is a master.
	Install(ctx context.Context, c *Cluster) error
	// Add adds nodes to the cluster, masters first. If masters have left, it also updates the other nodes, even if added is empty.
	Add(ctx context.Context, c *Cluster, added []*Node, mastersLeft bool) error
	// Remove removes a node from the cluster, and the cluster from the server if the server answers.
	Remove(ctx context.Context, c *Cluster, n *Node) error
	// Discard removes data of the cluster outside its nodes, after all nodes are deleted.
	Discard(ctx context.Context, c *Cluster) error
}

// Updater is an installer that updates a cluster to changed parameters, before nodes are added.
type Updater interface {
	Update(ctx context.Context, c *Cluster) error
}

// state is the record of a cluster.
type state struct {
	Nodes []*Node `json:"nodes,omitempty"`
	// MastersLeft is set after a master has left, until the other nodes are updated.
	MastersLeft bool `json:"masters_left,omitempty"`
	// ServicePorts are the node ports of Services that the load balancers forward.
	ServicePorts []int `json:"service_ports,omitempty"`
	// Registered is a keyed digest of the kubeconfig in the registration of the VIM.
	Registered string `json:"registered,omitempty"`
}

// Cluster is a cluster at one hook of an operation.
type Cluster struct {
	*Settings
	Call *vnfm.HookCall

	installer Installer
	state     state
	// unrecorded is set while the record has no nodes: none exist yet, or the record was lost.
	unrecorded bool

	// mu guards the connections, and the fields Joined while nodes join concurrently.
	mu      sync.Mutex
	clients map[string]*remote.Client
}

// bound is the number of servers that are processed concurrently.
const bound = 8

// openCluster reads the record of a cluster.
func openCluster(call *vnfm.HookCall, s *Settings, i Installer) (*Cluster, error) {
	c := &Cluster{Settings: s, Call: call, installer: i, clients: map[string]*remote.Client{}}
	err := call.State.Load(&c.state)
	c.unrecorded = len(c.state.Nodes) == 0
	return c, err
}

// Close closes all connections, including the installer's.
func (c *Cluster) Close() {
	if i, ok := c.installer.(io.Closer); ok {
		_ = i.Close()
	}
	for _, client := range c.clients {
		_ = client.Close()
	}
}

// Run runs the hook of the call.
func (c *Cluster) Run(ctx context.Context) error {
	defer c.Close()
	switch {
	case c.Call.Operation == vnfm.OpTerminate && c.Call.End:
		// A VNFD may name the driver for only one of the two hooks.
		if err := c.deregister(ctx); err != nil {
			return err
		}
		return c.installer.Discard(ctx, c)
	case c.Call.Operation == vnfm.OpTerminate:
		return c.deregister(ctx)
	case c.Call.End:
		return c.reconcile(ctx)
	case c.unrecorded && c.Call.Operation == vnfm.OpInstantiate:
		return nil
	default:
		return c.detachLeavingNodes(ctx)
	}
}

// Progress reports a line to the user.
func (c *Cluster) Progress(ctx context.Context, format string, args ...any) {
	c.Call.Recorder.Progress(ctx, fmt.Sprintf(format, args...))
}

// Save saves the record of the cluster.
func (c *Cluster) Save(ctx context.Context) error { return c.Call.State.Save(ctx, c.state) }

// Client returns the connection to a node.
func (c *Cluster) Client(ctx context.Context, n *Node) (*remote.Client, error) {
	if n.server == nil {
		return nil, fmt.Errorf("node %s no longer has a server", n.Name)
	}
	c.mu.Lock()
	open := c.clients[n.VNFC]
	c.mu.Unlock()
	if open != nil {
		return open, nil
	}
	client, err := n.server.Open(ctx, c.Call)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients[n.VNFC] = client
	return client, nil
}

// reconcile brings the cluster in line with the servers of the instance.
func (c *Cluster) reconcile(ctx context.Context) error {
	if err := c.find(ctx); err != nil {
		return err
	}
	if err := c.installer.Prepare(ctx, c); err != nil {
		return err
	}
	if err := c.lead(ctx); err != nil {
		return err
	}
	if err := c.markNodes(ctx); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	if err := c.balance(ctx, c.All()); err != nil {
		return err
	}
	if err := c.follow(ctx, c.All()); err != nil {
		return err
	}
	return c.register(ctx)
}

// lead installs the cluster, or removes and adds nodes.
func (c *Cluster) lead(ctx context.Context) error {
	if err := c.recognize(ctx, true); err != nil {
		return err
	}
	if !c.alive() {
		// Without a master there is no cluster to remove nodes from.
		c.state = state{Registered: c.state.Registered}
		if err := c.find(ctx); err != nil {
			return err
		}
		c.name()
		if len(c.Nodes(Master)) == 0 {
			return fmt.Errorf("VDU %s has no server that could be a master of the cluster", c.Master.Access.VDU)
		}
		if err := errors.Join(c.Save(ctx), c.reachable(ctx, c.state.Nodes)); err != nil {
			return err
		}
		if err := c.installer.Install(ctx, c); err != nil {
			return err
		}
		return c.Join(ctx, c.state.Nodes...)
	}
	for _, n := range c.All() {
		if !n.Gone {
			continue
		}
		if n.Joined {
			if err := c.remove(ctx, n); err != nil {
				return err
			}
		}
		if err := c.forget(ctx, n); err != nil {
			return err
		}
	}
	if u, ok := c.installer.(Updater); ok {
		if err := u.Update(ctx, c); err != nil {
			return err
		}
	}
	c.name()
	var added []*Node
	for _, n := range c.All() {
		if !n.Joined {
			added = append(added, n)
		}
	}
	if len(added) == 0 && !c.state.MastersLeft {
		return c.Save(ctx)
	}
	if err := errors.Join(c.Save(ctx), c.reachable(ctx, added)); err != nil {
		return err
	}
	if err := c.installer.Add(ctx, c, added, c.state.MastersLeft); err != nil {
		return err
	}
	c.state.MastersLeft = false
	return c.Join(ctx, added...)
}

// alive reports whether the cluster has a master.
func (c *Cluster) alive() bool {
	return slices.ContainsFunc(c.Nodes(Master), func(n *Node) bool { return n.Joined && !n.Gone })
}

// Join records that nodes have joined the cluster. An installer that adds nodes one after the other calls it for each, so that an
// interrupted installation resumes with the others. It is safe for concurrent use.
func (c *Cluster) Join(ctx context.Context, nodes ...*Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range nodes {
		n.Joined = true
	}
	return c.Save(ctx)
}

// reachable waits until servers answer.
func (c *Cluster) reachable(ctx context.Context, all []*Node) error {
	return remote.Each(ctx, bound, all, func(ctx context.Context, n *Node) error {
		_, err := c.Client(ctx, n)
		return err
	})
}

// detachLeavingNodes prepares the removal of servers by an operation: it stops traffic to the nodes, drains them and removes them from
// the cluster.
func (c *Cluster) detachLeavingNodes(ctx context.Context) error {
	if err := c.find(ctx); err != nil {
		return err
	}
	if err := c.recognize(ctx, false); err != nil {
		return err
	}
	c.state.Nodes = slices.DeleteFunc(c.state.Nodes, func(n *Node) bool { return n.Name == "" })
	if c.unrecorded {
		return nil
	}
	var leaving, staying []*Node
	for _, n := range c.All() {
		if slices.Contains(c.Call.Leaving, n.VNFC) {
			leaving = append(leaving, n)
		} else {
			staying = append(staying, n)
		}
	}
	if len(leaving) == 0 {
		return nil
	}
	has := func(nodes []*Node, role Role) bool {
		return slices.ContainsFunc(nodes, func(n *Node) bool { return n.Role == role && !n.Gone })
	}
	switch {
	case len(staying) == 0:
		// All nodes are replaced, so the end of the operation creates a new cluster.
		c.state = state{Registered: c.state.Registered}
		return c.Save(ctx)
	case !has(staying, Master) && has(leaving, Master):
		return errors.New("the masters cannot be replaced all at once while workers stay: the cluster runs on them; " + c.adviceForMasters())
	}
	if err := c.ask(ctx, leaving); err != nil {
		return err
	}
	if err := c.installer.Prepare(ctx, c); err != nil {
		return err
	}
	if err := c.recallServices(ctx); err != nil {
		return err
	}
	if err := c.balance(ctx, staying); err != nil {
		return err
	}
	// Nodes that do not answer are removed first: steps on all nodes would fail at them.
	for _, gone := range []bool{true, false} {
		for _, n := range leaving {
			if n.Gone != gone {
				continue
			}
			if err := c.leave(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// adviceForMasters is the remedy for a replacement of all masters.
func (c *Cluster) adviceForMasters() string {
	if c.Call.Operation == vnfm.OpHeal {
		return "heal them one after the other if there are several, or heal the whole instance, which creates the cluster again"
	}
	return "have three masters before the change, and image and flavor as parameters of the template, so that they are replaced one after the other; or change the workers as well, which creates the cluster again"
}

// ask marks leaving nodes that do not answer as gone, if the operation replaces them: that may be the reason of the replacement.
func (c *Cluster) ask(ctx context.Context, leaving []*Node) error {
	return remote.Each(ctx, bound, leaving, func(ctx context.Context, n *Node) error {
		if n.Gone {
			return nil
		}
		_, err := c.Client(ctx, n)
		if err == nil || !c.Call.Replaces() || ctx.Err() != nil {
			return err
		}
		c.Progress(ctx, "node %s does not answer: %s", n.Name, err)
		n.Gone = true
		return nil
	})
}

// leave drains a node and removes it from the cluster and the record.
func (c *Cluster) leave(ctx context.Context, n *Node) error {
	if err := c.drain(ctx, n); err != nil {
		return err
	}
	if err := c.remove(ctx, n); err != nil {
		return err
	}
	return c.forget(ctx, n)
}

func (c *Cluster) remove(ctx context.Context, n *Node) error {
	c.Progress(ctx, "removing node %s", n.Name)
	if err := c.installer.Remove(ctx, c, n); err != nil {
		return fmt.Errorf("removing node %s: %w", n.Name, err)
	}
	return nil
}

// Living returns a master that answers, other than except.
func (c *Cluster) Living(ctx context.Context, except *Node) (*Node, *remote.Client, error) {
	var errs []error
	for _, n := range c.Nodes(Master) {
		if n == except || n.Gone || !n.Joined {
			continue
		}
		client, err := c.Client(ctx, n)
		if err == nil {
			return n, client, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, nil, errors.New("the cluster has no master")
	}
	return nil, nil, errors.Join(errs...)
}

// connect configures the private registries on all nodes and removes former ones.
func (c *Cluster) connect(ctx context.Context) error {
	return remote.Each(ctx, bound, c.state.Nodes, func(ctx context.Context, n *Node) error {
		client, err := c.Client(ctx, n)
		if err != nil {
			return err
		}
		changed, err := connect.Apply(ctx, client, c.Registries, func(line string) { c.Progress(ctx, "%s: %s", n.Name, line) })
		if err != nil {
			return fmt.Errorf("connecting node %s to private registries: %w", n.Name, err)
		}
		if len(changed) > 0 {
			c.Progress(ctx, "%s: changed %s", n.Name, strings.Join(changed, ", "))
		}
		if err := connect.Verify(ctx, client, c.Registries); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		return nil
	})
}
