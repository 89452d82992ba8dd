package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	corev1 "k8s.io/api/core/v1"
)

// place is the subnet of the load balancer of a Service: the one that is named, else that of the nodes.
func (b balancers) place(ctx context.Context, service *corev1.Service, nodes []*corev1.Node) (*subnets.Subnet, error) {
	id := service.Annotations[annotationSubnet]
	if id == "" {
		id = b.settings.LoadBalancer.SubnetID
	}
	if id == "" {
		var err error
		if id, err = b.subnetOf(ctx, nodes[0]); err != nil {
			return nil, err
		}
	}
	subnet, err := subnets.Get(ctx, b.network, id).Extract()
	if err != nil {
		return nil, fmt.Errorf("reading subnet %s: %w", id, err)
	}
	return subnet, nil
}

// portsOf are those of the server of a node.
func (b balancers) portsOf(ctx context.Context, node *corev1.Node) ([]ports.Port, error) {
	server, err := instances{b.cloud}.find(ctx, node)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, fmt.Errorf("node %s has no server", node.Name)
	}
	pages, err := ports.List(b.network, ports.ListOpts{DeviceID: server.ID}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the ports of server %s: %w", server.ID, err)
	}
	all, err := ports.ExtractPorts(pages)
	if err != nil {
		return nil, fmt.Errorf("listing the ports of server %s: %w", server.ID, err)
	}
	return all, nil
}

// subnetOf is the subnet of a node's address.
func (b balancers) subnetOf(ctx context.Context, node *corev1.Node) (string, error) {
	own, err := b.addressOf(ctx, node)
	if err != nil {
		return "", err
	}
	all, err := b.portsOf(ctx, node)
	if err != nil {
		return "", err
	}
	for _, port := range all {
		for _, address := range port.FixedIPs {
			if address.IPAddress == own {
				return address.SubnetID, nil
			}
		}
	}
	return "", fmt.Errorf("no port of the server of node %s has the address %q", node.Name, own)
}

// floatingOf is the floating address of a port; nil without one.
func (b balancers) floatingOf(ctx context.Context, port string) (*floatingips.FloatingIP, error) {
	pages, err := floatingips.List(b.network, floatingips.ListOpts{PortID: port}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for the floating address of port %s: %w", port, err)
	}
	all, err := floatingips.ExtractFloatingIPs(pages)
	if err != nil || len(all) == 0 {
		return nil, err //nolint:wrapcheck // It says what it could not read.
	}
	return &all[0], nil
}

// describe is the description of the floating address of a Service.
func describe(cluster string, service *corev1.Service) string {
	return fmt.Sprintf("Floating IP for Kubernetes external service %s/%s from cluster %s", service.Namespace, service.Name, cluster)
}

// ensureFloatingIP gives a load balancer a floating address, unless its Service is internal, and returns where it answers.
func (b balancers) ensureFloatingIP(ctx context.Context, cluster string, service *corev1.Service, balancer *loadbalancers.LoadBalancer) (string, error) {
	floating, err := b.floatingOf(ctx, balancer.VipPortID)
	if err != nil {
		return "", err
	}
	if says(service, annotationInternal, b.settings.LoadBalancer.Internal) {
		if floating == nil {
			return balancer.VipAddress, nil
		}
		return balancer.VipAddress, b.removeFloatingIP(ctx, cluster, service, balancer.VipPortID)
	}
	if floating != nil {
		return floating.FloatingIP, nil
	}
	network, err := b.outside(ctx, service)
	if err != nil {
		return "", err
	}
	made, err := floatingips.Create(ctx, b.network, floatingips.CreateOpts{
		FloatingNetworkID: network, PortID: balancer.VipPortID, Description: describe(cluster, service), FloatingIP: service.Spec.LoadBalancerIP,
	}).Extract()
	if err != nil {
		return "", fmt.Errorf("making the floating address of %s: %w", balancer.Name, err)
	}
	return made.FloatingIP, nil
}

// removeFloatingIP removes the floating address of the load balancer of a Service if it was made for that and is not to be kept.
func (b balancers) removeFloatingIP(ctx context.Context, cluster string, service *corev1.Service, port string) error {
	floating, err := b.floatingOf(ctx, port)
	if err != nil || floating == nil {
		return err
	}
	if says(service, annotationKeepFloating, false) || floating.Description != describe(cluster, service) {
		var none string
		_, err = floatingips.Update(ctx, b.network, floating.ID, floatingips.UpdateOpts{PortID: &none}).Extract()
	} else {
		err = floatingips.Delete(ctx, b.network, floating.ID).ExtractErr()
	}
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return fmt.Errorf("removing floating address %s: %w", floating.FloatingIP, err)
	}
	return nil
}

// outside is the network of floating addresses: the one that is named, else the only external one.
func (b balancers) outside(ctx context.Context, service *corev1.Service) (string, error) {
	if id := service.Annotations[annotationFloatingNetwork]; id != "" {
		return id, nil
	}
	if id := b.settings.LoadBalancer.FloatingNetworkID; id != "" {
		return id, nil
	}
	yes := true
	pages, err := networks.List(b.network, external.ListOptsExt{ListOptsBuilder: networks.ListOpts{}, External: &yes}).AllPages(ctx)
	if err != nil {
		return "", fmt.Errorf("looking for an external network: %w", err)
	}
	all, err := networks.ExtractNetworks(pages)
	if err != nil {
		return "", fmt.Errorf("looking for an external network: %w", err)
	}
	if len(all) == 0 {
		return "", errors.New("there is no external network for floating addresses")
	}
	return all[0].ID, nil
}

// prefix reads a network, which Neutron has checked.
func prefix(cidr string) netip.Prefix {
	p, _ := netip.ParsePrefix(cidr)
	return p
}
