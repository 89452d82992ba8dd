package instance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	client "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// A stack as users have them: a server with a port and a file, and a group of servers of a nested template.
const (
	stackTemplate = `heat_template_version: 2018-08-31
description: A proxy and its workers
parameters:
  flavor: { type: string }
  image: { type: string }
  network: { type: string }
  size: { type: number, default: 1 }
  db_password: { type: string }
  join_token: { type: string, hidden: true }
resources:
  port:
    type: OS::Neutron::Port
    properties: { network: { get_param: network } }
  proxy:
    type: OS::Nova::Server
    properties:
      flavor: { get_param: flavor }
      image: { get_param: image }
      networks: [{ port: { get_resource: port } }]
      metadata: { db: { get_param: db_password } }
      user_data_format: RAW
      user_data:
        str_replace: { template: { get_file: start.sh }, params: { TOKEN: { get_param: join_token } } }
  workers:
    type: OS::Heat::ResourceGroup
    properties:
      count: { get_param: size }
      resource_def:
        type: worker.yaml
        properties: { flavor: { get_param: flavor }, image: { get_param: image }, network: { get_param: network }, upstream: { get_attr: [proxy, first_address] } }
outputs:
  proxy: { value: { get_attr: [proxy, first_address] } }
`
	workerTemplate = `heat_template_version: 2018-08-31
parameters:
  flavor: { type: string }
  image: { type: string }
  network: { type: string }
  upstream: { type: string }
resources:
  worker:
    type: OS::Nova::Server
    properties:
      flavor: { get_param: flavor }
      image: { get_param: image }
      networks: [{ network: { get_param: network } }]
      metadata: { upstream: { get_param: upstream } }
`
)

// makeStack has Heat make the stack "site", as a client with files of its own does.
func (c *cloud) makeStack() {
	c.Helper()
	provider, err := client.AuthenticatedClient(c.Context(), gophercloud.AuthOptions{
		IdentityEndpoint: c.openstack.AuthURL, Username: c.user.Name, Password: c.user.Password, DomainName: c.openstack.Domain,
		Scope: &gophercloud.AuthScope{ProjectName: c.user.Project, DomainName: c.openstack.Domain},
	})
	require.NoError(c, err)
	service, err := client.NewOrchestrationV1(provider, gophercloud.EndpointOpts{Region: c.openstack.Region})
	require.NoError(c, err)
	// A client names files by where they are on its machine, in templates too.
	const home = "file:///home/user/site/"
	_, err = service.Post(c.Context(), service.ServiceURL("stacks"), map[string]any{ //nolint:bodyclose // the client reads it
		"stack_name": "site", "tags": "mine", "template": strings.NewReplacer("worker.yaml", home+"worker.yaml", "start.sh", home+"start.sh").Replace(stackTemplate),
		"files": map[string]string{home + "worker.yaml": workerTemplate, home + "start.sh": "#!/bin/sh\necho TOKEN\n"},
		"environment": map[string]any{"parameters": map[string]any{
			"flavor": c.openstack.Flavors["m1.tiny"], "image": c.openstack.Images["ubuntu-22.04"], "network": c.openstack.Networks["net0"], "size": 2,
			"db_password": "open-sesame", "join_token": "hidden-sesame",
		}},
	}, nil, &gophercloud.RequestOpts{OkCodes: []int{201}})
	require.NoError(c, err)
	for range 240 {
		stack, err := c.client.FindStack(c.Context(), "site")
		require.NoError(c, err)
		if stack != nil && !stack.InProgress() {
			require.Equal(c, "CREATE_COMPLETE", stack.Status, stack.Reason)
			return
		}
		select {
		case <-time.After(time.Second / 2):
		case <-c.Context().Done():
		}
	}
	c.Fatal("Heat does not complete the stack")
}

// serverIDs are the servers of the project, with when they were made.
func (c *cloud) serverIDs() []string {
	c.Helper()
	servers, err := c.client.Servers(c.Context())
	require.NoError(c, err)
	return slices.Sorted(maps.Keys(servers))
}

// TestAccInstance_openStackPacked makes a package of a stack that a client of OpenStack has made, and adopts the stack with what the
// command has written: no server is replaced, and the next plan is empty.
func TestAccInstance_openStackPacked(t *testing.T) {
	c := newCloud(t)
	c.makeStack()
	dir := t.TempDir()
	file := filepath.Join(dir, "site.csar")
	clouds := filepath.Join(dir, "clouds.yaml")
	acctest.Write(t, dir, "clouds.yaml", fmt.Sprintf("clouds:\n  site:\n    region_name: %s\n    auth: { auth_url: %q, username: %q, password: %q, project_name: %q, user_domain_name: %s, project_domain_name: %s }\n",
		c.openstack.Region, c.openstack.AuthURL, c.user.Name, c.user.Password, c.user.Project, c.openstack.Domain, c.openstack.Domain))
	wantCommand(t, 1, "the project has no stack nothing", "package", "pack", "--from-stack", "nothing", "--os-cloud", "site", "--os-clouds", clouds, file)
	config, problems := packed(t, "package", "pack", "--from-stack", "site", "--os-cloud", "site", "--os-clouds", clouds, file)
	for _, text := range []string{"go by the name of a secret: db_password;", "the values of join_token"} {
		if !strings.Contains(problems, text) {
			t.Errorf("the command does not say %q:\n%s", text, problems)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(config+problems+string(text), "sesame") {
		t.Errorf("the package or its configuration has a secret, %v:\n%s%s", err, config, problems)
	}
	config = strings.ReplaceAll(config, "var.join_token", `"hidden-sesame"`)
	before := c.serverIDs()
	require.Len(t, before, 3)
	same := func(*terraform.State) error {
		if after := c.serverIDs(); !slices.Equal(before, after) {
			return fmt.Errorf("the servers were %v and are %v", before, after)
		}
		return nil
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: c.diagnostics.Factories(),
		CheckDestroy: func(*terraform.State) error {
			if stack, err := c.client.FindStack(t.Context(), "site"); err != nil || stack != nil {
				return fmt.Errorf("the stack is left: %v, %w", stack, err)
			}
			return nil
		},
		Steps: []resource.TestStep{
			{
				Config:            c.store.Config(c.vim(), config),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("vnf_instance.site", tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED"))},
				ConfigPlanChecks:  resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
				Check: allChecks(same, resource.TestCheckResourceAttr("vnf_instance.site", "vnfc_counts.proxy", "1"),
					resource.TestCheckResourceAttr("vnf_instance.site", "vnfc_counts.workers", "2")),
			},
		},
	})
}
