package instance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
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

// probe is a VDU of containers beside the servers of the package firewall.
const probe = `
    probe:
      type: tosca.nodes.nfv.Vdu.OsContainerDeployableUnit
      properties:
        name: probe
        description: watches the firewall
        mcio_identification_data: { name: probe, type: Deployment }
        vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 }
      requirements:
        - container: watcher
    watcher:
      type: tosca.nodes.nfv.Vdu.OsContainer
      properties:
        name: watcher
        description: asks for the counters of the firewall
        requested_cpu_resources: 50
        requested_memory_resources: 32 MiB
      artifacts:
        image: { type: tosca.artifacts.nfv.SwImage, file: "registry.example.com/watcher:1.0.0" }

    FW_CP1:
`

// hybrid is the example of a VNF of servers and pods, on a cloud and a cluster.
type hybrid struct {
	*cloud
	lab       labtest.Env
	namespace string
	// vims are the VIMs of the example, instance the rest of it with a package "test" and an instance "test".
	vims, instance string
	vars           config.Variables
}

// newHybrid reads the example complete/mixed as it stands, but for the provider block and the names of what the helpers of the tests
// look at.
func newHybrid(t *testing.T) *hybrid {
	t.Helper()
	c := newCloud(t)
	h := &hybrid{cloud: c, lab: labtest.Kubernetes(t)}
	h.namespace = h.lab.Namespace(t)
	const dir = "../../../examples/complete/mixed/"
	main, err := os.ReadFile(dir + "main.tf")
	require.NoError(t, err)
	variables, err := os.ReadFile(dir + "variables.tf")
	require.NoError(t, err)
	_, text, _ := strings.Cut(string(main), "\n}\n")
	vims, instance, ok := strings.Cut(text, `resource "vnf_package"`)
	require.True(t, ok)
	instance = strings.NewReplacer(`"firewall" {`, `"test" {`, "vnf_package.firewall", "vnf_package.test").Replace(`resource "vnf_package"` + instance)
	h.vims, h.instance = vims+string(variables), instance
	clouds, err := json.Marshal(map[string]any{"clouds": map[string]any{"lab": map[string]any{"region_name": c.openstack.Region, "auth": map[string]any{
		"auth_url": c.meter.AuthURL, "username": c.user.Name, "password": c.user.Password, "project_name": c.user.Project,
		"user_domain_name": c.openstack.Domain, "project_domain_name": c.openstack.Domain,
	}}}})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	require.NoError(t, os.WriteFile(file, clouds, 0o600))
	h.vars = config.Variables{
		"clouds": config.StringVariable(file), "cloud": config.StringVariable("lab"), "kubeconfig": config.StringVariable(h.lab.Kubeconfig),
		"namespace": config.StringVariable(h.namespace), "network": config.StringVariable(c.openstack.NewNetwork(t, c.user, "outside", "192.0.2.0/24")),
		"addresses":    config.ListVariable(config.StringVariable("192.0.2.10"), config.StringVariable("192.0.2.11"), config.StringVariable("192.0.2.12")),
		"node_address": config.StringVariable("198.51.100.5"), "node_port": config.IntegerVariable(30514),
	}
	return h
}

// example is the example with a package and further arguments.
func (h *hybrid) example(source string, arguments ...string) string {
	text := strings.Replace(h.instance, `"${path.module}/../../packages/watched-firewall"`, fmt.Sprintf("%q", source), 1)
	text = strings.Replace(text, "\n  termination =", "\n  "+strings.Join(arguments, "\n  ")+"\n  termination =", 1)
	return h.store.Config(h.vims, text)
}

// of are the variables with numbers of VNFCs.
func (h *hybrid) of(firewalls, watchers int) config.Variables {
	out := config.Variables{"firewalls": config.IntegerVariable(firewalls), "watchers": config.IntegerVariable(watchers)}
	maps.Copy(out, h.vars)
	return out
}

