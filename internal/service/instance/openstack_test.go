package instance_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
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
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// cloud is an OpenStack with all its services, a store, and the configurations over them.
type cloud struct {
	testing.TB
	openstack labtest.OpenStackEnv
	// user is the only one of a project that the test has for itself.
	user        labtest.OpenStackUser
	store       acctest.Store
	client      *openstack.Client
	diagnostics acctest.Diagnostics
	// meter counts what the provider asks of the cloud.
	meter *labtest.OpenStackMeter
	// before are the VNFCs that there were when the test looked last, disks the volumes of the firewalls.
	before map[string][]vnfm.VNFC
	disks  []string
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	return newCloudOf(t, labtest.OpenStackStacks)
}

// newCloudOf is newCloud with a lab that has more.
func newCloudOf(t *testing.T, lab func(testing.TB) labtest.OpenStackEnv) *cloud {
	t.Helper()
	t.Parallel()
	acctest.PreCheck(t)
	env := lab(t)
	user := env.NewProject(t)
	client, err := openstack.New(openstack.Config{
		VIM: "cloud",
		Connection: vnfm.OpenStackConnection{
			AuthURL: env.AuthURL, Region: env.Region, Username: user.Name, UserDomainName: env.Domain, ProjectName: user.Project, ProjectDomainName: env.Domain,
		},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: vnfm.Secret(user.Password)},
	})
	require.NoError(t, err)
	return &cloud{TB: t, openstack: env, user: user, store: acctest.NewStore(t), client: client, meter: env.Meter(t)}
}

