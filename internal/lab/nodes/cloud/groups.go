package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/rules"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	corev1 "k8s.io/api/core/v1"
)

// With manage-security-groups each Service has a security group of its own, which opens its ports on the nodes for the network of its
// load balancer.

func groupName(service *corev1.Service) string {
	return shorten(fmt.Sprintf("lb-sg-%s-%s-%s", service.UID, service.Namespace, service.Name))
}

// findGroup is the security group of a Service; nil without one.
func (b balancers) findGroup(ctx context.Context, service *corev1.Service) (*groups.SecGroup, error) {
	pages, err := groups.List(b.network, groups.ListOpts{Name: groupName(service)}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for a security group: %w", err)
	}
	all, err := groups.ExtractGroups(pages)
	if err != nil || len(all) == 0 {
		return nil, err //nolint:wrapcheck // It says what it could not read.
	}
	return &all[0], nil
}

// openPorts opens the ports of a Service on nodes for a network.
func (b balancers) openPorts(ctx context.Context, cluster string, service *corev1.Service, nodes []*corev1.Node, cidr string) error {
	group, err := b.findGroup(ctx, service)
	if err == nil && group == nil {
		group, err = groups.Create(ctx, b.network, groups.CreateOpts{
			Name: groupName(service), Description: fmt.Sprintf("Security Group for %s/%s Service LoadBalancer in cluster %s", service.Namespace, service.Name, cluster),
		}).Extract()
	}
	if err != nil {
		return fmt.Errorf("making the security group of %s/%s: %w", service.Namespace, service.Name, err)
	}
	for _, port := range service.Spec.Ports {
		if slices.ContainsFunc(group.Rules, func(r rules.SecGroupRule) bool { return r.PortRangeMin == int(port.NodePort) }) {
			continue
		}
		family := rules.EtherType4
		if prefix(cidr).Addr().Is6() {
			family = rules.EtherType6
		}
		_, err := rules.Create(ctx, b.network, rules.CreateOpts{
			Direction: rules.DirIngress, EtherType: family, Protocol: protocolOf(port), PortRangeMin: int(port.NodePort), PortRangeMax: int(port.NodePort),
			RemoteIPPrefix: cidr, SecGroupID: group.ID,
		}).Extract()
		if err != nil {
			return fmt.Errorf("opening port %d: %w", port.NodePort, err)
		}
	}
	for _, node := range nodes {
		all, err := b.portsOf(ctx, node)
		if err != nil {
			return err
		}
		for _, port := range all {
			if !slices.Contains(port.SecurityGroups, group.ID) {
				if err := b.setGroups(ctx, port, append(port.SecurityGroups, group.ID)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func protocolOf(port corev1.ServicePort) rules.RuleProtocol {
	if port.Protocol == corev1.ProtocolUDP {
		return rules.ProtocolUDP
	}
	return rules.ProtocolTCP
}

func (b balancers) setGroups(ctx context.Context, port ports.Port, ids []string) error {
	if _, err := ports.Update(ctx, b.network, port.ID, ports.UpdateOpts{SecurityGroups: &ids}).Extract(); err != nil {
		return fmt.Errorf("changing the security groups of port %s: %w", port.ID, err)
	}
	return nil
}

// closePorts removes the security group of a Service, if it has one.
func (b balancers) closePorts(ctx context.Context, service *corev1.Service) error {
	group, err := b.findGroup(ctx, service)
	if err != nil || group == nil {
		return err
	}
	pages, err := ports.List(b.network, ports.ListOpts{SecurityGroups: []string{group.ID}}).AllPages(ctx)
	if err != nil {
		return fmt.Errorf("looking for ports with security group %s: %w", group.Name, err)
	}
	all, err := ports.ExtractPorts(pages)
	if err != nil {
		return fmt.Errorf("looking for ports with security group %s: %w", group.Name, err)
	}
	for _, port := range all {
		rest := slices.DeleteFunc(slices.Clone(port.SecurityGroups), func(id string) bool { return id == group.ID })
		err = errors.Join(err, b.setGroups(ctx, port, rest))
	}
	if err == nil {
		err = groups.Delete(ctx, b.network, group.ID).ExtractErr()
	}
	if err != nil {
		return fmt.Errorf("removing security group %s: %w", group.Name, err)
	}
	return nil
}
