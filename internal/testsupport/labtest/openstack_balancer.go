package labtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loadBalancerPatience is how long a load balancer may take on a busy machine.
const loadBalancerPatience = 2 * time.Minute

// loadBalancerRole is the role that Octavia asks of who makes load balancers.
const loadBalancerRole = "load-balancer_member"

// envLoadBalancers is the environment variable with which the tests of load balancers run.
const envLoadBalancers = "VNF_LOAD_BALANCERS"

// OpenStackLoadBalancers is OpenStackServers for a lab with Octavia, whose load balancers are
// HAProxies at their addresses. The first test that needs them has the lab start it. One test at
// a time has load balancers, in all processes together, so that it can end their programs. They
// cost minutes of processor time, so that only `make test-balancers` runs these tests.
func OpenStackLoadBalancers(t testing.TB) OpenStackEnv {
	t.Helper()
	NotShort(t, "a lab")
	if os.Getenv(envLoadBalancers) == "" {
		t.Skip("`make test-balancers` runs it")
	}
	env := OpenStackServers(t)
	unlock, err := lockFile(t.Context(), filepath.Join(env.Dir, "balancers.lock"))
	require.NoError(t, err, "waiting for another test that has load balancers")
	t.Cleanup(unlock)
	env, err = withLab(openStackTimeout, func(ctx context.Context, binary string) (OpenStackEnv, error) {
		return startOpenStack(ctx, binary, env.Dir, "--services", "load-balancer")
	})
	if err != nil {
		Missing(t, fmt.Sprintf("OpenStack lab: %v", err))
	}
	return env
}

// memberRoles are the roles of a user who may do in his project what nfv_user may in his.
func (e OpenStackEnv) memberRoles() []string {
	roles := []string{"member", "reader", "creator", "heat_stack_owner"}
	if e.Endpoints["load-balancer"] != "" {
		roles = append(roles, loadBalancerRole)
	}
	return roles
}

// LoadBalancer is what Octavia says of one.
type LoadBalancer struct {
	ID, Name     string
	Address      string `json:"vip_address"`
	Port         string `json:"vip_port_id"`
	Provisioning string `json:"provisioning_status"`
	Operating    string `json:"operating_status"`
}

// LoadBalancers are those of the project of a user of NewProject.
func (e OpenStackEnv) LoadBalancers(t testing.TB, user OpenStackUser) []LoadBalancer {
	t.Helper()
	var list struct{ LoadBalancers []LoadBalancer }
	e.Get(t, "load-balancer", "/v2.0/lbaas/loadbalancers?project_id="+user.projectID, &list)
	return list.LoadBalancers
}

// Ports are the identifiers of the ports of the project of a user of NewProject.
func (e OpenStackEnv) Ports(t testing.TB, user OpenStackUser) []string {
	t.Helper()
	var list struct{ Ports []struct{ ID string } }
	e.Get(t, "network", "/v2.0/ports?project_id="+user.projectID, &list)
	var ids []string
	for _, port := range list.Ports {
		ids = append(ids, port.ID)
	}
	return ids
}

// NewRouter makes a router from the subnets of a project to the external network, so that their
// addresses can have floating ones. It is gone when the test is over.
func (e OpenStackEnv) NewRouter(t testing.TB, user OpenStackUser, subnets ...string) {
	t.Helper()
	admin := e.at(t, "network")
	var made struct{ Router struct{ ID string } }
	admin.call(t, http.MethodPost, "/v2.0/routers", map[string]any{"router": map[string]any{
		"project_id": user.projectID, "external_gateway_info": map[string]any{"network_id": e.Networks["public"]},
	}}, &made)
	path := "/v2.0/routers/" + made.Router.ID
	admin.removeLater(t, path)
	for _, subnet := range subnets {
		interfaceOf := map[string]any{"subnet_id": subnet}
		admin.call(t, http.MethodPut, path+"/add_router_interface", interfaceOf, nil)
		t.Cleanup(func() { admin.call(t, http.MethodPut, path+"/remove_router_interface", interfaceOf, nil) })
	}
}

// NewServerOf has Nova make a server in the project of a user, and returns its identifier and its first address. It is gone when the
// test is over.
func (e OpenStackEnv) NewServerOf(t testing.TB, user OpenStackUser, wanted map[string]any) (id, address string) {
	t.Helper()
	var made struct{ Server struct{ ID string } }
	e.PostAs(t, user, "compute", "/servers", map[string]any{"server": wanted}, &made)
	path := "/servers/" + made.Server.ID
	t.Cleanup(func() { e.DeleteServer(t, made.Server.ID) })
	Eventually(t, loadBalancerPatience, "server "+made.Server.ID, func() error {
		var got struct {
			Server struct {
				Status    string
				Addresses map[string][]struct{ Addr string }
			}
		}
		e.Get(t, "compute", path, &got)
		for _, addresses := range got.Server.Addresses {
			address = addresses[0].Addr
		}
		if got.Server.Status != "ACTIVE" || address == "" {
			return fmt.Errorf("it is %s", got.Server.Status)
		}
		return nil
	})
	return made.Server.ID, address
}

// DeleteServer deletes a server, if it is there, and returns when it is gone; a test that ends may use it too.
func (e OpenStackEnv) DeleteServer(t testing.TB, id string) {
	t.Helper()
	c, path := e.at(t, "compute"), "/servers/"+id
	e.Delete(t, "compute", path)
	ctx := context.WithoutCancel(t.Context())
	Eventually(t, loadBalancerPatience, "the end of server "+id, func() error {
		if _, err := c.try(ctx, http.MethodGet, path, nil, nil); !isStatus(err, http.StatusNotFound) {
			return fmt.Errorf("it is there (%w)", err)
		}
		return nil
	})
}