// vim is a vnf_vim "test" that is the cloud.
func (c *cloud) vim() string {
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
`, c.meter.AuthURL, c.openstack.Region, c.user.Name, c.user.Password, c.user.Project, c.openstack.Domain, c.openstack.Domain)
}

// firewall is a whole configuration over the example package "firewall".
func (c *cloud) firewall(flavour string, arguments ...string) string {
	return c.configFor(examplePackage(c, "firewall"), flavour, c.links(c.openstack.Networks["net0"]), arguments...)
}

// links connects the external connection points to networks of the cloud: that of the
// firewall to the one with the id.
func (c *cloud) links(outside string) string {
	return fmt.Sprintf("ext_virtual_links = {\n    control = { resource_id = %q, ext_cps = { TG_CP1 = {} } }\n    outside = { resource_id = %q, ext_cps = { FW_CP1 = {} } }\n  }",
		c.openstack.Networks["net_mgmt"], outside)
}

func (c *cloud) configFor(source, flavour, links string, arguments ...string) string {
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
	return c.store.Manager(c, map[vnfm.VIMType]vnfm.InfraDriver{
		vnfm.VIMTypeOpenStack: heat.New(openstack.NewPool("test")), vnfm.VIMTypeKubernetes: kubernetes.New(kube.NewPool("test")),
	})
}

// records are the instances that the store knows.
func (c *cloud) records() []vnfm.Instance {
	c.Helper()
	all, err := c.store.Manager(c).Instances(c.Context(), vnfm.InstanceFilter{})
	require.NoError(c, err)
	return all
}

// vnfcs are the servers of the instance by VDU. An instance on the cluster that they are comes after it.
func (c *cloud) vnfcs() map[string][]vnfm.VNFC {
	c.Helper()
	all := c.records()
	if len(all) == 0 {
		c.Fatal("the store has no instance")
	}
	has, err := c.manager().Resources(c.Context(), all[0].ID)
	require.NoError(c, err)
	out := map[string][]vnfm.VNFC{}
	for _, v := range has.VNFCs {
		out[v.VDUID] = append(out[v.VDUID], v)
	}
	return out
}

// checkBackend checks that all objects are as the plan said and that Nova has what it should.
func (c *cloud) checkBackend(counts map[string]int) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		found := map[string]int{}
		for vdu, list := range c.vnfcs() {
			found[vdu] = len(list)
			for _, v := range list {
				if !v.Ready || len(v.Addresses) == 0 {
					return fmt.Errorf("VNFC %s is %s (%s) at %v", v.ID, v.State, v.Message, v.Addresses)
				}
				if err := checkAddresses(v); err != nil {
					return err
				}
			}
		}
		if !maps.Equal(found, counts) {
			return fmt.Errorf("VNFCs: %v, want %v", found, counts)
		}
		if disks := c.volumes(); len(disks) != counts["FW"] {
			return fmt.Errorf("the firewalls have volumes %v, and not one each", disks)
		}
		if n := state.RootModule().Resources[address].Primary.Attributes["drift.#"]; n != "" && n != "0" {
			return fmt.Errorf("%s objects have drifted", n)
		}
		return nil
	}
}

// checkAddresses checks that the addresses of a VNFC are those of its connection points.
func checkAddresses(v vnfm.VNFC) error {
	var all []string
	for point, addresses := range v.ConnectionPoints {
		if !strings.HasPrefix(point, v.VDUID+"_CP") || len(addresses) == 0 {
			return fmt.Errorf("connection point %s of VNFC %s has %v", point, v.ID, addresses)
		}
		all = append(all, addresses...)
	}
	if slices.Sort(all); !slices.Equal(all, slices.Sorted(slices.Values(v.Addresses))) {
		return fmt.Errorf("VNFC %s has the addresses %v, and at its connection points %v", v.ID, v.Addresses, v.ConnectionPoints)
	}
	return nil
}

// linked checks that the internal network of the VNF is one that Neutron has.
func (c *cloud) linked(*terraform.State) error {
	has, err := c.manager().Resources(c.Context(), c.records()[0].ID)
	if err != nil {
		return err
	}
	var list struct{ Networks []struct{ ID, Name string } }
	c.openstack.Get(c, "network", "/v2.0/networks", &list)
	for _, n := range list.Networks {
		if id := has.VirtualLinks["inside"]; id != "" && n.ID == id {
			return nil
		}
	}
	return fmt.Errorf("of the virtual links %v Neutron has none, but %v", has.VirtualLinks, list.Networks)
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
	c.openstack.Delete(c, "compute", "/servers/"+id)
	c.until("the server to be gone", func(servers map[string]*openstack.Server) bool { return servers[id] == nil })
}

// intrude adds a resource to the stack, as somebody with Heat's own tools would.
func (c *cloud) intrude() {
	c.Helper()
	stack, err := c.client.FindStack(c.Context(), "vnf-"+c.records()[0].ID)
	require.NoError(c, err)
	content, err := c.client.ReadStack(c.Context(), stack)
	require.NoError(c, err)
	resources, _ := content.Template["resources"].(map[string]any)
	resources["intruder"] = map[string]any{"type": "OS::Heat::RandomString"}
	require.NoError(c, c.client.UpdateStack(c.Context(), stack.ID, openstack.StackRequest{Name: stack.Name, StackContent: *content}))
	c.until("the end of the update", func(map[string]*openstack.Server) bool {
		now, err := c.client.FindStack(c.Context(), stack.Name)
		return err == nil && !now.InProgress() && now.UpdatedAt != stack.UpdatedAt
	})
}

// until waits for something that Nova does.
func (c *cloud) until(what string, done func(map[string]*openstack.Server) bool) {
	c.Helper()
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		servers, err := c.client.Servers(c.Context())
		require.NoError(c, err)
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

// level is the scale level of the firewall, less one the number of its VNFCs.
func level(n int) string { return fmt.Sprintf("scale_levels = { fw = %d }", n) }

// zones are the availability zones for servers.
func zones(names ...string) string {
	return `availability_zones = ["` + strings.Join(names, `", "`) + `"]`
}

// movedFrom checks that a warning tells of the firewall, and nothing else does, that a zone had no place for it.
func (c *cloud) movedFrom(zone string) resource.TestCheckFunc {
	return func(state *terraform.State) error {
		for _, v := range c.vnfcs()["FW"] {
			if v.Zone != "nova" {
				return fmt.Errorf("VNFC %s is in availability zone %q", v.ID, v.Zone)
			}
		}
		return c.diagnostics.HasWarning(`^VNFCs of "fw" went to another availability zone: FW-0: FW-0 is in availability zone "nova": availability zone "` + zone + `" answered "No valid host was found[^"]*"\nThey stay there\.$`)(state)
	}
}

