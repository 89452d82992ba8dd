package workloadcluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// nodeImage is an image of the laboratory that says which Kubernetes it has.
const nodeImage = "ubuntu-2204-kube-v1.33.1"

// project is a project of the laboratory's OpenStack that is one test's alone.
type project struct {
	testing.TB
	env  labtest.OpenStackEnv
	user labtest.OpenStackUser
}

func newProject(t *testing.T) *project {
	t.Helper()
	env := labtest.OpenStackCompute(t)
	return &project{TB: t, env: env, user: env.NewProject(t, "member", "reader")}
}

// vim is a vnf_vim "cloud" for the user of the project.
func (p *project) vim() string {
	return fmt.Sprintf(`
resource "vnf_vim" "cloud" {
  name = "cloud"
  openstack = {
    auth_url            = %q
    region              = %q
    username            = %q
    user_domain_name    = %q
    project_name        = %q
    project_domain_name = %q
    password_wo         = %q
    password_wo_version = 1
  }
}
`, p.env.AuthURL, p.env.Region, p.user.Name, p.env.Domain, p.user.Project, p.env.Domain, p.user.Password)
}

// thing is what servers and what networks are made of have in common, as far as it is
// looked at here.
type thing struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	DeviceID    string   `json:"device_id"`
	DeviceOwner string   `json:"device_owner"`
	NetworkID   string   `json:"network_id"`
	Groups      []string `json:"security_groups"`
}

// list is what the project has of a collection of Neutron.
func (p *project) list(collection string) []thing {
	p.Helper()
	var answer map[string][]thing
	p.env.Get(p, "network", "/v2.0/"+collection+"?project_id="+p.user.ProjectID(), &answer)
	return answer[strings.ReplaceAll(collection, "-", "_")]
}

// server is a server of Nova.
type server struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Status   string            `json:"status"`
	KeyName  string            `json:"key_name"`
	Metadata map[string]string `json:"metadata"`
	Flavor   struct {
		ID string `json:"id"`
	} `json:"flavor"`
	Image struct {
		ID string `json:"id"`
	} `json:"image"`
}

func (p *project) servers() []server {
	p.Helper()
	var answer struct {
		Servers []server `json:"servers"`
	}
	p.env.Get(p, "compute", "/servers/detail?all_tenants=1&project_id="+p.user.ProjectID(), &answer)
	return answer.Servers
}

// instances limits the number of servers; -1 is no limit.
func (p *project) instances(quota int) {
	p.Helper()
	p.env.Put(p, "compute", "/os-quota-sets/"+p.user.ProjectID(), map[string]any{"quota_set": map[string]any{"instances": quota}}, nil)
}

// credentials are the application credentials of the user.
func (p *project) credentials() []thing {
	p.Helper()
	var answer struct {
		All []thing `json:"application_credentials"`
	}
	p.env.As(p.user).Get(p, "identity", "/v3/users/"+p.user.ID+"/application_credentials", &answer)
	return answer.All
}

// left names what is in the project. The security group "default" is Neutron's own.
func (p *project) left() []string {
	p.Helper()
	var out []string
	for _, s := range p.servers() {
		out = append(out, "server "+s.Name)
	}
	for _, collection := range []string{"networks", "subnets", "routers", "ports", "floatingips", "security-groups"} {
		for _, each := range p.list(collection) {
			if each.Name != "default" {
				out = append(out, collection+" "+each.Name)
			}
		}
	}
	for _, c := range p.credentials() {
		out = append(out, "application credential "+c.Name)
	}
	return out
}

// One of a kind is all that there is of it in the project.
func (p *project) one(collection string, with func(thing) bool) thing {
	p.Helper()
	var found []thing
	for _, each := range p.list(collection) {
		if with == nil || with(each) {
			found = append(found, each)
		}
	}
	require.Len(p, found, 1, collection)
	return found[0]
}

