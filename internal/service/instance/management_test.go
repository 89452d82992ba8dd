package instance_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// image has all servers of the VDUs boot an image of the lab.
func (c *cloud) image(name string, vdus ...string) string {
	out := []string{}
	for _, vdu := range vdus {
		out = append(out, fmt.Sprintf("%s = { vcImageId = %q }", vdu, c.openstack.Images[name]))
	}
	return "nfv = { VDU = { " + strings.Join(out, ", ") + " } }"
}

// servers is an instance of the package private-registry.
func (c *cloud) registryServer(source, flavour, params string, arguments ...string) string {
	links := fmt.Sprintf("ext_virtual_links = { outside = { resource_id = %q, ext_cps = { CP1 = {} } } }", c.openstack.Networks["net0"])
	return c.configFor(source, flavour, links, append(arguments, "additional_params = {\n    "+params+"\n  }")...)
}

// address is that of the one server of the instance.
func (c *cloud) address() string {
	c.Helper()
	for _, all := range c.vnfcs() {
		return all[0].Addresses[0]
	}
	c.Fatal("the instance has no server")
	return ""
}

// expectOutput checks what a command writes on the server, as root.
func (c *cloud) expectOutput(t *testing.T, want, script string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		got, err := labtest.Login(t, c.address()).Try(t.Context(), script)
		if err == nil && strings.TrimSpace(got) != want {
			err = fmt.Errorf("%s says %q, not %q", script, got, want)
		}
		return err
	}
}

const setupScript = `#!/bin/bash
# Bash alone has arrays.
all=("$VNF_HOOK" "$VNF_VDU_ID" "$SITE")
cat > /root/inventory.json
if grep -q '"fail": *"yes"' /root/inventory.json; then echo "the disk of $VNF_VNFC_ID is full; planted-token" >&2; exit 3; fi
echo "${all[*]}" >> /root/hooks
`

// A package's script runs on its servers at the hooks that the VNFD names; one that fails is
// an operation that fails, and goes on where it stopped. A destroy over an empty store takes its login from the plan before it.
func TestAccInstance_openStackScript(t *testing.T) {
	c := newCloud(t)
	dir := acctest.CopyPackage(t, "private-registry")
	acctest.Write(t, dir, "Scripts/setup.sh", setupScript)
	hooks := ""
	for _, hook := range []string{"instantiate_end", "heal_end", "modify_information_end", "terminate_start"} {
		hooks += "            " + hook + ": { implementation: setup, inputs: { additional_parameters: { vdus: PrivateRegistryVDU, sudo: true, SITE: edge } } }\n"
	}
	acctest.Edit(t, dir, "Definitions/private-registry_df_server.yaml", "            modify_information: []\n", "            modify_information: []\n"+hooks)
	acctest.Edit(t, dir, "Definitions/private-registry_df_server.yaml", "      interfaces:\n", "      artifacts:\n        setup: { type: tosca.artifacts.Implementation.Bash, file: Scripts/setup.sh }\n      interfaces:\n")
	acctest.Hash(t, dir)
	config := func(fail, arguments string) string {
		params := fmt.Sprintf("ssh_access = { PrivateRegistryVDU = { ssh_cp_name = \"CP1\", username = \"ubuntu\" } }\n    script_params = { fail = %q }", fail)
		secrets := "additional_params_wo = {\n    ssh_access    = { PrivateRegistryVDU = { password = \"ubuntu\" } }\n    script_params = { token = \"planted-token\" }\n  }\n  additional_params_wo_version = 1"
		return c.registryServer(dir, "server", params, secrets, arguments)
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:      strings.Replace(config("", ""), `ssh_cp_name = "CP1"`, `ssh_cp_name = "CP11"`, 1),
				PlanOnly:    true,
				ExpectError: acctest.Says(`(?s)ssh_access.PrivateRegistryVDU.ssh_cp_name names no connection point of a server: "CP11".*Did you mean "CP1"|did you mean "CP1"`),
			},
			{
				Config: config("yes", resume),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("vnf_instance.test", tfjsonpath.New("status"), knownvalue.StringExact("FAILED_TEMP")),
				},
				ExpectNonEmptyPlan: true,
			},
			{
				Config: config("", ""),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction("vnf_instance.test", plancheck.ResourceActionUpdate)},
					PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
				},
				Check: c.expectOutput(t, "instantiate_end PrivateRegistryVDU edge", "cat /root/hooks"),
			},
			{
				// Other parameters are another run.
				Config: config("no", ""),
				Check:  c.expectOutput(t, "modify_information_end PrivateRegistryVDU edge", "tail -n 1 /root/hooks"),
			},
			{
				Config: config("no", `heal = { trigger = "one" }`),
				Check:  c.expectOutput(t, "heal_end PrivateRegistryVDU edge", "cat /root/hooks"),
			},
			{
				// Over an empty store the script at the end has its login from the plan before the destroy.
				PreConfig: func() { c.store.Clear(t) },
				Config:    config("no", ""),
				Destroy:   true,
			},
		},
		CheckDestroy: func(*terraform.State) error {
			data, err := os.ReadFile(c.store.Path)
			if err == nil && strings.Contains(string(data), "planted-token") {
				err = fmt.Errorf("the store holds the secret in clear")
			}
			return err
		},
	})
}

// The management driver for private registries installs one on the server of the instance,
// and on the one that replaces it.
func TestAccInstance_openStackRegistry(t *testing.T) {
	c := newCloud(t)
	c.openstack = labtest.OpenStackSystems(t, labtest.OpenStackDocker)
	dir := acctest.CopyPackage(t, "private-registry")
	archive, err := os.ReadFile(c.openstack.RegistryArchive)
	require.NoError(t, err)
	acctest.Write(t, dir, "Files/images/registry.tar", string(archive))
	acctest.Hash(t, dir)
	config := func(port, arguments string) string {
		params := c.image(labtest.OpenStackDockerImage, "PrivateRegistryVDU") + "\n    private_registry_installation_param = { ssh_cp_name = \"CP1\", ssh_username = \"ubuntu\", image_path = \"Files/images/registry.tar\"" + port + " }"
		secrets := "additional_params_wo = { private_registry_installation_param = { ssh_password = \"ubuntu\" } }"
		return c.registryServer(dir, "simple", params, secrets, arguments)
	}
	serves := func(port string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			_, err := labtest.RegistryStatus(context.Background(), "http://"+c.address()+":"+port, "", "")
			return err
		}
	}
	empty := resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config(", port_no = 70000", ""), PlanOnly: true, ExpectError: acctest.Says("port_no must be a whole number between 1 and 65535")},
			{Config: config("", ""), Check: serves("5000"), ConfigPlanChecks: empty},
			{Config: config(", port_no = 5001", ""), Check: serves("5001"), ConfigPlanChecks: empty},
			{Config: config(", port_no = 5001", `heal = { trigger = "one" }`), Check: serves("5001"), ConfigPlanChecks: empty},
		},
	})
}