// countOf checks how many VNFCs of a VDU the plan announces.
func countOf(vdu string, n int64) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey(vdu), knownvalue.Int64Exact(n))
}

// updatesInPlace checks that the plan updates the instance, and that nothing is left to be done afterwards.
func updatesInPlace(checks ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	checks = append(checks, plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate))
	return resource.ConfigPlanChecks{PreApply: checks, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

// remember notes which VNFCs there are, for survivors.
func (c *cloud) remember() { c.before, c.disks = c.vnfcs(), c.volumes() }

// volumes are those of the firewalls.
func (c *cloud) volumes() []string {
	c.Helper()
	var ids []string
	for _, v := range c.vnfcs()["FW"] {
		ids = append(ids, v.Volumes...)
	}
	slices.Sort(ids)
	return ids
}

// otherVolumes checks that the firewalls have none of the volumes that they had at remember,
// and that those are gone.
func (c *cloud) otherVolumes(*terraform.State) error {
	there := c.allVolumes()
	for _, id := range c.disks {
		if there[id] != "" {
			return fmt.Errorf("volume %s is still %s", id, there[id])
		}
	}
	return nil
}

// volumesAreLeft checks that the volumes of the firewalls that there were at remember outlive
// the stack, and deletes them.
func (c *cloud) volumesAreLeft() error {
	there := c.allVolumes()
	for _, id := range c.disks {
		if there[id] != "available" {
			return fmt.Errorf("volume %s was to be kept and is %q", id, there[id])
		}
		c.openstack.Delete(c, "block-storage", "/volumes/"+id)
	}
	return nil
}

// allVolumes are the statuses of the volumes that Cinder has, by id.
func (c *cloud) allVolumes() map[string]string {
	c.Helper()
	var list struct{ Volumes []struct{ ID, Status string } }
	c.openstack.Get(c, "block-storage", "/volumes/detail?all_tenants=1", &list)
	out := map[string]string{}
	for _, v := range list.Volumes {
		out[v.ID] = v.Status
	}
	return out
}

// sameVolumes checks that the firewalls have the volumes that they had at remember.
func (c *cloud) sameVolumes(*terraform.State) error {
	if now := c.volumes(); !slices.Equal(now, c.disks) {
		return fmt.Errorf("the firewalls have volumes %v, and had %v", now, c.disks)
	}
	return nil
}

// takeParts deletes a port of the first VNFC of a VDU and detaches its volumes, behind the back of Heat, and waits until they are gone.
func (c *cloud) takeParts(vdu string) {
	c.Helper()
	v := c.vnfcs()[vdu][0]
	id := strings.TrimPrefix(v.ID, vdu+"-")
	var list struct{ Ports []struct{ ID string } }
	c.openstack.Get(c, "network", "/v2.0/ports?device_id="+id, &list)
	c.openstack.Delete(c, "network", "/v2.0/ports/"+list.Ports[0].ID)
	for _, volume := range v.Volumes {
		c.openstack.Delete(c, "compute", "/servers/"+id+"/os-volume_attachments/"+volume)
	}
	c.until("the volumes to be detached", func(servers map[string]*openstack.Server) bool { return len(servers[id].Volumes) == 0 })
}

// connected checks that each VNFC of a VDU has addresses at n connection points.
func (c *cloud) connected(vdu string, n int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		for _, v := range c.vnfcs()[vdu] {
			if len(v.ConnectionPoints) != n {
				return fmt.Errorf("VNFC %s has %v, want %d connection points", v.ID, v.ConnectionPoints, n)
			}
		}
		return nil
	}
}

