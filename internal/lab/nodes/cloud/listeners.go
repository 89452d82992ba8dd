package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"
	corev1 "k8s.io/api/core/v1"
)

// reconcile gives a load balancer a listener for each port of a Service, with a pool of the ports of all nodes.
func (b balancers) reconcile(ctx context.Context, id, name string, service *corev1.Service, nodes []*corev1.Node) error {
	pages, err := listeners.List(b.balancing, listeners.ListOpts{LoadbalancerID: id}).AllPages(ctx)
	if err != nil {
		return fmt.Errorf("listing the listeners of %s: %w", name, err)
	}
	there, err := listeners.ExtractListeners(pages)
	if err != nil {
		return fmt.Errorf("listing the listeners of %s: %w", name, err)
	}
	for index, port := range service.Spec.Ports {
		at := slices.IndexFunc(there, func(l listeners.Listener) bool {
			return l.Protocol == string(port.Protocol) && l.ProtocolPort == int(port.Port)
		})
		var listener *listeners.Listener
		if at >= 0 {
			listener, there = &there[at], slices.Concat(there[:at:at], there[at+1:])
		} else if listener, err = b.listen(ctx, id, name, index, port); err != nil {
			return err
		}
		if err := b.fill(ctx, id, name, index, port, listener, nodes); err != nil {
			return err
		}
	}
	for _, listener := range there {
		if err := b.dropListener(ctx, id, listener); err != nil {
			return err
		}
	}
	return b.settle(ctx, id)
}

// listen makes the listener of a port.
func (b balancers) listen(ctx context.Context, id, name string, index int, port corev1.ServicePort) (*listeners.Listener, error) {
	if err := b.settle(ctx, id); err != nil {
		return nil, err
	}
	listener, err := listeners.Create(ctx, b.balancing, listeners.CreateOpts{
		Name: shorten(fmt.Sprintf("listener_%d_%s", index, name)), LoadbalancerID: id, Protocol: listeners.Protocol(port.Protocol), ProtocolPort: int(port.Port),
		Tags: []string{name},
	}).Extract()
	if err != nil {
		return nil, fmt.Errorf("making the listener of port %d of %s: %w", port.Port, name, err)
	}
	return listener, nil
}

// fill gives a listener its pool, and that its members.
func (b balancers) fill(ctx context.Context, id, name string, index int, port corev1.ServicePort, listener *listeners.Listener, nodes []*corev1.Node) error {
	pool := listener.DefaultPoolID
	if pool == "" {
		if err := b.settle(ctx, id); err != nil {
			return err
		}
		made, err := pools.Create(ctx, b.balancing, pools.CreateOpts{
			Name: shorten(fmt.Sprintf("pool_%d_%s", index, name)), ListenerID: listener.ID, Protocol: pools.Protocol(port.Protocol),
			LBMethod: pools.LBMethod(b.settings.LoadBalancer.Method),
		}).Extract()
		if err != nil {
			return fmt.Errorf("making the pool of port %d of %s: %w", port.Port, name, err)
		}
		pool = made.ID
	}
	pages, err := pools.ListMembers(b.balancing, pool, pools.ListMembersOpts{}).AllPages(ctx)
	if err != nil {
		return fmt.Errorf("listing the members of %s: %w", name, err)
	}
	there, err := pools.ExtractMembers(pages)
	if err != nil {
		return fmt.Errorf("listing the members of %s: %w", name, err)
	}
	wanted, changed, err := b.membersOf(ctx, nodes, int(port.NodePort), there)
	if err != nil || !changed {
		return err
	}
	if err := b.settle(ctx, id); err != nil {
		return err
	}
	if err := pools.BatchUpdateMembers(ctx, b.balancing, pool, wanted).ExtractErr(); err != nil {
		return fmt.Errorf("changing the members of %s: %w", name, err)
	}
	return nil
}

// membersOf are the members that nodes make, and whether others are there.
func (b balancers) membersOf(ctx context.Context, nodes []*corev1.Node, port int, there []pools.Member) (wanted []pools.BatchUpdateMemberOpts, changed bool, err error) {
	for _, node := range nodes {
		address, err := b.addressOf(ctx, node)
		if err != nil {
			return nil, false, err
		}
		if address == "" {
			continue
		}
		name := shorten(fmt.Sprintf("member_%s_%d", node.Name, port))
		wanted = append(wanted, pools.BatchUpdateMemberOpts{Address: address, ProtocolPort: port, Name: &name})
		if !slices.ContainsFunc(there, func(m pools.Member) bool { return m.Address == address && m.ProtocolPort == port }) {
			changed = true
		}
	}
	return wanted, changed || len(wanted) != len(there), nil
}

// addressOf is where a node is reached from the network of the nodes; empty without a server. A new node does not have its
// addresses yet, and the framework does not ask again when it has them.
func (b balancers) addressOf(ctx context.Context, node *corev1.Node) (string, error) {
	addresses := node.Status.Addresses
	internal := func(a corev1.NodeAddress) bool { return a.Type == corev1.NodeInternalIP }
	if !slices.ContainsFunc(addresses, internal) {
		server, err := instances{b.cloud}.find(ctx, node)
		if err != nil || server == nil {
			return "", err
		}
		if addresses, err = addressesOf(server); err != nil {
			return "", err
		}
	}
	if at := slices.IndexFunc(addresses, internal); at >= 0 {
		return addresses[at].Address, nil
	}
	return "", nil
}

// dropListener deletes the listener of a port that the Service has no more, with its pool.
func (b balancers) dropListener(ctx context.Context, id string, listener listeners.Listener) error {
	err := b.settle(ctx, id)
	if err == nil && listener.DefaultPoolID != "" {
		err = errors.Join(pools.Delete(ctx, b.balancing, listener.DefaultPoolID).ExtractErr(), b.settle(ctx, id))
	}
	if err == nil {
		err = listeners.Delete(ctx, b.balancing, listener.ID).ExtractErr()
	}
	if err != nil {
		return fmt.Errorf("deleting listener %s: %w", listener.Name, err)
	}
	return nil
}
