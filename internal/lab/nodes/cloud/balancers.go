package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// The annotations of Services that are known here, as cloud-provider-openstack has them.
const (
	annotationInternal        = "service.beta.kubernetes.io/openstack-internal-load-balancer"
	annotationFloatingNetwork = "loadbalancer.openstack.org/floating-network-id"
	annotationKeepFloating    = "loadbalancer.openstack.org/keep-floatingip"
	annotationSubnet          = "loadbalancer.openstack.org/subnet-id"
)

// What Octavia says of a load balancer.
const (
	statusActive   = "ACTIVE"
	statusError    = "ERROR"
	statusDeleted  = "DELETED"
	statusDeleting = "PENDING_DELETE"
)

const (
	// balancerTimeout is how long Octavia may take for a change, looked at every balancerPause.
	balancerTimeout = 5 * time.Minute
	balancerPause   = 500 * time.Millisecond
	// longestName is the longest one that OpenStack takes.
	longestName = 255
)

// balancers are the load balancers of Services, each of which has one.
type balancers struct{ *cloud }

// GetLoadBalancerName is the name of the load balancer of a Service.
func (b balancers) GetLoadBalancerName(_ context.Context, cluster string, service *corev1.Service) string {
	return shorten(fmt.Sprintf("kube_service_%s_%s_%s", cluster, service.Namespace, service.Name))
}

func shorten(name string) string { return name[:min(len(name), longestName)] }

// GetLoadBalancer tells whether a Service has its load balancer, and where that answers.
func (b balancers) GetLoadBalancer(ctx context.Context, cluster string, service *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	found, err := b.find(ctx, b.GetLoadBalancerName(ctx, cluster, service))
	if err != nil || found == nil {
		return nil, false, err
	}
	address := found.VipAddress
	floating, err := b.floatingOf(ctx, found.VipPortID)
	if err == nil && floating != nil {
		address = floating.FloatingIP
	}
	return statusOf(address), true, err
}

func statusOf(address string) *corev1.LoadBalancerStatus {
	return &corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: address}}}
}

// EnsureLoadBalancer sees to it that a Service has a load balancer as it is described, and says where that answers.
func (b balancers) EnsureLoadBalancer(ctx context.Context, cluster string, service *corev1.Service, nodes []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	if len(nodes) == 0 {
		return nil, errors.New("there is no node that could answer")
	}
	at, err := b.place(ctx, service, nodes)
	if err != nil {
		return nil, err
	}
	name := b.GetLoadBalancerName(ctx, cluster, service)
	balancer, err := b.find(ctx, name)
	if err == nil && balancer == nil {
		balancer, err = loadbalancers.Create(ctx, b.balancing, loadbalancers.CreateOpts{
			Name: name, Description: fmt.Sprintf("Kubernetes external service %s/%s from cluster %s", service.Namespace, service.Name, cluster),
			VipSubnetID: at.ID, Provider: b.settings.LoadBalancer.Provider, Tags: []string{name},
		}).Extract()
	}
	if err != nil {
		return nil, fmt.Errorf("making load balancer %s: %w", name, err)
	}
	if err := b.reconcile(ctx, balancer.ID, name, service, nodes); err != nil {
		return nil, err
	}
	if b.settings.LoadBalancer.ManageSecurityGroups {
		if err := b.openPorts(ctx, cluster, service, nodes, at.CIDR); err != nil {
			return nil, err
		}
	}
	address, err := b.ensureFloatingIP(ctx, cluster, service, balancer)
	if err != nil {
		return nil, err
	}
	return statusOf(address), nil
}

// UpdateLoadBalancer has the load balancer of a Service lead to these nodes.
func (b balancers) UpdateLoadBalancer(ctx context.Context, cluster string, service *corev1.Service, nodes []*corev1.Node) error {
	_, err := b.EnsureLoadBalancer(ctx, cluster, service, nodes)
	return err
}

// EnsureLoadBalancerDeleted removes the load balancer of a Service with all that was made for it, if it is there.
func (b balancers) EnsureLoadBalancerDeleted(ctx context.Context, cluster string, service *corev1.Service) error {
	name := b.GetLoadBalancerName(ctx, cluster, service)
	balancer, err := b.find(ctx, name)
	if err != nil {
		return err
	}
	if balancer != nil {
		if err := b.removeFloatingIP(ctx, cluster, service, balancer.VipPortID); err != nil {
			return err
		}
		if err := b.settle(ctx, balancer.ID); err != nil {
			return err
		}
		err := loadbalancers.Delete(ctx, b.balancing, balancer.ID, loadbalancers.DeleteOpts{Cascade: true}).ExtractErr()
		if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return fmt.Errorf("deleting load balancer %s: %w", name, err)
		}
	}
	return b.closePorts(ctx, service)
}

// find is the load balancer of a name that is there to stay; nil without one.
func (b balancers) find(ctx context.Context, name string) (*loadbalancers.LoadBalancer, error) {
	pages, err := loadbalancers.List(b.balancing, loadbalancers.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for load balancer %s: %w", name, err)
	}
	all, err := loadbalancers.ExtractLoadBalancers(pages)
	if err != nil {
		return nil, fmt.Errorf("looking for load balancer %s: %w", name, err)
	}
	var found *loadbalancers.LoadBalancer
	for i := range all {
		if all[i].ProvisioningStatus == statusDeleted || all[i].ProvisioningStatus == statusDeleting {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("several load balancers are called %s", name)
		}
		found = &all[i]
	}
	return found, nil
}

// settle waits until a load balancer can be changed.
func (b balancers) settle(ctx context.Context, id string) error {
	err := wait.PollUntilContextTimeout(ctx, balancerPause, balancerTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := loadbalancers.Get(ctx, b.balancing, id).Extract()
		if err != nil {
			return false, err
		}
		if now.ProvisioningStatus == statusError {
			return false, errors.New("it has failed")
		}
		return now.ProvisioningStatus == statusActive, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for load balancer %s: %w", id, err)
	}
	return nil
}

// says reads an annotation that is true or false.
func says(service *corev1.Service, annotation string, otherwise bool) bool {
	if value, err := strconv.ParseBool(service.Annotations[annotation]); err == nil {
		return value
	}
	return otherwise
}
