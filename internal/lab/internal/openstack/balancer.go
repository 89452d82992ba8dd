package openstack

import (
	"context"
	"fmt"
	"net/url"
)

// roleLoadBalancer is the role that Octavia asks of who makes load balancers.
const roleLoadBalancer = "load-balancer_member"

// fillLoadBalancer lets the NFV user make load balancers.
func fillLoadBalancer(ctx context.Context, f *filling) error {
	for _, account := range accounts() {
		if account.User != UserNFV {
			continue
		}
		account.roles = []string{roleLoadBalancer}
		role, err := f.admin.ensure(ctx, "role", url.Values{}, map[string]any{"name": roleLoadBalancer})
		if err != nil {
			return fmt.Errorf("making role %s: %w", roleLoadBalancer, err)
		}
		if err := makeAccount(ctx, f.admin, account, f.state.Passwords[UserNFV], map[string]string{roleLoadBalancer: role}); err != nil {
			return fmt.Errorf("giving user %s role %s: %w", UserNFV, roleLoadBalancer, err)
		}
	}
	return nil
}