// survivors checks how many VNFCs of a VDU are what they were at remember.
func (c *cloud) survivors(vdu string, n int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		var stay []string
		for _, v := range c.vnfcs()[vdu] {
			if slices.ContainsFunc(c.before[vdu], func(b vnfm.VNFC) bool { return b.ID == v.ID }) {
				stay = append(stay, v.ID)
			}
		}
		if len(stay) != n {
			return fmt.Errorf("of VDU %s %v are what they were, want %d; before: %+v", vdu, stay, n, c.before[vdu])
		}
		return nil
	}
}

// gone checks that a VNFC of a VDU is not there, by its place in the order of age at
// remember.
func (c *cloud) gone(vdu string, place int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		id := c.before[vdu][place].ID
		if slices.ContainsFunc(c.vnfcs()[vdu], func(v vnfm.VNFC) bool { return v.ID == id }) {
			return fmt.Errorf("VNFC %s is still there", id)
		}
		return nil
	}
}

// watch looks from now on how many servers of a VDU are at work, and the check that it
// returns expects at least so many at every moment.
func (c *cloud) watch(vdu string, least int) resource.TestCheckFunc {
	ctx, stop := context.WithCancel(c.Context())
	fewest := make(chan int, 1)
	go func() {
		found := 1 << 10
		for ctx.Err() == nil {
			if servers, err := c.client.Servers(ctx); err == nil {
				active := 0
				for _, s := range servers {
					if strings.Contains(s.Name, "-"+vdu+"-") && s.Status == openstack.ServerActive && s.Task == "" {
						active++
					}
				}
				found = min(found, active)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		fewest <- found
	}()
	return func(*terraform.State) error {
		stop()
		if found := <-fewest; found < least {
			return fmt.Errorf("of VDU %s %d servers were at work at some time, and at least %d should be", vdu, found, least)
		}
		return nil
	}
}

// TestAccInstance_openStack takes a VNF of servers through its life.
func TestAccInstance_openStack(t *testing.T) {
	c := newCloud(t)
	// Heat empties a port that it replaces, which Neutron allows in networks of one's own.
	outside, other := c.openstack.NewNetwork(t, c.user, "outside", "10.78.0.0/24"), c.openstack.NewNetwork(t, c.user, "other", "10.78.1.0/24")
	firewall := func(arguments ...string) string {
		return c.configFor(examplePackage(c, "firewall"), "simple", c.links(outside), arguments...)
	}
	full := c.openstack.FullZone(t)
	var id string
	var working resource.TestCheckFunc
	// asked tells how many requests an operation has taken, with the plans before and after it.
	asked := func(doing string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			t.Logf("%s: %v", doing, c.meter.Take())
			return nil
		}
	}
	remember := func() {
		c.remember()
		c.meter.Take()
	}
	refresh := func(config string) resource.TestStep {
		return resource.TestStep{PreConfig: func() { c.meter.Take() }, Config: config, PlanOnly: true}
	}
	var small map[string]int
	next := acctest.CopyPackage(t, "firewall")
	acctest.Edit(t, next, "BaseHOT/simple/nested/FW.yaml", "      image: { get_param: image }\n", "      image: { get_param: image }\n      user_data: next\n")
	acctest.Edit(t, next, "BaseHOT/simple/firewall.yaml", "    type: json\n", "    type: json\n  login: { type: string, default: none }\n")
	acctest.Edit(t, next, "BaseHOT/simple/firewall.yaml", "resources:\n", "resources:\n  banner: { type: OS::Neutron::Net, properties: { name: { get_param: login } } }\n")
	acctest.Edit(t, next, "Definitions/firewall.yaml", `software_version: "1.0.0"`, `software_version: "1.1.0"`)
	acctest.Hash(t, next)
	leaving := t.TempDir()
	acctest.Write(t, leaving, "ids.json", "[]")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy:             func(*terraform.State) error { return c.nothingIsLeft(id) },
		Steps: []resource.TestStep{
			{
				// The first zone has no place for the firewall.
				Config: firewall(zones(full, "nova")),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{countOf("FW", 1), countOf("TG", 1)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("namespace"), knownvalue.StringExact("")),
				},
				Check: allChecks(asked("instantiation"), c.checkBackend(map[string]int{"FW": 1, "TG": 1}), c.linked, c.movedFrom(full), func(*terraform.State) error {
					id = c.records()[0].ID
					return nil
				}),
			},
			{
				Config: firewall(zones("nova", "fulll")), PlanOnly: true,
				ExpectError: sentence(`VIM "cloud" has no availability zone "fulll"`, `Did you mean "full"?`),
			},
			refresh(firewall(zones(full, "nova"))),
			// Another order of the zones moves none that runs.
			after(func() {
				small = c.meter.Take()
				remember()
			}, checked(firewall(level(2), zones("nova", full)), updatesInPlace(countOf("FW", 3)), allChecks(asked("scaling out"), c.checkBackend(map[string]int{"FW": 3, "TG": 1}), c.survivors("FW", 1), c.survivors("TG", 1), c.diagnostics.NoWarnings()))),
			refresh(firewall(level(2), zones("nova", full))),
			{
				// A look at a larger VNF takes no more requests than one at a small one.
				PreConfig: func() {
					if large := c.meter.Take(); !maps.Equal(large, small) || len(small) == 0 {
						t.Errorf("two plans of 2 servers took %v requests, and of 4 %v", small, large)
					}
				},
				Config:      firewall(level(1), `scale_in_vnfc_ids = ["FW-gone-long-ago"]`),
				ExpectError: sentence(`VDU "FW" has no VNFC "FW-gone-long-ago"`, `Its VNFCs are "FW-`),
			},
			// The one that is named goes, and not the newest.
			after(func() {
				remember()
				acctest.Write(t, leaving, "ids.json", fmt.Sprintf("[%q]", c.before["FW"][0].ID))
			}, checked(firewall(level(1), fmt.Sprintf(`scale_in_vnfc_ids = jsondecode(file("%s/ids.json"))`, leaving)),
				updatesInPlace(countOf("FW", 2)), allChecks(asked("scaling in"), c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2), c.gone("FW", 0)))),
			// A server that somebody deletes is replaced, with its addresses.
			after(func() {
				c.remember()
				c.deleteServer(strings.TrimPrefix(c.before["FW"][0].ID, "FW-"))
			}, checked(firewall(level(1)), updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 1), func(*terraform.State) error {
				for _, v := range c.vnfcs()["FW"] {
					if !slices.ContainsFunc(c.before["FW"], func(b vnfm.VNFC) bool { return slices.Equal(b.Addresses, v.Addresses) }) {
						return fmt.Errorf("VNFC %s has the addresses %v", v.ID, v.Addresses)
					}
				}
				return nil
			}))),
			// One that somebody turns off is turned on.
			after(func() {
				c.remember()
				id := strings.TrimPrefix(c.before["FW"][0].ID, "FW-")
				c.openstack.Post(c, "compute", "/servers/"+id+"/action", map[string]any{"os-stop": nil}, nil)
				c.until("the server to be off", func(s map[string]*openstack.Server) bool {
					return s[id] != nil && s[id].Status == openstack.ServerShutoff
				})
			}, checked(firewall(level(1)), updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2)))),
			// One of them is in ERROR: Heat does not detach the ports of such a server, which the next one is to have.
			after(func() {
				remember()
				id := strings.TrimPrefix(c.before["FW"][0].ID, "FW-")
				c.openstack.Post(c, "compute", "/servers/"+id+"/action", map[string]any{"os-resetState": map[string]any{"state": "error"}}, nil)
			}, checked(firewall(level(1), `heal = { trigger = "1", vdu_ids = ["FW"] }`),
				updatesInPlace(), allChecks(asked("healing two servers"), c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 0), c.survivors("TG", 1), c.sameVolumes))),
			after(c.remember, checked(firewall(level(1), `operational_state = "stopped"`), updatesInPlace(countOf("FW", 0)), func(*terraform.State) error {
				for _, v := range c.vnfcs()["FW"] {
					if v.State != openstack.ServerShutoff {
						return fmt.Errorf("VNFC %s is %s", v.ID, v.State)
					}
				}
				return c.survivors("FW", 2)(nil)
			})),
			checked(firewall(level(1)), updatesInPlace(countOf("FW", 2)), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2))),
			// External connection points move to other networks.
			checked(c.configFor(examplePackage(c, "firewall"), "simple", c.links(other), level(1)), updatesInPlace(), c.checkBackend(map[string]int{"FW": 2, "TG": 1})),
			// The stack is updated by other means, a port is deleted, and a volume is detached.
			after(func() {
				c.remember()
				c.takeParts("FW")
				c.intrude()
			}, checked(c.configFor(examplePackage(c, "firewall"), "simple", c.links(other), level(1)),
				updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2), c.sameVolumes, c.connected("FW", 2)))),
			// The next package has other boot data: its VNFCs are replaced one after the other.
			after(func() { c.remember(); working = c.watch("FW", 1) }, checked(c.configFor(next, "simple", c.links(other), level(1)), updatesInPlace(), allChecks(func(s *terraform.State) error { return working(s) },
				c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 0), c.survivors("TG", 1)))),
			// A parameter that the template does not hide gets a secret.
			after(c.remember, checked(c.configFor(next, "simple", c.links(other), level(1), login("planted-login")),
				updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2), c.survivors("TG", 1), c.masks("login", "planted-login"), expectConcealed(c.store, "planted-login")))),
			// Without the record nobody can compare what is made of the secret.
			after(func() { c.remember(); loseRecords(t, c.store) }, checked(c.configFor(next, "simple", c.links(other), level(1), login("planted-login")),
				updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2), c.survivors("TG", 1), c.masks("login", "planted-login")))),
			{
				Config:             c.configFor(next, "simple", c.links(other), level(1), login("planted-other")),
				PlanOnly:           true,
				ExpectNonEmptyPlan: true,
			},
		},
	})
}

