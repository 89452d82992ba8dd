package instance_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloud is an OpenStack with all its services, a store, and the configurations over them.
type cloud struct {
	testing.TB
	env    labtest.OpenStackEnv
	store  acctest.Store
	client *openstack.Client
	heard  heard
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	t.Parallel()
	acctest.PreCheck(t)
	env := labtest.OpenStackCompute(t)
	user := env.Users[labtest.OpenStackNFV]
	client, err := openstack.New(openstack.Config{
		VIM: "cloud",
		Connection: vnfm.OpenStackConnection{
			AuthURL: env.AuthURL, Region: env.Region, Username: user.Name, UserDomainName: env.Domain, ProjectName: user.Project, ProjectDomainName: env.Domain,
		},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &cloud{TB: t, env: env, store: acctest.NewStore(t), client: client}
}

// vim is a vnf_vim "test" that is the cloud.
func (c *cloud) vim() string {
	user := c.env.Users[labtest.OpenStackNFV]
	return fmt.Sprintf(`
resource "vnf_vim" "test" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    password            = %q
    project_name        = %q
    user_domain_name    = %q
    project_domain_name = %q
  }
}
`, c.env.AuthURL, c.env.Region, user.Name, user.Password, user.Project, c.env.Domain, c.env.Domain)
}

// firewall is a whole configuration over the example package "firewall".
func (c *cloud) firewall(flavour string, arguments ...string) string {
	return c.over(examplePackage(c, "firewall"), flavour, c.link("net_mgmt", "net0"), arguments...)
}

// link connects the external connection points to networks of the cloud.
func (c *cloud) link(control, outside string) string {
	return c.linkIDs(c.env.Networks[control], c.env.Networks[outside])
}

// links connects the firewall to a network by its id.
func (c *cloud) links(outside string) string { return c.linkIDs(c.env.Networks["net_mgmt"], outside) }

func (c *cloud) linkIDs(control, outside string) string {
	return fmt.Sprintf("ext_virtual_links = {\n    control = { resource_id = %q, ext_cps = { TG_CP1 = {} } }\n    outside = { resource_id = %q, ext_cps = { FW_CP1 = {} } }\n  }",
		control, outside)
}

func (c *cloud) over(source, flavour, links string, arguments ...string) string {
	return c.store.Config(c.vim(), pkg(source), fmt.Sprintf(`
resource "vnf_instance" "test" {
  name       = "fw"
  vim_id     = vnf_vim.test.id
  package_id = vnf_package.test.id
  flavour_id = %q
  %s
  %s
}
`, flavour, links, strings.Join(arguments, "\n  ")))
}

// manager can look at what the instance has on the cloud.
func (c *cloud) manager() vnfm.Manager {
	return c.store.Manager(c, map[vnfm.VIMType]vnfm.InfraDriver{vnfm.VIMTypeOpenStack: heat.New(openstack.NewPool("test"))})
}

// records are the instances that the store knows.
func (c *cloud) records() []vnfm.Instance {
	c.Helper()
	all, err := c.store.Manager(c).Instances(c.Context(), vnfm.InstanceFilter{})
	if err != nil {
		c.Fatal(err)
	}
	return all
}

// vnfcs are the servers of the instance by VDU.
func (c *cloud) vnfcs() map[string][]vnfm.VNFC {
	c.Helper()
	all := c.records()
	if len(all) != 1 {
		c.Fatalf("the store has %d instances", len(all))
	}
	list, err := c.manager().VNFCs(c.Context(), all[0].ID)
	if err != nil {
		c.Fatal(err)
	}
	out := map[string][]vnfm.VNFC{}
	for _, v := range list {
		out[v.VDUID] = append(out[v.VDUID], v)
	}
	return out
}

// whole checks that all objects are as the plan said and that Nova has what it should.
func (c *cloud) whole(counts map[string]int) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		found := map[string]int{}
		for vdu, list := range c.vnfcs() {
			found[vdu] = len(list)
			for _, v := range list {
				if !v.Ready || len(v.Addresses) == 0 {
					return fmt.Errorf("VNFC %s is %s (%s) at %v", v.ID, v.State, v.Message, v.Addresses)
				}
			}
		}
		if !maps.Equal(found, counts) {
			return fmt.Errorf("VNFCs: %v, want %v", found, counts)
		}
		for key, digest := range state.RootModule().Resources[address].Primary.Attributes {
			if strings.HasPrefix(key, "objects.OS::") && !strings.HasPrefix(digest, "sha256:") {
				return fmt.Errorf("%s is %s", key, digest)
			}
		}
		return nil
	}
}