// pods checks which Deployments the cluster has.
func (h *hybrid) pods(want string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		got := h.lab.Kubectl(h, "-n", h.namespace, "get", "deployments", "-o", "jsonpath={range .items[*]}{.metadata.name} {.status.readyReplicas} {end}")
		if strings.TrimSpace(got) != want {
			return fmt.Errorf("on the cluster: %q, want %q", got, want)
		}
		return nil
	}
}

// servers checks how many servers of each VDU run.
func (h *hybrid) servers(counts map[string]int) resource.TestCheckFunc {
	return func(*terraform.State) error {
		all, err := h.client.Servers(h.Context())
		if err != nil {
			return err
		}
		got := map[string]int{}
		for _, s := range all {
			for vdu := range counts {
				if strings.Contains(s.Name, "-"+vdu+"-") && s.Status == "ACTIVE" {
					got[vdu]++
				}
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(counts) {
			return fmt.Errorf("servers: %v, want %v", got, counts)
		}
		return nil
	}
}

// told checks that each side has the parameters that are for it: the stack the collector, the pods the firewalls.
func (h *hybrid) told(firewalls string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		stack, err := h.client.FindStack(h.Context(), "vnf-"+h.records()[0].ID)
		if err != nil {
			return err
		}
		content, err := h.client.ReadStack(h.Context(), stack)
		if err != nil {
			return err
		}
		if got := content.Parameters["collector"]; got != "198.51.100.5:30514" || content.Parameters["helm_parameters"] != nil {
			return fmt.Errorf("the stack has the parameters %v", content.Parameters)
		}
		got := h.lab.Kubectl(h, "-n", h.namespace, "get", "configmap", "watcher", "-o", "jsonpath={.data.firewalls}") +
			h.lab.Kubectl(h, "-n", h.namespace, "get", "service", "collector", "-o", "jsonpath= at {.spec.ports[0].nodePort}")
		if got != firewalls+" at 30514" {
			return fmt.Errorf("the pods know %q", got)
		}
		return nil
	}
}

// releases checks of which release servers and pods are, and that no Job is left.
func (h *hybrid) releases(want string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		got := h.lab.Kubectl(h, "-n", h.namespace, "get", "deployments,jobs", "-o", "jsonpath={range .items[*]}{.kind} {.spec.template.spec.containers[0].image} {end}")
		if text := "Deployment registry.example.com/watcher:" + want + ".0"; strings.TrimSpace(got) != text {
			return fmt.Errorf("on the cluster: %q, want %q", got, text)
		}
		for _, v := range h.vnfcs()["FW"] {
			var of struct {
				Server struct{ Metadata map[string]string }
			}
			h.openstack.Get(h, "compute", "/servers/"+strings.TrimPrefix(v.ID, "FW-"), &of)
			if of.Server.Metadata["release"] != want {
				return fmt.Errorf("VNFC %s has metadata %v, want release %s", v.ID, of.Server.Metadata, want)
			}
		}
		return nil
	}
}