// login is a secret parameter of a template.
func login(value string) string {
	return fmt.Sprintf("additional_params_wo = { login = %q }\n  additional_params_wo_version = 1", value)
}

// masks checks that Heat shows a mask for a parameter, and that a network is named by its value.
func (c *cloud) masks(parameter, value string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		stack, err := c.client.FindStack(c.Context(), "vnf-"+c.records()[0].ID)
		if err != nil {
			return err
		}
		content, err := c.client.ReadStack(c.Context(), stack)
		if err != nil {
			return err
		}
		if shown := content.Parameters[parameter]; shown == value || shown == nil {
			return fmt.Errorf("parameter %s is shown as %v", parameter, shown)
		}
		var list struct{ Networks []struct{ Name string } }
		c.openstack.Get(c, "network", "/v2.0/networks?name="+value, &list)
		if len(list.Networks) != 1 {
			return fmt.Errorf("of the name %s there are %v", value, list.Networks)
		}
		return nil
	}
}

// otherNetwork are the example package without a word of what its VNFCs wait for, and the next one, which has another internal network
// instead of that.
func otherNetwork(t *testing.T) (first, next string) {
	t.Helper()
	const template = "BaseHOT/group/firewall.yaml"
	first, next = acctest.CopyPackage(t, "firewall"), acctest.CopyPackage(t, "firewall")
	for _, dir := range []string{first, next} {
		acctest.Edit(t, dir, template, "    depends_on: inside_subnet\n", "")
	}
	acctest.Edit(t, next, template, "  inside:\n", "  within:\n")
	acctest.Edit(t, next, template, "inside_subnet:", "within_subnet:")
	acctest.Edit(t, next, template, "{ get_resource: inside }", "{ get_resource: within }")
	acctest.Edit(t, next, template, "192.168.120.0/24", "192.168.121.0/24")
	acctest.Edit(t, next, "Definitions/firewall.yaml", `software_version: "1.0.0"`, `software_version: "1.1.0"`)
	acctest.Hash(t, first)
	acctest.Hash(t, next)
	return first, next
}