// A cluster with the real Cluster API Provider OpenStack, on the real Keystone, Glance,
// Neutron and Nova, gets as far as its first server, in which no Kubernetes starts.
func TestAccWorkloadCluster_capo(t *testing.T) {
	p := newProject(t)
	w := newWorld(t)
	config := func(image, more string) string {
		return w.config(fmt.Sprintf(`
  kubernetes_version = "1.33.1"
  chart = { name = "openstack", values = {
    machineImage    = %q
    machineMetadata = { owner = "core" }
    # Neither Octavia nor an agent for floating addresses is there.
    apiServer = { enableLoadBalancer = false, associateFloatingIP = false, fixedIP = "192.168.3.10" }
  } }
  network       = { external = "public" }
  control_plane = { replicas = 1, flavour = "m1.medium" }
  node_groups   = { upf = { replicas = 1, flavour = "m1.large" } }
  openstack     = { vim_id = vnf_vim.cloud.id, application_credential = {} }
%s
`, image, more), p.vim())
	}
	nothing := func() { assert.Empty(t, p.left()) }
	const untouched = `everything that had been made was removed again`
	machine := w.namespace + `/edge-control-plane-\S+`
	w.run(t,
		resource.TestStep{
			// Nova refuses the server, and says so at the OpenStackServer alone.
			PreConfig:   func() { p.instances(0) },
			Config:      config(nodeImage, `on_failure = "rollback"`+"\n"+`timeouts = { create = "90s" }`),
			ExpectError: acctest.Says(`(?s)Machine ` + machine + `.*OpenStackServer ` + machine + `: InstanceReady is False \(InstanceCreateFailed\):.*Quota exceeded for instances.*` + untouched),
		},
		resource.TestStep{
			// An image that is not there is no error of the plan: the same apply may make it.
			PreConfig: func() {
				nothing()
				p.instances(-1)
			},
			Config:      config("lost", `on_failure = "rollback"`+"\n"+`timeouts = { create = "60s" }`),
			ExpectError: acctest.Says(`(?s)Machine ` + machine + `.*there is no image "lost" in the OpenStack.*` + untouched),
		},
		resource.TestStep{
			PreConfig:          nothing,
			Config:             config(nodeImage, `timeouts = { create = "90s", update = "15s" }`),
			ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
			ExpectNonEmptyPlan: true,
			Check: func(s *terraform.State) error {
				p.isBuilt(w, s.RootModule().Resources[address].Primary.Attributes["application_credential_id"])
				return nil
			},
		},
		resource.TestStep{
			Config:           config(nodeImage, `timeouts = { create = "90s", update = "15s" }`),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
			ExpectError:      acctest.Says(`(?s)Machine ` + machine + `: `),
		},
	)
	nothing()
}

// isBuilt compares what Neutron and Nova have with the cluster's configuration.
func (p *project) isBuilt(w *world, credential string) {
	p.Helper()
	name := "k8s-clusterapi-cluster-" + w.namespace + "-edge"
	network := p.one("networks", nil)
	assert.Equal(p, name, network.Name)
	assert.Equal(p, name, p.one("routers", nil).Name)
	assert.Equal(p, network.ID, p.one("subnets", nil).NetworkID)
	servers := p.servers()
	require.Len(p, servers, 1)
	s := servers[0]
	assert.True(p, strings.HasPrefix(s.Name, "edge-control-plane-"), s.Name)
	assert.Equal(p, "ACTIVE", s.Status)
	assert.Equal(p, p.env.Flavors["m1.medium"], s.Flavor.ID)
	assert.Equal(p, p.env.Images[nodeImage], s.Image.ID)
	assert.Equal(p, "core", s.Metadata["owner"])
	group := p.one("security-groups", func(g thing) bool { return strings.HasSuffix(g.Name, "-secgroup-controlplane") })
	port := p.one("ports", func(each thing) bool { return each.DeviceID == s.ID })
	assert.Equal(p, network.ID, port.NetworkID)
	assert.Equal(p, []string{group.ID}, port.Groups)
	p.one("ports", func(each thing) bool { return each.DeviceOwner == "network:router_interface" })

	credentials := p.credentials()
	require.Len(p, credentials, 1)
	assert.Equal(p, credential, credentials[0].ID)
	assert.Equal(p, "true true", w.kubectl("get", "openstackcluster", "edge", "-o", "jsonpath={.status.ready} {.status.initialization.provisioned}"))
}
