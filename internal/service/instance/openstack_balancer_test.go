package instance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_openStackLoadBalancer has the template of a package put the firewalls of a group behind a load balancer of Octavia:
// all of them answer at its address, those too that a scale adds, and nothing of it is left in the end.
func TestAccInstance_openStackLoadBalancer(t *testing.T) {
	c := newCloudOf(t, func(t testing.TB) labtest.OpenStackEnv {
		lab := labtest.OpenStackLoadBalancers(t)
		labtest.OpenStackStacks(t)
		return lab
	})
	config := func(levels int) string {
		return c.configFor(balancedPackage(t), "group", c.links(c.openstack.Networks["net0"]), level(levels))
	}
	empty := []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy: func(*terraform.State) error {
			ports := c.openstack.Ports(t, c.user)
			if left := c.openstack.LoadBalancers(t, c.user); len(left) > 0 || len(ports) > 0 {
				return fmt.Errorf("left are load balancers %v and ports %v", left, ports)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{
				Config:           config(1),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{countOf("FW", 2)}, PostApplyPostRefresh: empty},
				Check:            c.balances(2),
			},
			{
				Config:           config(2),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{countOf("FW", 3)}, PostApplyPostRefresh: empty},
				Check:            c.balances(3),
			},
		},
	})
}

// balancedPackage is the example package whose firewalls answer on port 80, and are the members of a load balancer.
func balancedPackage(t *testing.T) string {
	t.Helper()
	const top, nested = "BaseHOT/group/firewall.yaml", "BaseHOT/group/nested/FW.yaml"
	dir := acctest.CopyPackage(t, "firewall")
	acctest.Edit(t, dir, top, "          apart: { get_resource: apart }\n", "          apart: { get_resource: apart }\n          pool: { get_resource: pool }\n")
	acctest.Edit(t, dir, top, "\noutputs:\n", `
  balancer:
    type: OS::Octavia::LoadBalancer
    properties: { vip_subnet: net0-subnet }

  listener:
    type: OS::Octavia::Listener
    properties: { loadbalancer: { get_resource: balancer }, protocol: TCP, protocol_port: 80 }

  pool:
    type: OS::Octavia::Pool
    properties: { listener: { get_resource: listener }, protocol: TCP, lb_algorithm: ROUND_ROBIN }

  monitor:
    type: OS::Octavia::HealthMonitor
    properties: { pool: { get_resource: pool }, type: TCP, delay: 1, timeout: 1, max_retries: 1 }

outputs:
`)
	acctest.Edit(t, dir, nested, "\nresources:\n", `  pool: { type: string }

resources:
  FW_member:
    type: OS::Octavia::PoolMember
    properties:
      pool: { get_param: pool }
      address: { get_attr: [FW_CP1, fixed_ips, 0, ip_address] }
      protocol_port: 80

`)
	acctest.Edit(t, dir, nested, "      image: { get_param: image }\n", `      image: { get_param: image }
      user_data_format: RAW
      user_data: |
        #!/bin/sh
        mkdir -p /var/www && cd /var/www && hostname >index.html && exec setsid python3 -m http.server 80 >/dev/null 2>&1 &
`)
	acctest.Hash(t, dir)
	return dir
}

// balances waits until so many servers answer at the address of the only load balancer, whose listener, pool and members Octavia shows.
func (c *cloud) balances(servers int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		all := c.openstack.LoadBalancers(c, c.user)
		if len(all) != 1 {
			return fmt.Errorf("the project has the load balancers %v", all)
		}
		if found := c.vnfcs()["FW"]; len(found) != servers {
			return fmt.Errorf("the firewalls are %v", found)
		}
		labtest.Eventually(c, time.Minute, fmt.Sprintf("the answers of %d servers", servers), func() error {
			said := map[string]bool{}
			for range 2 * servers {
				text, err := labtest.Fetch(c.Context(), "http://"+all[0].Address+"/")
				if err != nil {
					return err
				}
				said[text] = true
			}
			if len(said) != servers {
				return fmt.Errorf("answers came from %v", said)
			}
			return nil
		})
		return nil
	}
}
