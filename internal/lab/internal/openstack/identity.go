package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Region is the region of a lab.
const Region = "RegionOne"

// The domain of every project and user.
const (
	domainID   = "default"
	DomainName = "Default"
)

// The users of a lab and their projects.
const (
	UserAdmin   = "admin"
	UserNFV     = "nfv_user"
	UserOther   = "other_user"
	userService = "svc"

	projectService = "service"
)

// account is a user with the project that is his.
type account struct {
	User, Project string
	roles         []string
}

// accounts are the users of a lab. The first one is made without Keystone's API, by bootstrapIdentity.
func accounts() []account {
	return []account{
		{User: UserAdmin, Project: "admin", roles: []string{"admin"}},
		{User: userService, Project: projectService, roles: []string{"admin", "service"}},
		{User: UserNFV, Project: "nfv", roles: []string{"member", "reader", "creator", "heat_stack_owner"}},
		{User: UserOther, Project: "other", roles: []string{"member", "reader"}},
	}
}

// bootstrapIdentity makes the first user, who can make everything else, the common roles, and Keystone's entry in the
// catalogue.
func (r root) bootstrapIdentity(ctx context.Context, dir layout.Dir, state *layout.OpenStack) error {
	identity := address(state.Ports, Identity)
	return r.run(ctx, dir, nil, "keystone-manage", "bootstrap",
		"--bootstrap-username", UserAdmin, "--bootstrap-password", state.Passwords[UserAdmin],
		"--bootstrap-project-name", "admin", "--bootstrap-role-name", "admin",
		"--bootstrap-service-name", "keystone", "--bootstrap-region-id", Region,
		"--bootstrap-public-url", identity, "--bootstrap-internal-url", identity, "--bootstrap-admin-url", identity)
}

// fillIdentity makes the projects and users of a lab, and the catalogue.
func fillIdentity(ctx context.Context, c *client, state *layout.OpenStack, chosen []service) error {
	roles := map[string]string{}
	for _, account := range accounts() {
		for _, role := range account.roles {
			if roles[role] != "" {
				continue
			}
			id, err := c.ensure(ctx, "role", url.Values{}, map[string]any{"name": role})
			if err != nil {
				return fmt.Errorf("making role %s: %w", role, err)
			}
			roles[role] = id
		}
	}
	for _, account := range accounts() {
		if err := makeAccount(ctx, c, account, state.Passwords[account.User], roles); err != nil {
			return fmt.Errorf("making user %s: %w", account.User, err)
		}
	}
	for _, s := range chosen {
		if s.kind == Identity || s.internal {
			continue
		}
		for _, kind := range s.kinds() {
			if err := enterCatalogue(ctx, c, state, s, kind); err != nil {
				return fmt.Errorf("entering %s into the catalogue: %w", s.name, err)
			}
		}
	}
	return nil
}

func makeAccount(ctx context.Context, c *client, account account, password string, roles map[string]string) error {
	domain := url.Values{"domain_id": {domainID}}
	project, err := c.ensure(ctx, "project", domain, map[string]any{"name": account.Project, "domain_id": domainID})
	if err != nil {
		return err
	}
	user, err := c.ensure(ctx, "user", domain,
		map[string]any{"name": account.User, "domain_id": domainID, "password": password, "default_project_id": project})
	if err != nil {
		return err
	}
	for _, role := range account.roles {
		grant := fmt.Sprintf("%s/v3/projects/%s/users/%s/roles/%s", c.identity, project, user, roles[role])
		if _, err := c.call(ctx, http.MethodPut, grant, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// enterCatalogue enters a service and its address into the catalogue, as one of a kind.
func enterCatalogue(ctx context.Context, c *client, state *layout.OpenStack, s service, kind string) error {
	id, err := c.create(ctx, "service", map[string]any{"type": kind, "name": s.name})
	if err != nil {
		return err
	}
	for _, side := range []string{"public", "internal", "admin"} {
		_, err := c.create(ctx, "endpoint",
			map[string]any{"service_id": id, "interface": side, "region_id": Region, "url": endpoint(state.Ports, s)})
		if err != nil {
			return err
		}
	}
	return nil
}

// answers reports whether a service answers at all: a request without a token may well be refused.
func answers(ctx context.Context, address string) error {
	c := &client{http: &http.Client{Timeout: requestTimeout}}
	_, err := c.call(ctx, http.MethodGet, address+"/", nil, nil)
	var status *statusError
	if errors.As(err, &status) && status.code < http.StatusInternalServerError {
		return nil
	}
	return err
}