// privileged is the example package with a resource that Heat allows an administrator alone.
func privileged(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "firewall")
	acctest.Edit(t, dir, "BaseHOT/group/firewall.yaml", "\n  apart:\n", "\n  size:\n    type: OS::Nova::Flavor\n    properties: { ram: 512, vcpus: 1 }\n\n  apart:\n")
	acctest.Hash(t, dir)
	return dir
}

// bootingFromVolumes is the example package whose firewalls boot from their volume.
func bootingFromVolumes(t *testing.T) string {
	t.Helper()
	const descriptor = "Definitions/firewall_df_plain.yaml"
	dir := acctest.CopyPackage(t, "firewall")
	const image = `        sw_image_data: &image
          name: ubuntu-22.04
          version: "22.04"
          container_format: bare
          disk_format: raw
          min_disk: 1 GiB
          size: 1 GiB
`
	acctest.Edit(t, dir, descriptor, image, "")
	acctest.Edit(t, dir, descriptor, "{ size_of_storage: 1 GiB }\n", "{ size_of_storage: 1 GiB }\n"+image)
	acctest.Hash(t, dir)
	return dir
}

// manyAddresses are a network of the project, in which Neutron lets it change the addresses of ports, with subnets of both families, and a port of the second one.
type manyAddresses struct{ network, second, six, port string }

