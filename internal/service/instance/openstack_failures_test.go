package instance_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// override gives a VDU of the package firewall another flavour or image than the VNFD.
func override(vdu, name, value string) string {
	return fmt.Sprintf("additional_params = { nfv = { VDU = { %s = { %s = %q } } } }", vdu, name, value)
}

// TestAccInstance_openStackFailures fails as clouds do, after something was made: the
// reason is that of the resource which failed, what exists stays unless the creation is to
// be rolled back, and the next apply with what was wrong put right goes on.
func TestAccInstance_openStackFailures(t *testing.T) {
	c := newCloud(t)
	failed := []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("FAILED_TEMP"))}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		Steps: []resource.TestStep{
			{
				// A flavour whose servers end in ERROR. The creation is undone.
				Config:      c.firewall("simple", override("FW", "computeFlavourId", "lab.fault"), `on_failure = "rollback"`),
				ExpectError: acctest.Says(`(?s)OS::Nova::Server FW-0/FW is CREATE_FAILED`),
			},
			{
				// The same one, and what exists stays.
				PreConfig: func() {
					if left := c.records(); len(left) > 0 {
						t.Errorf("records are left: %+v", left)
					}
				},
				Config:             c.firewall("simple", override("FW", "computeFlavourId", "lab.fault"), resume),
				ExpectNonEmptyPlan: true,
				ConfigStateChecks:  failed,
				Check:              c.diagnostics.HasWarning(`Is Not Instantiated Yet: (?s).*OS::Nova::Server FW-0/FW is CREATE_FAILED.*ERROR`),
			},
			{
				// One that no host can hold, in whatever zone.
				Config:             c.firewall("simple", override("FW", "computeFlavourId", "lab.huge"), zones("nova", c.openstack.FullZone(t))),
				ExpectError:        acctest.Says(`(?s)OS::Nova::Server FW-0/FW is \w+_FAILED: .*FW-0 found no place in any of its availability zones: availability zone "nova" answered "No valid host was found[^"]*", availability zone "full" answered "No valid host was found`),
				ExpectNonEmptyPlan: true,
			},
			{
				// A quota that the project has used up.
				PreConfig:          func() { c.openstack.Limit(t, c.user, "instances", 1) },
				Config:             c.firewall("simple"),
				ExpectError:        acctest.Says(`(?s)OS::Nova::Server \S+ is \w+_FAILED: .*Quota exceeded for instances`),
				ExpectNonEmptyPlan: true,
			},
			{
				// An image that nobody has, by its name.
				PreConfig:          func() { c.openstack.Limit(t, c.user, "instances", 20) },
				Config:             c.firewall("simple", override("FW", "vcImageId", "no-such-image")),
				ExpectError:        acctest.Says(`no-such-image`),
				ExpectNonEmptyPlan: true,
			},
			updated(c.firewall("simple"), c.checkBackend(map[string]int{"FW": 1, "TG": 1})),
			{
				// A server that fails in an update stays too, and the rest of the VNF with it.
				Config:      c.configFor(examplePackage(c, "firewall"), "simple", c.links("no-such-network")),
				ExpectError: acctest.Says(`(?s)network.*no-such-network`),
			},
			{
				Config: c.firewall("simple"),
				Check:  c.checkBackend(map[string]int{"FW": 1, "TG": 1}),
			},
			{
				// A time that is too short says what Heat was still at.
				Config:      c.firewall("simple", override("FW", "computeFlavourId", "lab.slow"), `timeouts = { update = "30s" }`),
				ExpectError: acctest.Says(`(?s)waiting for stack vnf-.*Heat continues`),
			},
			updated(c.firewall("simple", override("FW", "computeFlavourId", "lab.slow")), c.checkBackend(map[string]int{"FW": 1, "TG": 1})),
		},
	})
}

