package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// cleanupEvery is the pause between two tries.
	cleanupEvery = 5 * time.Second
	// cleanupReserve is the time that the clean-up leaves for the rest of the destroy.
	cleanupReserve = 30 * time.Second
)

// Cleanup deletes the resources that the cloud provider of OpenStack left behind. It begins
// when all machines are deleted, so that no controller in the cluster deletes or recreates them.
// Load balancers are deleted while Cluster API deletes the infrastructure, because they block
// the deletion of the network.
type Cleanup struct {
	*Credential
	wanted     vnfm.CloudCleanup
	leftBehind func(object, reason string)
	every      time.Duration
}

// NewCleanup returns the clean-up of a cluster. It reports remaining resources to leftBehind.
func NewCleanup(a *Credential, leftBehind func(object, reason string)) *Cleanup {
	c := &Cleanup{Credential: a, leftBehind: leftBehind, every: cleanupEvery}
	if a.Spec.OpenStack != nil {
		c.wanted = a.Spec.OpenStack.Cleanup
	}
	if c.leftBehind == nil {
		c.leftBehind = func(string, string) {}
	}
	return c
}

// Begin requests the deletion of the load balancers, as soon as all machines are deleted.
// Finish retries failed requests.
func (c *Cleanup) Begin(ctx context.Context) {
	if !c.wanted.LoadBalancers {
		return
	}
	if client, err := c.cloud(ctx, c.Spec.OpenStack.VIMID); err == nil {
		_, _ = c.deleteLoadBalancers(ctx, client)
	}
}

// Finish deletes the remaining resources within the time limit. A failed deletion is
// reported, and does not stop the others.
func (c *Cleanup) Finish(ctx context.Context) {
	if !c.wanted.LoadBalancers && !c.wanted.Volumes {
		return
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-cleanupReserve))
		defer cancel()
	}
	client, err := c.cloud(ctx, c.Spec.OpenStack.VIMID)
	if err != nil {
		c.leftBehind("Resources that the cloud provider of "+c.String()+" created", err.Error())
		return
	}
	if c.wanted.LoadBalancers {
		if c.awaitAll(ctx, "load balancers", func() (int, error) { return c.deleteLoadBalancers(ctx, client) }) {
			c.awaitAll(ctx, "security groups", func() (int, error) { return c.deleteSecurityGroups(ctx, client) })
		}
	}
	if c.wanted.Volumes {
		c.awaitAll(ctx, "volumes", func() (int, error) { return c.deleteVolumes(ctx, client) })
	}
}

// awaitAll deletes until no resource is left or the time is over. It reports whether none is left.
func (c *Cleanup) awaitAll(ctx context.Context, what string, remove func() (left int, err error)) bool {
	c.inventory.Progress(ctx, fmt.Sprintf("removing %s that the cloud provider of %s left", what, c.String()))
	left, err := 0, ctx.Err()
	for err == nil {
		if left, err = remove(); err == nil && left == 0 {
			return true
		}
		if err != nil && !openstack.IsConflict(err) {
			break
		}
		// A conflict is a resource with another change in progress.
		err = poll.Sleep(ctx, c.every)
	}
	reason := fmt.Sprintf("%s: %v", what, err)
	if left > 0 {
		reason = fmt.Sprintf("%d %s were left: %v", left, what, err)
	}
	c.leftBehind("Resources that the cloud provider of "+c.String()+" created", reason)
	return false
}

// deleteLoadBalancers deletes the load balancers and returns how many there were.
func (c *Cleanup) deleteLoadBalancers(ctx context.Context, client *openstack.Client) (int, error) {
	all, err := client.ServiceLoadBalancers(ctx, c.Name)
	if err != nil {
		return 0, err
	}
	for _, b := range all {
		if b.Status == "PENDING_DELETE" {
			continue
		}
		if err := client.DeleteLoadBalancer(ctx, b, c.Name); err != nil {
			return len(all), err
		}
	}
	return len(all), nil
}

// deleteSecurityGroups deletes the security groups of Services and returns how many there were.
func (c *Cleanup) deleteSecurityGroups(ctx context.Context, client *openstack.Client) (int, error) {
	all, err := client.ServiceSecurityGroups(ctx, c.Name)
	if err != nil {
		return 0, err
	}
	for _, g := range all {
		if err := client.DeleteSecurityGroup(ctx, g); err != nil {
			return len(all), err
		}
	}
	return len(all), nil
}

// deleteVolumes deletes the volumes and returns how many there were.
func (c *Cleanup) deleteVolumes(ctx context.Context, client *openstack.Client) (int, error) {
	all, err := client.ClusterVolumes(ctx, c.Name)
	if err != nil {
		return 0, err
	}
	for _, v := range all {
		if v.Status == "deleting" {
			continue
		}
		if err := client.DeleteVolume(ctx, v); err != nil {
			return len(all), err
		}
	}
	return len(all), nil
}