func (c *cloud) manyAddresses() manyAddresses {
	c.Helper()
	out := manyAddresses{network: c.openstack.NewNetwork(c, c.user, "first", "10.78.2.0/24")}
	out.second = c.openstack.NewSubnet(c, c.user, out.network, "second", "10.78.3.0/24")
	out.six = c.openstack.NewSubnet(c, c.user, out.network, "six", "fd78::/64")
	out.port = c.openstack.NewPort(c, c.user, out.network, out.second)
	return out
}

// fixed are the addresses of two firewalls, each of whose ports has one in each subnet, but for that of the second one.
func (manyAddresses) fixed(from int) [][]string {
	at := func(n int) []string { return []string{fmt.Sprintf("10.78.2.%d", n), fmt.Sprintf("fd78::%d", n)} }
	return [][]string{at(from), at(from + 1)}
}

// links gives the ports of the firewalls addresses in all subnets, and the source of traffic the port that there is.
func (m manyAddresses) links(from int) string {
	fixed := m.fixed(from)
	return fmt.Sprintf(`ext_virtual_links = {
    all = { resource_id = %q, ext_cps = {
      FW_CP1 = { ip_addresses = [
        { fixed_addresses = [%q, %q] },
        { subnet_id = %q },
        { subnet_id = %q, fixed_addresses = [%q, %q] },
      ] }
      TG_CP1 = { link_port_id = %q, ip_addresses = [{ subnet_id = %q }] }
    } }
  }`, m.network, fixed[0][0], fixed[1][0], m.second, m.six, fixed[0][1], fixed[1][1], m.port, m.second)
}

// haveAddresses checks that the firewalls have these addresses at their first connection point, and one of the second subnet, and that
// the source of traffic has one there too.
func (c *cloud) haveAddresses(m manyAddresses, from int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		all := c.vnfcs()
		inSecond := func(address string) bool { return strings.HasPrefix(address, "10.78.3.") }
		var got [][]string
		for _, v := range all["FW"] {
			own := slices.Sorted(slices.Values(v.ConnectionPoints["FW_CP1"]))
			if len(own) != 3 || !inSecond(own[1]) {
				return fmt.Errorf("VNFC %s has the addresses %v", v.ID, own)
			}
			got = append(got, []string{own[0], own[2]})
		}
		slices.SortFunc(got, slices.Compare)
		if want := m.fixed(from); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("the firewalls have the addresses %v, want %v", got, want)
		}
		if given := all["TG"][0].ConnectionPoints["TG_CP1"]; len(given) != 1 || !inSecond(given[0]) {
			return fmt.Errorf("the source of traffic has the addresses %v", all["TG"][0].ConnectionPoints)
		}
		return nil
	}
}