// TestAccInstance_openStackImages has packages that bring the image of their servers: it is
// in Glance once for two instances, and goes with the last one. An import finds it by its stack.
func TestAccInstance_openStackImages(t *testing.T) {
	c := newCloud(t)
	dir := acctest.CopyPackage(t, "firewall")
	acctest.Write(t, dir, "Files/images/firewall.img", "an image of "+c.user.Name)
	acctest.Edit(t, dir, "Definitions/firewall_df_simple.yaml", "      capabilities:\n        virtual_compute:",
		"      artifacts:\n        sw_image: { type: tosca.artifacts.nfv.SwImage, file: ../Files/images/firewall.img }\n      capabilities:\n        virtual_compute:")
	acctest.Hash(t, dir)
	second := strings.NewReplacer(`"test" {
  name       = "fw"`, `"second" {
  name       = "fw2"`).Replace
	first := c.configFor(dir, "simple", c.links(c.openstack.Networks["net0"]))
	_, instance, _ := strings.Cut(first, `resource "vnf_instance"`)
	both := first + second(`resource "vnf_instance"`+instance)
	images := func(n int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			found, err := c.client.Images(context.WithoutCancel(t.Context()), "", "ubuntu-22.04")
			own := slices.DeleteFunc(found, func(i openstack.Image) bool { return i.ID == c.openstack.Images["ubuntu-22.04"] })
			if err == nil && len(own) != n {
				err = fmt.Errorf("the project has %d images of the package, want %d: %+v", len(own), n, own)
			}
			return err
		}
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy:             images(0),
		Steps: []resource.TestStep{
			{Config: both, ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}, Check: images(1)},
			{
				// An instance on OpenStack has no namespace, and is found by its name alone.
				Config: first + "data \"vnf_instance\" \"named\" {\n  vim_id = vnf_vim.test.id\n  name   = \"fw\"\n}\n",
				Check:  resource.ComposeTestCheckFunc(images(1), resource.TestCheckResourceAttrPair("data.vnf_instance.named", "id", "vnf_instance.test", "id")),
			},
			{
				// The stack of an instance that the store does not know tells all of its arguments.
				PreConfig:    func() { listsUnrecorded(t, c.store, "cloud", "", "name", "ext_virtual_links") },
				ResourceName: address, ImportState: true,
				ImportStateIdFunc: func(s *terraform.State) (string, error) {
					return "cloud/vnf-" + s.RootModule().Resources[address].Primary.ID, nil
				},
				ImportStateVerify: true, ImportStateVerifyIgnore: []string{"generation", "operations", "changes"},
			},
			{Config: first, PlanOnly: true},
		},
	})
}

// TestAccInstance_badOpenStack has inputs that cannot be used on an OpenStack: errors of
// the plan that name the argument.
func TestAccInstance_badOpenStack(t *testing.T) {
	c := newCloudOf(t, labtest.OpenStackCompute)
	source := examplePackage(t, "firewall")
	linked := c.links(c.openstack.Networks["net0"])
	refused := map[string]acctest.Refused{}
	for name, bad := range map[string]struct{ config, want string }{
		"namespace":      {c.firewall("simple", `namespace = "x"`), `An OpenStack VIM has no namespaces`},
		"no network":     {c.configFor(source, "simple", ""), `nfv\.CP\.FW_CP1\.network, which is not given`},
		"point":          {c.configFor(source, "simple", fmt.Sprintf(`ext_virtual_links = { x = { resource_id = %q, ext_cps = { FW_CP9 = {} } } }`, c.openstack.Networks["net0"])), `no external connection point "FW_CP9"`},
		"parameter":      {c.configFor(source, "simple", linked, `additional_params = { colour = "red" }`), `parameter "colour" is not known`},
		"address":        {c.configFor(source, "simple", fmt.Sprintf(`ext_virtual_links = { x = { resource_id = %q, ext_cps = { FW_CP1 = { ip_addresses = [{ fixed_addresses = ["10.0.0"] }] } } } }`, c.openstack.Networks["net0"])), `"10\.0\.0" is not a valid IP address`},
		"nfv of no form": {c.configFor(source, "simple", linked, `additional_params = { nfv = 1 }`), `"nfv" must be a map`},
	} {
		refused[name] = acctest.Refused{Config: bad.config, Want: bad.want}
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: c.diagnostics.Factories(), Steps: acctest.RefusedSteps(t, refused)})
}
