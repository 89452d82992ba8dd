package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Heat makes users of its own, for resources that call back, in a domain that it administers.
const (
	stackDomain = "heat"
	stackUser   = "heat_domain_admin"
)

// fillOrchestration makes the domain of Heat's users, and its administrator.
func fillOrchestration(ctx context.Context, f *filling) error {
	domain, err := f.admin.create(ctx, "domain", map[string]any{"name": stackDomain})
	if err != nil {
		return fmt.Errorf("making domain %s: %w", stackDomain, err)
	}
	user, err := f.admin.create(ctx, "user", map[string]any{"name": stackUser, "domain_id": domain, "password": f.state.Passwords[userService]})
	if err != nil {
		return fmt.Errorf("making user %s: %w", stackUser, err)
	}
	role, err := f.admin.ensure(ctx, "role", url.Values{}, map[string]any{"name": "admin"})
	if err != nil {
		return fmt.Errorf("looking for role admin: %w", err)
	}
	if _, err := f.admin.call(ctx, http.MethodPut, fmt.Sprintf("%s/v3/domains/%s/users/%s/roles/%s", f.admin.identity, domain, user, role), nil, nil); err != nil {
		return fmt.Errorf("giving user %s his domain: %w", stackUser, err)
	}
	if _, err := f.admin.ensure(ctx, "role", url.Values{}, map[string]any{"name": "heat_stack_user"}); err != nil {
		return fmt.Errorf("making role heat_stack_user: %w", err)
	}
	return nil
}
