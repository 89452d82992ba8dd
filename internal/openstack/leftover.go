package openstack

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// The objects that OpenStack's cloud provider and storage driver make for a cluster, by what they mark
// it with (cloud-provider-openstack: pkg/openstack/loadbalancer.go, pkg/csi/cinder).
const (
	loadBalancerPrefix = "kube_service_"
	addressSuffix      = " from cluster "
	groupPrefix        = "Security Group for "
	groupSuffix        = " Service LoadBalancer in cluster "
	volumeCluster      = "cinder.csi.openstack.org/cluster"
)

// LoadBalancer is a load balancer of Octavia.
type LoadBalancer struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"provisioning_status"`
	PortID string `json:"vip_port_id"`
}

// Volume is a volume of Cinder.
type Volume struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
}

// SecurityGroup is a security group of Neutron.
type SecurityGroup struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// ServiceLoadBalancers are those that the cloud provider of a cluster made for Services.
func (c *Client) ServiceLoadBalancers(ctx context.Context, cluster string) ([]LoadBalancer, error) {
	all, err := list[LoadBalancer](ctx, c, call{doing: "listing the load balancers", service: ServiceLoadBalancer, path: "/lbaas/loadbalancers"}, "loadbalancers")
	var out []LoadBalancer
	for _, each := range all {
		if strings.HasPrefix(each.Name, loadBalancerPrefix+cluster+"_") {
			out = append(out, each)
		}
	}
	return out, err
}

// DeleteLoadBalancer removes a load balancer with all that is in it, and the floating
// addresses that the cloud provider of the cluster gave it. It goes by and by.
func (c *Client) DeleteLoadBalancer(ctx context.Context, b LoadBalancer, cluster string) error {
	type address struct {
		ID          string `json:"id"`
		Description string `json:"description"`
	}
	if b.PortID != "" {
		addresses, err := list[address](ctx, c, call{
			doing: "listing the floating addresses of load balancer " + b.Name, service: ServiceNetwork, path: "/floatingips", query: url.Values{"port_id": {b.PortID}},
		}, "floatingips")
		if err != nil {
			return err
		}
		for _, a := range addresses {
			if !strings.HasSuffix(a.Description, addressSuffix+cluster) {
				// It was somebody else's before, who may want to keep it.
				continue
			}
			if err := c.remove(ctx, "removing the floating address of load balancer "+b.Name, ServiceNetwork, "/floatingips/"+url.PathEscape(a.ID), nil); err != nil {
				return err
			}
		}
	}
	return c.remove(ctx, "removing load balancer "+b.Name, ServiceLoadBalancer, "/lbaas/loadbalancers/"+url.PathEscape(b.ID), url.Values{"cascade": {"true"}})
}

// ServiceSecurityGroups are those that the cloud provider of a cluster made for Services, with manage-security-groups.
func (c *Client) ServiceSecurityGroups(ctx context.Context, cluster string) ([]SecurityGroup, error) {
	all, err := list[SecurityGroup](ctx, c, call{doing: "listing the security groups", service: ServiceNetwork, path: "/security-groups"}, "security_groups")
	var out []SecurityGroup
	for _, each := range all {
		if strings.HasPrefix(each.Description, groupPrefix) && strings.HasSuffix(each.Description, groupSuffix+cluster) {
			out = append(out, each)
		}
	}
	return out, err
}

// DeleteSecurityGroup removes a security group that no port has.
func (c *Client) DeleteSecurityGroup(ctx context.Context, g SecurityGroup) error {
	return c.remove(ctx, "removing security group "+g.Name, ServiceNetwork, "/security-groups/"+url.PathEscape(g.ID), nil)
}

// ClusterVolumes are the volumes that the storage driver of a cluster made.
func (c *Client) ClusterVolumes(ctx context.Context, cluster string) ([]Volume, error) {
	all, err := list[Volume](ctx, c, call{doing: "listing the volumes", service: ServiceVolume, path: "/volumes/detail"}, "volumes")
	var out []Volume
	for _, each := range all {
		if each.Metadata[volumeCluster] == cluster {
			out = append(out, each)
		}
	}
	return out, err
}

// DeleteVolume removes a volume with its snapshots.
func (c *Client) DeleteVolume(ctx context.Context, v Volume) error {
	return c.remove(ctx, "removing volume "+v.Name, ServiceVolume, "/volumes/"+url.PathEscape(v.ID), url.Values{"cascade": {"true"}})
}

// remove deletes an object. Not found is success.
func (c *Client) remove(ctx context.Context, doing, service, path string, query url.Values) error {
	err := c.do(ctx, call{
		doing: doing, service: service, method: http.MethodDelete, path: path, query: query,
		ok: []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent},
	})
	if IsNotFound(err) {
		return nil
	}
	return err
}