// stackNamed makes a stack as another store has one of an instance of that name, and deletes it.
func (c *cloud) stackNamed(name string) (remove func()) {
	c.Helper()
	request := openstack.StackRequest{Name: "vnf-of-another-store", Tags: []string{"vnf-instance:" + name}}
	request.Template = map[string]any{"heat_template_version": "2018-08-31", "resources": map[string]any{"any": map[string]any{"type": "OS::Heat::RandomString"}}}
	request.Parameters, request.Notes = map[string]any{}, map[string]any{}
	id, err := c.client.CreateStack(c.Context(), request)
	require.NoError(c, err)
	return func() { require.NoError(c, c.client.DeleteStack(c.Context(), request.Name, id)) }
}

// secondFirewall is the instance of a configuration once more, under the name fw2.
func secondFirewall(config string) string {
	_, instance, _ := strings.Cut(config, `resource "vnf_instance"`)
	return `resource "vnf_instance"` + strings.Replace(instance, "\"test\" {\n  name       = \"fw\"", "\"second\" {\n  name       = \"fw2\"", 1)
}

// TestAccInstance_openStackForms has the same VNF out of an auto-scaling group, and without
// any template, where its firewalls boot from volumes and have several addresses, which are changed.
func TestAccInstance_openStackForms(t *testing.T) {
	c := newCloud(t)
	first, next := otherNetwork(t)
	fromVolumes, addresses := bootingFromVolumes(t), c.manyAddresses()
	plain := func(from int, arguments ...string) string {
		return c.configFor(fromVolumes, "plain", addresses.links(from), append(arguments, level(1))...)
	}
	removeStack := func() {}
	group := func(source, level string) string {
		return c.configFor(source, "group", c.links(addresses.network), level)
	}
	refused := group(privileged(t), level(1))
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy:             func(*terraform.State) error { return c.volumesAreLeft() },
		Steps: []resource.TestStep{
			{
				Config:           group(first, level(1)),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{countOf("FW", 2)}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				Check:            c.checkBackend(map[string]int{"FW": 2, "TG": 1}),
			},
			after(c.remember, checked(group(first, level(2)), updatesInPlace(countOf("FW", 3)), allChecks(c.checkBackend(map[string]int{"FW": 3, "TG": 1}), c.survivors("FW", 2)))),
			after(c.remember, checked(group(first, level(1)), updatesInPlace(countOf("FW", 2)), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 2), c.gone("FW", 2)))),
			// The network inside goes, and another one takes its place.
			checked(group(next, level(1)), updatesInPlace(countOf("FW", 2)), c.checkBackend(map[string]int{"FW": 2, "TG": 1})),
			{
				// Neither a new instance of a name that has a stack nor a type of administrators gets beyond the plan.
				PreConfig: func() { removeStack = c.stackNamed("fw2") },
				Config:    refused + secondFirewall(refused),
				PlanOnly:  true,
				ExpectError: sentence(`The project of VIM "cloud" has a stack of a VNF instance "fw2" already`, `name = "fw2"`, `Stack vnf-of-another-store`,
					`Resource "size" has the type OS::Nova::Flavor, which the user of VIM "cloud" may not use`),
			},
			// Without a template the VNFD says it all.
			after(func() { removeStack() }, checked(plain(11), updatesInPlace(countOf("FW", 2)), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.haveAddresses(addresses, 11)))),
			// What a server boots from is free only when the server has gone. Its port gets other addresses before.
			after(c.remember, checked(plain(21, `heal = { trigger = "1", vdu_ids = ["FW"] }`), updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 0), c.survivors("TG", 1), c.sameVolumes, c.haveAddresses(addresses, 21)))),
			after(c.remember, checked(plain(21, `heal = { trigger = "2", vdu_ids = ["FW"], replace_volumes = true }`, `deletion_policy = { volumes = "keep" }`),
				updatesInPlace(), allChecks(c.checkBackend(map[string]int{"FW": 2, "TG": 1}), c.survivors("FW", 0), c.otherVolumes, c.haveAddresses(addresses, 21),
					func(*terraform.State) error { c.remember(); return nil }))),
			{
				ResourceName:            address,
				ImportState:             true,
				ImportStateVerify:       true,
				ImportStateVerifyIgnore: []string{"scale_levels", "ext_virtual_links", "timeouts", "heal", "deletion_policy", "operations", "changes"},
			},
		},
	})
}
