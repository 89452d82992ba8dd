package instance_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// silence is user data after which sshd does not run until the server is booted again: a
// mount does not outlive that.
const silence = `      user_data_format: RAW
      user_data: |
        #!/bin/sh
        mount --bind /bin/false /usr/sbin/sshd
        pkill -x sshd
`

// sitePlaybook tries to have the secret shown wherever Ansible shows something.
const sitePlaybook = `- name: Set up
  hosts: PrivateRegistryVDU
  gather_facts: false
  tasks:
    - name: Tell {{ token }}
      ansible.builtin.debug: {msg: "{{ token }}"}
    - name: Download images
      ansible.builtin.fail: {msg: "No space left for {{ release }} with {{ token }}"}
      when: release == "broken"
    - name: Write it down
      ansible.builtin.copy: {content: "{{ vnf_hook }} {{ vdu_id }} {{ site }} {{ release }} {{ token }}", dest: /root/playbook, mode: "0600"}
`

// hostPackage is a package whose server does not answer after its first boot, on which a
// script runs when it is made and before it goes, and a playbook when parameters change.
func hostPackage(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "private-registry")
	acctest.Write(t, dir, "Scripts/setup.sh", setupScript)
	acctest.Write(t, dir, "Ansible/site.yml", sitePlaybook)
	acctest.Edit(t, dir, "BaseHOT/server/nested/PrivateRegistryVDU.yaml", "    type: OS::Nova::Server\n    properties:\n", "    type: OS::Nova::Server\n    properties:\n"+silence)
	const flavour = "Definitions/private-registry_df_server.yaml"
	acctest.Edit(t, dir, flavour, "            modify_information: []\n", `            modify_information: []
            instantiate_end: { implementation: setup, inputs: { additional_parameters: { vdus: PrivateRegistryVDU, sudo: true, SITE: edge } } }
            terminate_start: { implementation: setup, inputs: { additional_parameters: { vdus: PrivateRegistryVDU, sudo: true, SITE: edge } } }
            modify_information_end: { implementation: play, inputs: { additional_parameters: { vdus: PrivateRegistryVDU, sudo: true, site: edge } } }
`)
	acctest.Edit(t, dir, flavour, "      interfaces:\n", `      artifacts:
        setup: { type: tosca.artifacts.Implementation.Bash, file: Scripts/setup.sh }
        play: { type: tosca.artifacts.Implementation.Ansible, file: Ansible/site.yml }
      interfaces:
`)
	acctest.Hash(t, dir)
	return dir
}

// status checks the status of the instance.
func status(want vnfm.InstanceStatus) []statecheck.StateCheck {
	return []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact(string(want)))}
}

// server is the identifier that Nova has for the one server of the instance.
func (c *cloud) server() string {
	c.Helper()
	for vdu, all := range c.vnfcs() {
		return strings.TrimPrefix(all[0].ID, vdu+"-")
	}
	c.Fatal("the instance has no server")
	return ""
}

// reboot has Nova boot a server again.
func (c *cloud) reboot(id string) {
	c.Helper()
	c.openstack.Post(c, "compute", "/servers/"+id+"/action", map[string]any{"reboot": map[string]any{"type": "HARD"}}, nil)
}

// hides checks that no file of the store has a text in clear.
func (c *cloud) hides(text string) error {
	seen := false
	err := filepath.WalkDir(filepath.Dir(c.store.Path), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path) //nolint:gosec // the test's own
		if err != nil {
			return err
		}
		if strings.Contains(string(data), text) {
			return fmt.Errorf("%s of the store holds %q in clear", filepath.Base(path), text)
		}
		seen = seen || path == c.store.Path
		return nil
	})
	if err == nil && !seen {
		err = fmt.Errorf("there is no store at %s", c.store.Path)
	}
	return err
}