// nothingIsLeft checks that neither the stack of an instance nor a record is there.
func (c *cloud) nothingIsLeft(id string) error {
	stack, err := c.client.FindStack(context.WithoutCancel(c.Context()), "vnf-"+id)
	if err == nil && stack != nil {
		err = fmt.Errorf("stack %s is %s", stack.Name, stack.Status)
	}
	return err
}

// deleteServer deletes a server behind the back of Heat and waits until it is gone.
func (c *cloud) deleteServer(id string) {
	c.Helper()
	c.env.Delete(c, "compute", "/servers/"+id)
	c.until("the server to be gone", func(servers map[string]*openstack.Server) bool { return servers[id] == nil })
}

// until waits for something that Nova does.
func (c *cloud) until(what string, done func(map[string]*openstack.Server) bool) {
	c.Helper()
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		servers, err := c.client.Servers(c.Context())
		if err != nil {
			c.Fatal(err)
		}
		if done(servers) {
			return
		}
		select {
		case <-c.Context().Done():
			c.Fatal("waiting for " + what)
		case <-ticker.C:
		}
	}
}

// TestAccInstance_openStack takes a VNF of servers through its life, in both styles of
// template and without any.
func TestAccInstance_openStack(t *testing.T) {
	c := newCloud(t)
	level := func(n int) string { return fmt.Sprintf("scale_levels = { fw = %d }", n) }
	replicas := func(vdu string, n int64) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New("vdus").AtMapKey(vdu).AtMapKey("replicas"), knownvalue.Int64Exact(n))
	}
	update := func(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
		checks = append(checks, plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate))
		return resource.ConfigPlanChecks{PreApply: checks, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	}
	var id string
	var before map[string][]vnfm.VNFC
	remember := func() { before = c.vnfcs() }
	survivors := func(vdu string, n int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			var stay []string
			for _, v := range c.vnfcs()[vdu] {
				if slices.ContainsFunc(before[vdu], func(b vnfm.VNFC) bool { return b.ID == v.ID }) {
					stay = append(stay, v.ID)
				}
			}
			if len(stay) != n {
				return fmt.Errorf("of VDU %s %v are what they were, want %d; before: %+v", vdu, stay, n, before[vdu])
			}
			return nil
		}
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.heard.factories(),
		CheckDestroy:             func(*terraform.State) error { return c.nothingIsLeft(id) },
		Steps: []resource.TestStep{
			{
				Config: c.firewall("simple"),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{replicas("FW", 1), replicas("TG", 1)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("namespace"), knownvalue.StringExact("")),
				},
				Check: also(c.whole(map[string]int{"FW": 1, "TG": 1}), func(*terraform.State) error {
					id = c.records()[0].ID
					return nil
				}),
			},
			{
				PreConfig:        remember,
				Config:           c.firewall("simple", level(2)),
				ConfigPlanChecks: update(replicas("FW", 3)),
				Check:            also(c.whole(map[string]int{"FW": 3, "TG": 1}), survivors("FW", 1), survivors("TG", 1)),
			},
			{
				// The newest goes.
				PreConfig:        remember,
				Config:           c.firewall("simple", level(1)),
				ConfigPlanChecks: update(replicas("FW", 2)),
				Check:            also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 2)),
			},
			{
				// A server that somebody deletes is replaced, with its addresses.
				PreConfig: func() {
					remember()
					c.deleteServer(strings.TrimPrefix(before["FW"][0].ID, "FW-"))
				},
				Config:           c.firewall("simple", level(1)),
				ConfigPlanChecks: update(),
				Check: also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 1), func(*terraform.State) error {
					for _, v := range c.vnfcs()["FW"] {
						if !slices.ContainsFunc(before["FW"], func(b vnfm.VNFC) bool { return slices.Equal(b.Addresses, v.Addresses) }) {
							return fmt.Errorf("VNFC %s has the addresses %v", v.ID, v.Addresses)
						}
					}
					return nil
				}),
			},
			{
				// One that somebody turns off is turned on.
				PreConfig: func() {
					remember()
					id := strings.TrimPrefix(before["FW"][0].ID, "FW-")
					c.env.Post(c, "compute", "/servers/"+id+"/action", map[string]any{"os-stop": nil}, nil)
					c.until("the server to be off", func(s map[string]*openstack.Server) bool {
						return s[id] != nil && s[id].Status == openstack.ServerShutoff
					})
				},
				Config:           c.firewall("simple", level(1)),
				ConfigPlanChecks: update(),
				Check:            also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 2)),
			},
			{
				PreConfig:        remember,
				Config:           c.firewall("simple", level(1), `heal = { trigger = "1", vdu_ids = ["FW"] }`),
				ConfigPlanChecks: update(),
				Check:            also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 0), survivors("TG", 1)),
			},
			{
				PreConfig:        remember,
				Config:           c.firewall("simple", level(1), `operational_state = "stopped"`),
				ConfigPlanChecks: update(replicas("FW", 0)),
				Check: func(*terraform.State) error {
					for _, v := range c.vnfcs()["FW"] {
						if v.State != openstack.ServerShutoff {
							return fmt.Errorf("VNFC %s is %s", v.ID, v.State)
						}
					}
					return survivors("FW", 2)(nil)
				},
			},
			{
				Config:           c.firewall("simple", level(1)),
				ConfigPlanChecks: update(replicas("FW", 2)),
				Check:            also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 2)),
			},
			{
				// External connection points move to other networks.
				Config:           c.over(examplePackage(c, "firewall"), "simple", c.link("net_mgmt", "net1"), level(1)),
				ConfigPlanChecks: update(),
				Check:            c.whole(map[string]int{"FW": 2, "TG": 1}),
			},
			{
				// The same VNF out of a group.
				Config:           c.firewall("group", level(1)),
				ConfigPlanChecks: update(replicas("FW", 2)),
				Check:            c.whole(map[string]int{"FW": 2, "TG": 1}),
			},
			{
				PreConfig:        remember,
				Config:           c.firewall("group", level(2)),
				ConfigPlanChecks: update(replicas("FW", 3)),
				Check:            also(c.whole(map[string]int{"FW": 3, "TG": 1}), survivors("FW", 2)),
			},
			{
				PreConfig:        remember,
				Config:           c.firewall("group", level(1)),
				ConfigPlanChecks: update(replicas("FW", 2)),
				Check: also(c.whole(map[string]int{"FW": 2, "TG": 1}), survivors("FW", 2), func(*terraform.State) error {
					newest := before["FW"][2].ID
					if slices.ContainsFunc(c.vnfcs()["FW"], func(v vnfm.VNFC) bool { return v.ID == newest }) {
						return fmt.Errorf("the newest VNFC %s is still there", newest)
					}
					return nil
				}),
			},
			{
				// Without a template the VNFD says it all.
				Config:           c.firewall("plain", level(1)),
				ConfigPlanChecks: update(replicas("FW", 2)),
				Check:            c.whole(map[string]int{"FW": 2, "TG": 1}),
			},
			{
				ResourceName:            address,
				ImportState:             true,
				ImportStateVerify:       true,
				ImportStateVerifyIgnore: []string{"scale_levels", "ext_virtual_links", "timeouts"},
			},
		},
	})
}