// TestAccInstance_hybrid has a VNF whose servers are on an OpenStack and whose pods are on a Kubernetes cluster, in one apply: the example
// of it, led through its life, and then one with a VNFD that describes both, whose home is the cluster.
func TestAccInstance_hybrid(t *testing.T) {
	h := newHybrid(t)
	source := examplePackage(t, "watched-firewall")
	next := acctest.CopyPackage(t, "watched-firewall")
	acctest.Edit(t, next, "BaseHOT/simple/nested/FW.yaml", `release: "1.0"`, `release: "1.1"`)
	acctest.Edit(t, next, "Files/charts/watcher/values.yaml", "watcher:1.0.0", "watcher:1.1.0")
	acctest.Hash(t, next)
	// Its servers are as they are to be, its pods are not.
	broken := t.TempDir()
	require.NoError(t, os.CopyFS(broken, os.DirFS(next)))
	acctest.Write(t, broken, "Files/charts/watcher/templates/migrate.yaml", failedJob)
	acctest.Hash(t, broken)
	both := `heal = { trigger = "a", vdu_ids = ["FW", "watcher"] }`
	empty := []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: h.diagnostics.Factories(),
		CheckDestroy:             allChecks(h.pods(""), h.servers(map[string]int{})),
		Steps: []resource.TestStep{
			{
				Config: h.example(source), ConfigVariables: h.of(1, 1),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: empty},
				ConfigStateChecks: []statecheck.StateCheck{
					instantiated(), replicas("FW", 1), replicas("watcher", 1),
				},
				Check: allChecks(h.pods("watcher 1"), h.servers(map[string]int{"FW": 1}), h.told("192.0.2.10"), h.diagnostics.NoWarnings()),
			},
			{
				Config: strings.Replace(h.example(source), "collector = \"$", "colector = \"$", 1), ConfigVariables: h.of(1, 1), PlanOnly: true,
				ExpectError: acctest.Says(`(?s)Additional parameter "colector" is not known.*with vnf_instance.test.*Did you mean "collector"\?.*the Kubernetes driver knows helm_api_versions`),
			},
			{
				// What was deleted on one VIM is restored while the other one is scaled.
				PreConfig: func() { h.lab.Kubectl(t, "-n", h.namespace, "delete", "deployment", "watcher") },
				Config:    h.example(source), ConfigVariables: h.of(2, 1),
				ConfigPlanChecks: updatesInPlace(countOf("FW", 2), countOf("watcher", 1)),
				Check:            allChecks(h.pods("watcher 1"), h.servers(map[string]int{"FW": 2}), h.told("192.0.2.10,192.0.2.11")),
			},
			{
				// What fails on one VIM is taken back on both.
				PreConfig: h.remember,
				Config:    h.example(broken, `on_failure = "rollback"`), ConfigVariables: h.of(2, 1),
				ExpectError: sentence(`CHANGE_VNFPKG of VNF instance "watched-firewall" is ROLLED_BACK`, `Job `+h.namespace+`/migrate`, `The state before the operation is restored.`),
			},
			{
				PreConfig: func() {
					require.NoError(t, allChecks(h.releases("1.0"), h.pods("watcher 1"), h.servers(map[string]int{"FW": 2}), h.survivors("FW", 2))(nil))
				},
				Config: h.example(next), ConfigVariables: h.of(2, 2),
				ConfigPlanChecks: updatesInPlace(countOf("FW", 2), countOf("watcher", 2), plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), knownvalue.ListPartial(map[int]knownvalue.Check{
					1: knownvalue.StringExact("  FW: 2 updated in place"), 2: knownvalue.StringExact("  watcher: 1 rolled, 1 more at a time"),
				}))),
				Check: allChecks(h.pods("watcher 2"), h.servers(map[string]int{"FW": 2}), h.releases("1.1")),
			},
			{
				PreConfig: h.remember,
				Config:    h.example(next, both), ConfigVariables: h.of(2, 2),
				ConfigPlanChecks: updatesInPlace(),
				Check:            allChecks(h.pods("watcher 2"), h.servers(map[string]int{"FW": 2}), h.survivors("FW", 0), h.survivors("watcher", 0)),
			},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ConfigVariables: h.of(2, 2),
				ImportStateVerifyIgnore: []string{"timeouts", "heal", "termination", "operations", "changes"},
			},
			{
				// With the cluster as the home, the servers are elsewhere. The VNFD is translated: what it says of containers is no business of Heat.
				Config: h.described(t), ConfigVariables: h.of(1, 1),
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: empty},
				Check:            allChecks(h.pods("probe 1"), h.servers(map[string]int{"FW": 1, "TG": 1})),
			},
		},
	})
}

// described is an instance of a VNFD that describes servers and containers, at home on the cluster.
func (h *hybrid) described(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "firewall")
	acctest.Edit(t, dir, "Definitions/firewall_df_plain.yaml", "\n    FW_CP1:\n", probe)
	acctest.Hash(t, dir)
	return h.store.Config(h.vims, pkg(dir), fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = "fw"
  vim_id          = vnf_vim.cluster.id
  package_id      = vnf_package.test.id
  flavour_id      = "plain"
  namespace       = %q
  vim_connections = { cloud = { vim_id = vnf_vim.cloud.id, vdu_ids = ["FW", "TG"] } }
  %s
}
`, h.namespace, h.links(h.openstack.Networks["net0"])))
}