// A server that never answers fails the operation in the time that the user gives it, and
// what exists stays; once it answers, the next apply goes on. Then a playbook of the package
// runs for it on a host of Ansible, fails, and goes on too.
func TestAccInstance_openStackHosts(t *testing.T) {
	c := newCloud(t)
	c.openstack = labtest.OpenStackSystems(t, labtest.OpenStackAnsible)
	ansible := c.openstack.NewServer(t, "ansible", labtest.OpenStackAnsibleImage, "net0")
	dir := hostPackage(t)
	config := func(patience, release string, arguments ...string) string {
		params := fmt.Sprintf(`ssh_access     = { PrivateRegistryVDU = { ssh_cp_name = "CP1", username = "ubuntu", boot_timeout = %q } }
    ansible_host   = { ip_address = %q, username = "ubuntu" }
    ansible_params = { release = %q }`, patience, ansible.Address, release)
		secrets := `additional_params_wo = {
    ssh_access     = { PrivateRegistryVDU = { password = "ubuntu" } }
    ansible_host   = { password = "ubuntu" }
    ansible_params = { token = "planted-playbook-token" }
  }
  additional_params_wo_version = 1`
		return c.registryServer(dir, "server", params, append(arguments, secrets)...)
	}
	var first string
	clean := func(*terraform.State) error {
		out, err := ansible.Try(t.Context(), "find /tmp /var/tmp /home/ubuntu -name 'vnf-*'; grep -rls 'planted-playbook-toke[n]' /tmp /var/tmp /home /root; grep -als 'planted-playbook-toke[n]' /proc/[0-9]*/cmdline || true")
		if err == nil && strings.TrimSpace(out) != "" {
			err = fmt.Errorf("the host of Ansible still has %s", out)
		}
		return err
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy:             func(*terraform.State) error { return c.hides("planted-playbook-token") },
		Steps: []resource.TestStep{
			{
				Config:             config("3s", "1", resume),
				ConfigStateChecks:  status(vnfm.StatusFailedTemp),
				ExpectNonEmptyPlan: true,
				Check: func(state *terraform.State) error {
					first = c.server()
					return c.diagnostics.HasWarning(`Is Not Instantiated Yet: (?s).*VNFC PrivateRegistryVDU-` + first + `: logging in on ubuntu@` + c.address() +
						`: no connection: it was tried for 3s: .*connection refused; see on its console whether it has booted and sshd runs.*needs a longer boot_timeout\..*Existing objects are kept`)(state)
				},
			},
			{
				PreConfig:         func() { c.reboot(first) },
				Config:            config("2m", "1"),
				ConfigStateChecks: status(vnfm.StatusInstantiated),
				ConfigPlanChecks:  updatesInPlace(),
				Check: resource.ComposeTestCheckFunc(c.expectOutput(t, "instantiate_end PrivateRegistryVDU edge", "cat /root/hooks"), func(*terraform.State) error {
					if now := c.server(); now != first {
						return fmt.Errorf("the server is %s, and was %s", now, first)
					}
					return nil
				}),
			},
			{
				Config: config("2m", "broken"),
				ExpectError: acctest.Says(`(?s)playbook site.yml on ubuntu@` + ansible.Address + ` failed node PrivateRegistryVDU-\S+ play "Set up": task "Download images" failed: ` +
					`No space left for \(sensitive\) with \(sensitive\)`),
			},
			{
				PreConfig: func() {
					if now := c.records()[0].Status; now != vnfm.StatusFailedTemp {
						t.Errorf("after a playbook that failed the instance is %s", now)
					}
					if err := c.hides("planted-playbook-token"); err != nil {
						t.Error(err)
					}
					if err := clean(nil); err != nil {
						t.Error(err)
					}
				},
				Config:            config("2m", "2"),
				ConfigStateChecks: status(vnfm.StatusInstantiated),
				ConfigPlanChecks:  updatesInPlace(),
				Check: resource.ComposeTestCheckFunc(clean, c.expectOutput(t, "modify_information_end PrivateRegistryVDU edge 2 planted-playbook-token", "cat /root/playbook"),
					c.expectOutput(t, "instantiate_end PrivateRegistryVDU edge", "cat /root/hooks")),
			},
			{
				// The record is lost. A plan without a change gives it the write-only parameters, which the destroy needs for the script.
				PreConfig:        func() { c.store.Clear(t) },
				Config:           config("2m", "2"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			},
		},
	})
}
